<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/**
 * What RedisStore has the server do. Each script is one round trip and one moment: nothing else happens meanwhile.
 *
 * The first two keys are the clock and the tags (see RedisStore), the first argument a random name for a new epoch,
 * should the clock be gone. The other keys are items, or each an item and its guard:
 *
 *     item    mark 1 byte | epoch 8 | stamp 6 | expiry 6, in ms, 0: never | length of the tags 3 | tags | payload
 *     clock   epoch 8 | tick 6 | the tick at which a tag was last invalidated 6
 *     guard   epoch 8 | tick 6
 *     tags    e: epoch; f: the stamp of those that are not there; n: how many there are; t<tag>: its stamp, either
 *             the tick or, where what was killed may be served, that of TagStamp in three numbers;
 *             h: the tick at which half of all that may be there were; s: where a sweep has come to
 *
 * all numbers but those in the tags with the highest byte first. The verdict on an item is 0 live, 1 stale, 2 dead.
 */
enum Script: string
{
    public const MARK = "\2";

    /** How many bytes of an item lie before its tags. */
    public const HEAD = 24;

    /**
     * Judges items. A missing one gets a guard, if it has none. Of a batch that is all there while no tag was invalidated each
     * passes for living, as looking at each takes ten times as long: who reads them sees which are of another epoch.
     *
     * Arguments: 1 to be told the time; 1 to be told the values, '' if nobody reads them. Reply: epoch, tick, the server's time in ms if it was asked for, the
     * verdicts, one digit each, and if they were asked for the values of those that are not dead.
     */
    case Fetch = <<<'LUA'
        local epoch, tick, invalidated = clock(true)
        local verdicts, items, missing, living = {}, {}, {}, {}
        for i = 3, #KEYS, 2 do items[#items + 1] = KEYS[i] end
        if #items > 4 and ARGV[3] ~= '' and invalidated == 0 and redis.call('EXISTS', unpack(items)) == #items then
            verdicts, living = {string.rep('0', #items)}, items
        else
            for i, key in ipairs(items) do
                local verdict = look(key, epoch, invalidated)
                verdicts[i] = verdict
                if verdict > 0 then missing[#missing + 1] = KEYS[2 * i + 2] end
                if verdict < 2 then living[#living + 1] = key end
            end
        end
        if #missing > 0 then
            local guards, ticked = redis.call('MGET', unpack(missing)), false
            for i, guard in ipairs(missing) do
                if not guards[i] or string.sub(guards[i], 1, 8) ~= epoch then
                    if not ticked then
                        if refusal(redis.pcall('SET', KEYS[1], epoch .. struct.pack('>I6I6', tick + 1, invalidated))) then break end
                        tick, ticked = tick + 1, true
                    end
                    redis.call('SET', guard, epoch .. struct.pack('>I6', tick), 'EX', 86400)
                end
            end
        end
        local reply = {epoch, tick, ARGV[2] == '1' and milliseconds() or 0, table.concat(verdicts)}
        if ARGV[3] == '1' and #living > 0 then
            for _, value in ipairs(redis.call('MGET', unpack(living))) do reply[#reply + 1] = value end
        end
        return reply
        LUA;

    /**
     * The item is stored before its guard goes: a full server forbids a script only its first write.
     *
     * What is not judged by a token is refused when we have given up waiting for it: by then the server may have been told to
     * forget the key, and would keep something older.
     *
     * What is in the way of an addition and cannot be read by the client is none to it, but only the client can know that. So
     * it is told what is there, and says the next time in place of what it may be stored.
     *
     * A large item is not an argument: Lua would copy it four times. It lies aside under one of the last keys, with room for its
     * head, and is put in its place. What is not there was refused by a full server, or has come too late.
     *
     * Arguments: the mode (S, A, R); until when we wait, by the server's clock in ms; of each item: w for a write or f for a fill,
     * as a capital if it lies aside, and behind it the SHA-1 of what could not be read; TTL in ms ('': none), epoch and clock of its
     * token ('': none), and the item from the length of its tags on, or up to its payload if it lies aside. Reply: 1 for each saved
     * one, -1 for what is late, the item that was in the way, or 0.
     */
    case Save = <<<'LUA'
        local epoch, tick, invalidated = clock(true)
        local reply, last = {}, 2 + (#ARGV - 3) / 5 * 2
        local aside = last
        for i = 3, last, 2 do
            local a = 4 + (i - 3) / 2 * 5
            local kind, ttl, since, body, lies = string.byte(ARGV[a]), ARGV[a + 1], tonumber(ARGV[a + 3]), ARGV[a + 4], nil
            if kind < 97 then
                kind, aside = kind + 32, aside + 1
                lies = KEYS[aside]
            end
            local may, there = ARGV[2] == 'S' or (look(KEYS[i], epoch, invalidated) == 0) == (ARGV[2] == 'R'), 0
            if not may and ARGV[2] == 'A' then
                there = redis.call('MGET', KEYS[i])[1] or ''
                may = #ARGV[a] > 1 and redis.sha1hex(there) == string.sub(ARGV[a], 2)
            end
            local saved = may
            if saved and since then
                saved = epoch == ARGV[a + 2] and hasNotMoved(KEYS[i + 1], epoch, since)
                    and (since >= invalidated or worst(body, 4, since, epoch) == 0)
            end
            local late = saved and not since and milliseconds() > tonumber(ARGV[3])
            saved = saved and not late
            local moves = saved and kind == 119
            if saved and ttl ~= '0' then
                local expiry = ttl == '' and '\0\0\0\0\0\0' or struct.pack('>I6', milliseconds() + tonumber(ttl))
                local answer = put(KEYS[i], '\2' .. epoch .. struct.pack('>I6', since or tick) .. expiry, body, ttl, lies)
                if refusal(answer) then
                    if not string.find(answer.err, 'OOM', 1, true) then return answer end
                    saved = false
                    redis.call('UNLINK', KEYS[i])
                end
            elseif saved or (may and ARGV[2] == 'S') then
                redis.call('UNLINK', KEYS[i])
            end
            if moves then redis.call('UNLINK', KEYS[i + 1]) end
            if lies then redis.call('UNLINK', lies) end
            reply[#reply + 1] = saved and 1 or (late and -1) or (not may and there) or 0
        end
        return reply
        LUA;

    /** Arguments: epoch and clock of a token ('': none). Reply: 1 for each that lived. */
    case Delete = <<<'LUA'
        local epoch, tick, invalidated = clock(false)
        local reply, since = {}, tonumber(ARGV[3])
        for i = 3, #KEYS, 2 do
            local lived = false
            if not since or (epoch == ARGV[2] and hasNotMoved(KEYS[i + 1], epoch, since)) then
                lived = look(KEYS[i], epoch, invalidated) == 0
                redis.call('UNLINK', KEYS[i], KEYS[i + 1])
            end
            reply[#reply + 1] = lived and 1 or 0
        end
        return reply
        LUA;

    /**
     * Adds with the server's own INCRBY, as Lua has no 64-bit integers; for that the item is a bare number for a moment.
     *
     * Arguments: by how much; the sum with the initial value ('': it leaves the range); TTL in ms ('': none); the
     * initial value. Reply: 'ok' and the sum; or 'type' and the payload's first byte; or 'range' and the value.
     */
    case Increment = <<<'LUA'
        local epoch, tick, invalidated = clock(true)
        local key, ttl = KEYS[3], ARGV[4]
        if look(key, epoch, invalidated) ~= 0 then
            if ARGV[3] == '' then return {'range', ARGV[5]} end
            if ttl == '0' then
                redis.call('UNLINK', key)
            elseif ttl == '' then
                redis.call('SET', key, '\2' .. epoch .. struct.pack('>I6I6I3', tick, 0, 0) .. ARGV[3])
            else
                redis.call('SET', key, '\2' .. epoch .. struct.pack('>I6I6I3', tick, milliseconds() + tonumber(ttl), 0) .. ARGV[3], 'PX', ttl)
            end
            redis.call('UNLINK', KEYS[4])
            return {'ok', ARGV[3]}
        end
        local item = redis.call('GET', key)
        local start = 25 + struct.unpack('>I3', item, 22)
        local number = string.sub(item, start)
        if not string.match(number, '^%-?%d+$') then return {'type', string.sub(number, 1, 1)} end
        local left = redis.call('PTTL', key)
        redis.call('SET', key, number)
        local answer = redis.pcall('INCRBY', key, ARGV[2])
        local sum = redis.call('GET', key)
        redis.call('SET', key, string.sub(item, 1, start - 1) .. sum)
        if left >= 0 then redis.call('PEXPIRE', key, math.max(left, 1)) end
        if refusal(answer) then return {'range', number} end
        redis.call('UNLINK', KEYS[4])
        return {'ok', sum}
        LUA;

    /** Arguments: TTL in ms ('': none). Reply: 1 for each key that lived. */
    case Touch = <<<'LUA'
        local epoch, tick, invalidated = clock(false)
        local reply, expiry = {}, ARGV[2] == '' and 0 or milliseconds() + tonumber(ARGV[2])
        for i = 3, #KEYS, 2 do
            local lives = look(KEYS[i], epoch, invalidated) == 0
            if lives then
                if ARGV[2] == '' then redis.call('PERSIST', KEYS[i]) else redis.call('PEXPIRE', KEYS[i], ARGV[2]) end
                redis.call('SETRANGE', KEYS[i], 15, struct.pack('>I6', expiry))
            end
            reply[#reply + 1] = lives and 1 or 0
        end
        return reply
        LUA;

    /**
     * A full server forbids a script only its first write, so the first is one that it allows: this is never refused.
     *
     * Arguments: for how many seconds what is killed may be served; how many tags to remember; tags.
     */
    case Invalidate = <<<'LUA'
        redis.call('HDEL', KEYS[2], '')
        local epoch, tick, invalidated = clock(true)
        local known, floor, count, half, cursor = unpack(redis.call('HMGET', KEYS[2], 'e', 'f', 'n', 'h', 's'))
        if known ~= epoch then
            floor, count, half, cursor = invalidated, 0, false, false
            redis.call('UNLINK', KEYS[2])
            redis.call('HSET', KEYS[2], 'e', epoch, 'f', floor)
        end
        tick, floor, count = tick + 1, tonumber(floor), tonumber(count or 0)
        redis.call('SET', KEYS[1], epoch .. struct.pack('>I6I6', tick, tick))
        local now, serve, most = tonumber(redis.call('TIME')[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
        for i = 4, #ARGV do
            local dead, stale, till = stamp(redis.call('HGET', KEYS[2], 't' .. ARGV[i]), floor)
            if serve <= 0 then
                dead, stale = tick, 0
            elseif till > now then
                stale, till = tick, math.min(till, now + serve)
            else
                dead, stale, till = math.max(dead, stale), tick, now + serve
            end
            local value = stale == 0 and dead or string.format('%.0f %.0f %.0f', dead, stale, till)
            count = count + redis.call('HSET', KEYS[2], 't' .. ARGV[i], value)
        end
        if count > most / 2 and not half then
            redis.call('HSET', KEYS[2], 'h', tick)
        elseif count > most and not cursor then
            cursor, floor = '0', math.max(floor, tonumber(half))
            redis.call('HSET', KEYS[2], 'f', floor)
            redis.call('HDEL', KEYS[2], 'h')
        end
        redis.call('HSET', KEYS[2], 'n', count)
        if cursor then
            cursor = forget(cursor, floor)
            if cursor == '0' then redis.call('HDEL', KEYS[2], 's') else redis.call('HSET', KEYS[2], 's', cursor) end
        end
        return 1
        LUA;

    /** Removes the dead ones among the keys. Reply: how many, and the oldest stamp of a living one with tags. */
    case Sweep = <<<'LUA'
        local epoch, tick, invalidated = clock(false)
        local removed, oldest = 0, tick
        for i = 3, #KEYS do
            local verdict, head = look(KEYS[i], epoch, invalidated)
            if verdict == 2 then
                removed = removed + redis.call('UNLINK', KEYS[i])
            elseif string.sub(head, 22, 24) ~= '\0\0\0' then
                oldest = math.min(oldest, (struct.unpack('>I6', head, 10)))
            end
        end
        return {removed, oldest}
        LUA;

    /** Reply: 1 for each key that lives. */
    case Living = <<<'LUA'
        local epoch, tick, invalidated = clock(false)
        local reply = {}
        for i = 3, #KEYS do reply[i - 2] = look(KEYS[i], epoch, invalidated) == 0 and 1 or 0 end
        return reply
        LUA;

    /**
     * Forgets some of the tags that were last invalidated at that tick or before; it becomes the stamp of those that
     * are not there. Arguments: epoch, tick, where to begin. Reply: where to go on, '0' at the end.
     */
    case Forget = <<<'LUA'
        local known, floor = unpack(redis.call('HMGET', KEYS[2], 'e', 'f'))
        if known ~= ARGV[2] then return '0' end
        if tonumber(ARGV[3]) > tonumber(floor) then redis.call('HSET', KEYS[2], 'f', ARGV[3]) end
        return forget(ARGV[4], tonumber(ARGV[3]))
        LUA;

    private const REFUSAL = <<<'LUA'
        local function refusal(answer)
            return type(answer) == 'table' and answer.err
        end

        LUA;

    private const CLOCK = <<<'LUA'
        local function clock(make)
            local found = redis.call('MGET', KEYS[1])[1]
            if found and #found == 20 then
                local tick, invalidated = struct.unpack('>I6I6', found, 9)
                return string.sub(found, 1, 8), tick, invalidated
            end
            if not make then return false, 0, 0 end
            redis.call('UNLINK', KEYS[1])
            redis.call('SET', KEYS[1], ARGV[1] .. struct.pack('>I6I6', 1, 0))
            return ARGV[1], 1, 0
        end

        LUA;

    private const TIME = <<<'LUA'
        local time
        local function milliseconds()
            time = time or redis.call('TIME')
            return time[1] * 1000 + math.floor(time[2] / 1000)
        end

        LUA;

    private const STAMP = <<<'LUA'
        local function stamp(field, floor)
            if not field then return floor, 0, 0 end
            local dead, stale, till = string.match(field, '^(%d+) (%d+) (%d+)$')
            if dead then return tonumber(dead), tonumber(stale), tonumber(till) end
            return tonumber(field), 0, 0
        end

        LUA;

    private const JUDGE = <<<'LUA'
        local function worst(item, at, since, epoch)
            local last, verdict, fields = at + struct.unpack('>I3', item, at - 3), 0, {'e', 'f'}
            if last > #item + 1 then return 2 end
            while at < last do
                local size = string.byte(item, at)
                fields[#fields + 1] = 't' .. string.sub(item, at + 1, at + size)
                at = at + 1 + size
                if at >= last or #fields > 1000 then
                    local found = redis.call('HMGET', KEYS[2], unpack(fields))
                    if found[1] ~= epoch then return 2 end
                    local floor = tonumber(found[2])
                    for i = 3, #fields do
                        local dead, stale, till = stamp(found[i], floor)
                        if since < dead then return 2 end
                        if since < stale then
                            if milliseconds() >= till * 1000 then return 2 end
                            verdict = 1
                        end
                    end
                    fields = {'e', 'f'}
                end
            end
            return verdict
        end
        local function look(key, epoch, invalidated)
            local head = redis.pcall('GETRANGE', key, 0, 23)
            if #head < 24 or string.byte(head) ~= 2 or string.sub(head, 2, 9) ~= epoch then return 2 end
            if string.sub(head, 22, 24) == '\0\0\0' then return 0, head end
            local since = struct.unpack('>I6', head, 10)
            if since >= invalidated then return 0, head end
            return worst(redis.call('GETRANGE', key, 0, 23 + struct.unpack('>I3', head, 22)), 25, since, epoch), head
        end

        LUA;

    private const PUT = <<<'LUA'
        local function put(key, head, body, ttl, aside)
            if not aside then
                if ttl == '' then return redis.pcall('SET', key, head .. body) end
                return redis.pcall('SET', key, head .. body, 'PX', ttl)
            end
            if redis.call('STRLEN', aside) == 0 then return {err = 'OOM'} end
            local answer = redis.pcall('SETRANGE', aside, 0, head)
            if refusal(answer) then return answer end
            redis.call('RENAME', aside, key)
            if ttl == '' then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, ttl) end
        end

        LUA;

    private const GUARD = <<<'LUA'
        local function hasNotMoved(key, epoch, since)
            local guard = redis.call('MGET', key)[1]
            return guard and string.sub(guard, 1, 8) == epoch and struct.unpack('>I6', guard, 9) <= since
        end

        LUA;

    private const FORGET = <<<'LUA'
        local function forget(cursor, floor)
            local page, gone = redis.call('HSCAN', KEYS[2], cursor, 'COUNT', 500), {}
            for i = 1, #page[2], 2 do
                if string.byte(page[2][i]) == 116 then
                    local dead, stale = stamp(page[2][i + 1], 0)
                    if math.max(dead, stale) <= floor then gone[#gone + 1] = page[2][i] end
                end
            end
            if #gone > 0 then
                redis.call('HDEL', KEYS[2], unpack(gone))
                redis.call('HINCRBY', KEYS[2], 'n', -#gone)
            end
            return page[1]
        end

        LUA;

    /** With the functions that it needs and no others: the server makes them anew each time. */
    public function text(): string
    {
        return match ($this) {
            self::Fetch => self::REFUSAL . self::CLOCK . self::TIME . self::STAMP . self::JUDGE,
            self::Increment => self::REFUSAL . self::CLOCK . self::TIME . self::STAMP . self::JUDGE,
            self::Save => self::REFUSAL . self::CLOCK . self::TIME . self::STAMP . self::JUDGE . self::GUARD . self::PUT,
            self::Delete => self::CLOCK . self::TIME . self::STAMP . self::JUDGE . self::GUARD,
            self::Touch, self::Sweep, self::Living => self::CLOCK . self::TIME . self::STAMP . self::JUDGE,
            self::Invalidate => self::CLOCK . self::STAMP . self::FORGET,
            self::Forget => self::STAMP . self::FORGET,
        } . $this->value;
    }
}
