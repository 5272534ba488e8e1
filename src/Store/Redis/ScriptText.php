<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/**
 * The texts of the scripts. Script says what their keys are, and what the bytes mean. A server that knows a script is asked by its hash.
 * So nearly all requests do without this class.
 */
final class ScriptText
{
    /**
     * Judges items. As long as no tag was invalidated all pass for living: a reader of their values sees which are missing or of another
     * epoch. Of what is missing a fill will be judged by the key versions; a server that lets nothing be written will not have one.
     *
     * Arguments: 1 to be told the time; 1 to be told the values. Reply: epoch, tick, the tick at which a tag was last invalidated,
     * the server's time in ms if it was asked for, the verdicts, one digit each, and if they were asked for the values of those
     * that are not dead.
     */
    private const FETCH = <<<'LUA'
        local verdicts, living, isMissing = '', {}, false
        if invalidated == 0 then
            verdicts, isMissing = string.rep('0', #KEYS - 4), true
            if ARGV[3] == '1' then living = {unpack(KEYS, 5)} end
        else
            for i = 5, #KEYS do
                local verdict = look(KEYS[i])
                verdicts = verdicts .. string.char(48 + verdict)
                if verdict < 2 then living[#living + 1] = KEYS[i] end
                isMissing = isMissing or verdict > 0
            end
        end
        if isMissing then pcall(key_versions) end
        local reply = {epoch .. life, tick, invalidated, ARGV[2] == '1' and milliseconds() or 0, verdicts}
        if ARGV[3] == '1' and #living > 0 then
            for _, value in ipairs(redis.call('MGET', unpack(living))) do reply[#reply + 1] = value end
        end
        return reply
        LUA;

    /** Of one item. Argument: 1 to be told the time. Reply: as of Fetch, without verdicts. */
    private const TOKEN = <<<'LUA'
        pcall(key_versions)
        local head, kind = redis.pcall('GETRANGE', KEYS[5], 0, 23), ''
        if #head == 24 and string.byte(head) == 2 then
            local at = 24 + struct.unpack('>I3', head, 22)
            kind = string.match(redis.call('GETRANGE', KEYS[5], at, at), '[-%d]') and '+' or ''
        end
        return {epoch .. life .. kind, tick, invalidated, ARGV[2] == '1' and milliseconds() or 0, ''}
        LUA;

    /**
     * Stores items. In this order: the log is told, each item is judged and stored, and its key version moves. The key version is
     * last, because a full server forbids a script its first write and no other. If it has refused the log's entry, the log is told
     * once more at the end, as an item may have given up its memory.
     *
     * A fill of a missing key is not told, as no near store has anything to forget because of it. It is where the server has evicted
     * anything: a missing item may be in near stores then.
     *
     * An item with a token is refused if its key or one of its tags has changed since the token. The newer item stays.
     *
     * An item without a token is refused as late when its client has given up waiting. The client may have deleted the key
     * meanwhile, and would get the older value back. Nothing older is left in its place, nor is what was begun before it stored later.
     *
     * An addition is told the bytes of the item that refuses it. If the client cannot read them, the key is a miss to it. It adds
     * again with the SHA-1 of those bytes, and may take the place of that very item.
     *
     * A large item is no argument, because Lua would copy it four times. It lies aside under one of the last keys, with room for
     * its head, and is renamed. If it is not there, a full server has refused it, or the script has come too late.
     *
     * Arguments: the mode (S, A, R), and until when we wait, by the server's clock in ms. Then six of each item:
     *
     *     kind     w for a write, f for a fill, k for a write that keeps the old item where there is no room; a capital if the
     *              item lies aside. Behind it the SHA-1 of the unreadable item that an addition may replace
     *     TTL      in ms; '': none
     *     epoch    of its token, and
     *     version  of its token; '': it has none
     *     item     from the length of its tags on; only up to its payload if it lies aside
     *     place    of its key version, or of that and of its counts
     *
     * Reply: 1 for each saved item, -1 for a late one, the item that was in the way, or 0.
     */
    private const SAVE = <<<'LUA'
        local reply, last, told, evicts = {}, 4 + (#ARGV - 3) / 6, {}, nil
        for i = 5, isFollowed and last or 0 do
            local a = 4 + (i - 5) * 6
            local tells = ARGV[2] == 'S' or #ARGV[a] > 1 or (look(KEYS[i]) == 0) == (ARGV[2] == 'R')
            local fills = tells and string.lower(string.sub(ARGV[a], 1, 1)) == 'f' and ARGV[a + 3] ~= ''
            local isMissing = fills and look(KEYS[i]) == 2
            -- Where the server does not say whether it has evicted anything, it may have.
            if isMissing and evicts == nil then evicts = string.match(redis.call('INFO', 'stats'), '\nevicted_keys:(%d+)') ~= '0' end
            if tells and (evicts or not isMissing) then told[#told + 1] = KEYS[i] end
        end
        local untold = isFollowed and record('k', told)
        if untold and not string.find(untold.err, 'OOM', 1, true) then return untold end
        local aside = last
        for i = 5, last do
            local a = 4 + (i - 5) * 6
            local kind, ttl, since, body, lies = string.sub(ARGV[a], 1, 1), ARGV[a + 1], tonumber(ARGV[a + 3]), ARGV[a + 4], nil
            if kind ~= string.lower(kind) then
                kind, aside = string.lower(kind), aside + 1
                lies = KEYS[aside]
            end
            -- Does the mode allow it?
            local may, there = ARGV[2] == 'S' or (look(KEYS[i]) == 0) == (ARGV[2] == 'R'), 0
            if not may and ARGV[2] == 'A' then
                there = redis.call('MGET', KEYS[i])[1] or ''
                may = #ARGV[a] > 1 and redis.sha1hex(there) == string.sub(ARGV[a], 2)
            end
            -- Does its token, or its deadline?
            local saved = may
            if saved and since then
                saved = epoch .. life == ARGV[a + 2] and hasNotMoved(ARGV[a + 5], since)
                    and (since >= invalidated or worst(body, 4, since) == 0)
            end
            local late = saved and not since and milliseconds() > tonumber(ARGV[3])
            saved = saved and not late
            local ends = late and ARGV[2] ~= 'A'
            local moves = (saved or ends) and kind ~= 'f'
            if saved and ttl ~= '0' then
                local expiry = (moves and 2 ^ 47 or 0) + (ttl == '' and 0 or milliseconds() + tonumber(ttl))
                local head, answer = struct.pack('>Bc8I6I6', 2, epoch, since or tick, expiry), nil
                if lies then
                    answer = redis.pcall('SETRANGE', lies, '0', head)
                    -- But for its head, what lies there is large.
                    if answer == #head then answer = {err = 'OOM'} end
                    if not refusal(answer) then
                        redis.call('RENAME', lies, KEYS[i])
                        if ttl == '' then redis.call('PERSIST', KEYS[i]) else redis.call('PEXPIRE', KEYS[i], ttl) end
                    end
                elseif ttl == '' then
                    answer = redis.pcall('SET', KEYS[i], head .. body)
                else
                    answer = redis.pcall('SET', KEYS[i], head .. body, 'PX', ttl)
                end
                if refusal(answer) then
                    if not string.find(answer.err, 'OOM', 1, true) then return answer end
                    saved = false
                    if kind ~= 'k' then redis.call('UNLINK', KEYS[i]) end
                else
                    lies = nil
                end
            elseif saved or ends then
                redis.call('UNLINK', KEYS[i])
            end
            if moves then move(since and string.match(ARGV[a + 5], '%d+') or ARGV[a + 5]) end
            if lies then redis.call('UNLINK', lies) end
            reply[#reply + 1] = saved and 1 or (late and -1) or (not may and there) or 0
        end
        untold = untold and record('k', told)
        return untold and not string.find(untold.err, 'OOM', 1, true) and untold or reply
        LUA;

    /**
     * As Save of one item, in the mode Set, that is a write without a token: nearly all writes are. It has fewer arguments, and no functions,
     * since each costs the server as much as a good part of a command.
     * The log is told as there: before the write, and once more behind it if a full server has refused that. An item that is not aside any more
     * leaves no more than the head that is written there, which counts as refused by a full server, too.
     *
     * Arguments: until when we wait, by the server's clock in ms; TTL in ms ('': none); the key version; the item, as of Save. If that lies aside
     * under KEYS[6], the last argument is not looked at. Reply: 1 saved, -1 late, 0 there is no room.
     */
    private const WRITE_ONE = <<<'LUA'
        local untold = isFollowed and record('k', {KEYS[5]})
        if untold and not string.find(untold.err, 'OOM', 1, true) then return untold end
        local time, ttl, reply, aside = redis.call('TIME'), ARGV[3], 1, KEYS[6]
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        if now > tonumber(ARGV[2]) then reply = -1 end
        if reply == 1 and ttl ~= '0' then
            local head, answer = struct.pack('>Bc8I6I6', 2, epoch, tick, 2 ^ 47 + (ttl == '' and 0 or now + tonumber(ttl))), nil
            if aside then
                answer = redis.pcall('SETRANGE', aside, '0', head)
                -- But for its head, what lies there is large.
                if answer == #head then answer = {err = 'OOM'} end
                if type(answer) == 'number' then
                    redis.call('RENAME', aside, KEYS[5])
                    if ttl == '' then redis.call('PERSIST', KEYS[5]) else redis.call('PEXPIRE', KEYS[5], ttl) end
                    aside = nil
                end
            elseif ttl == '' then
                answer = redis.pcall('SET', KEYS[5], head .. ARGV[5])
            else
                answer = redis.pcall('SET', KEYS[5], head .. ARGV[5], 'PX', ttl)
            end
            if type(answer) == 'table' and answer.err then
                if not string.find(answer.err, 'OOM', 1, true) then return answer end
                reply = 0
            end
        end
        if reply < 1 or ttl == '0' then redis.call('UNLINK', KEYS[5]) end
        local moved = struct.pack('>I6', tick + 1)
        redis.call('SETRANGE', KEYS[1], '9', moved)
        if type(redis.pcall('SETRANGE', KEYS[3], ARGV[4], moved)) == 'table' then redis.call('UNLINK', KEYS[3]) end
        tick = tick + 1
        if aside then redis.call('UNLINK', aside) end
        untold = untold and record('k', {KEYS[5]})
        return untold and not string.find(untold.err, 'OOM', 1, true) and untold or reply
        LUA;

    /** Arguments: epoch and version of a token ('': none); of each item its key version, or key versions. Reply: 1 for each that lived. */
    private const DELETE = <<<'LUA'
        local reply, since = {}, tonumber(ARGV[3])
        local refused = isFollowed and record('k', {unpack(KEYS, 5)})
        if refused then return refused end
        for i = 5, #KEYS do
            local lived = false
            if not since or (epoch and epoch .. life == ARGV[2] and hasNotMoved(ARGV[i - 1], since)) then
                lived = look(KEYS[i]) == 0
                redis.call('UNLINK', KEYS[i])
                if epoch then move(since and string.match(ARGV[i - 1], '%d+') or ARGV[i - 1]) end
            end
            reply[#reply + 1] = lived and 1 or 0
        end
        return reply
        LUA;

    /**
     * Adds with the server's own INCRBY, as Lua has no 64-bit integers; for that the item is a bare number for a moment.
     *
     * Arguments: by how much; the sum with the initial value ('': it leaves the range); TTL in ms ('': none); the
     * initial value; the key version, and that of the counts. Reply: 'ok' and the sum; or 'type' and the payload's first byte; or 'range' and the value.
     */
    private const INCREMENT = <<<'LUA'
        local key, ttl = KEYS[5], ARGV[4]
        local untold = isFollowed and record('k', {key})
        if untold and not string.find(untold.err, 'OOM', 1, true) then return untold end
        if look(key) ~= 0 then
            if ARGV[3] == '' then return {'range', ARGV[5]} end
            if ttl == '0' then
                redis.call('UNLINK', key)
            elseif ttl == '' then
                redis.call('SET', key, '\2' .. epoch .. struct.pack('>I6I6I3', tick, 2 ^ 47, 0) .. ARGV[3])
            else
                redis.call('SET', key, '\2' .. epoch .. struct.pack('>I6I6I3', tick, 2 ^ 47 + milliseconds() + tonumber(ttl), 0) .. ARGV[3], 'PX', ttl)
            end
            move(ARGV[6])
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
        local head, counted = string.byte(item, 16), refusal(answer) and 0 or 128
        redis.call('SET', key, string.sub(item, 1, 15) .. string.char(math.max(head, head % 128 + counted)) .. string.sub(item, 17, start - 1) .. sum)
        if left >= 0 then redis.call('PEXPIRE', key, math.max(left, 1)) end
        if refusal(answer) then return {'range', number} end
        move(ARGV[head < 128 and 6 or 7])
        return {'ok', sum}
        LUA;

    /** Arguments: TTL in ms ('': none). Reply: 1 for each key that lived. */
    private const TOUCH = <<<'LUA'
        local told = {}
        for i = 5, isFollowed and #KEYS or 0 do
            if look(KEYS[i]) == 0 then told[#told + 1] = KEYS[i] end
        end
        local refused = isFollowed and record('k', told)
        if refused then return refused end
        local reply, expiry = {}, ARGV[2] == '' and 0 or milliseconds() + tonumber(ARGV[2])
        for i = 5, #KEYS do
            local verdict, head = look(KEYS[i])
            local lives = verdict == 0
            if lives then
                if ARGV[2] == '' then redis.call('PERSIST', KEYS[i]) else redis.call('PEXPIRE', KEYS[i], ARGV[2]) end
                redis.call('SETRANGE', KEYS[i], 15, struct.pack('>I6', expiry + (string.byte(head, 16) < 128 and 0 or 2 ^ 47)))
            end
            reply[#reply + 1] = lives and 1 or 0
        end
        return reply
        LUA;

    /**
     * A full server forbids a script only its first write, so the first is one that it allows: this is never refused.
     *
     * Hosts that judge by tags themselves are told of it (see NearTags), unless there are too many tags at once. They notice that they
     * were not told. So it is no error if the list cannot be written. A list of another epoch makes room for a new one, to
     * which the second attempt is made.
     *
     * KEYS[5] is the list. Arguments: for how many seconds what is killed may be served; how many tags to remember; tags.
     */
    private const INVALIDATE = <<<'LUA'
        local refused = isFollowed and record('t', {unpack(ARGV, 4)})
        if refused then return refused end
        local known, floor, count, half, cursor = unpack(redis.call('HMGET', KEYS[2], 'e', 'f', 'n', 'h', 's'))
        if known ~= epoch then
            floor, count, half, cursor = invalidated, 0, false, false
            redis.call('UNLINK', KEYS[2])
            redis.call('HSET', KEYS[2], 'e', epoch, 'f', floor)
        end
        tick, floor, count = tick + 1, tonumber(floor), tonumber(count or 0)
        redis.call('SETRANGE', KEYS[1], '9', struct.pack('>I6I6', tick, tick))
        local at, serve, most = string.format('%.0f', tick), tonumber(ARGV[2]), tonumber(ARGV[3])
        local versions, told, bytes = {}, {}, 0
        for i = 4, #ARGV do
            versions[#versions + 1], versions[#versions + 2] = 't' .. ARGV[i], at
            told[#told + 1], told[#told + 2], bytes = serve > 0 and 's' or 't', ARGV[i], bytes + #ARGV[i]
        end
        if serve > 0 then
            local now = tonumber(redis.call('TIME')[1])

        LUA . Lua::VERSION . <<<'LUA'
            for i = 1, #versions, 2 do
                local dead, stale, till = version(redis.call('HGET', KEYS[2], versions[i]), floor)
                if till > now then
                    stale, till = tick, math.min(till, now + serve)
                else
                    dead, stale, till = math.max(dead, stale), tick, now + serve
                end
                versions[i + 1] = string.format('%.0f %.0f %.0f', dead, stale, till)
            end
        end
        local new = redis.call('HSET', KEYS[2], unpack(versions))
        if new > 0 then
            count = count + new
            redis.call('HSET', KEYS[2], 'n', count)
        end
        if count > most / 2 and not half then
            redis.call('HSET', KEYS[2], 'h', tick)
        elseif count > most and not cursor then
            cursor, floor = '0', math.max(floor, tonumber(half))
            redis.call('HSET', KEYS[2], 'f', floor)
            redis.call('HDEL', KEYS[2], 'h')
        end
        for _ = 1, bytes <= 16384 and 2 or 0 do
            local answer = redis.pcall('XADD', KEYS[5], 'MAXLEN', '~', '1000', at .. '-0', 'e', epoch .. struct.pack('>I6', invalidated), unpack(told))
            if type(answer) ~= 'table' then break end
            redis.call('UNLINK', KEYS[5])
        end
        if cursor then

        LUA . Lua::VERSION . Lua::FORGET . <<<'LUA'
            cursor = forget(cursor, floor)
            if cursor == '0' then redis.call('HDEL', KEYS[2], 's') else redis.call('HSET', KEYS[2], 's', cursor) end
        end
        return 1
        LUA;

    /**
     * What a host needs to judge items by their tags (see NearTags).
     *
     * KEYS[5] is the list of invalidations. Arguments: the tick since which it is to be told; '': from now on; tags. Reply: the clock,
     * the list's entries since then, and the versions of the tags, as they lie there.
     */
    private const VERSIONS = <<<'LUA'
        if not epoch then return {'', {}, {}} end
        local last = ARGV[2] ~= '' and redis.pcall('XRANGE', KEYS[5], ARGV[2] .. '-1', '+', 'COUNT', 1001) or {}
        local known, floor = unpack(redis.call('HMGET', KEYS[2], 'e', 'f'))
        local names = {}
        for i = 3, #ARGV do names[i - 2] = 't' .. ARGV[i] end
        local versions = #names > 0 and redis.call('HMGET', KEYS[2], unpack(names)) or {}
        for i = 1, #names do
            versions[i] = known ~= epoch and string.format('%.0f', invalidated) or versions[i] or floor
        end
        return {found, last.err and {} or last, versions}
        LUA;

    /** Removes the dead ones among the keys. Reply: how many, and the oldest version of a living one with tags. */
    private const SWEEP = <<<'LUA'
        local removed, oldest = 0, tick
        for i = 5, #KEYS do
            local verdict, head = look(KEYS[i])
            if verdict == 2 then
                removed = removed + redis.call('UNLINK', KEYS[i])
            elseif string.sub(head, 22, 24) ~= '\0\0\0' then
                oldest = math.min(oldest, (struct.unpack('>I6', head, 10)))
            end
        end
        return {removed, oldest}
        LUA;

    /** Reply: 1 for each key that lives. */
    private const LIVING = <<<'LUA'
        local reply = {}
        for i = 5, #KEYS do reply[i - 4] = look(KEYS[i]) == 0 and 1 or 0 end
        return reply
        LUA;

    /**
     * Forgets some of the tags that were last invalidated at that tick or before; it becomes the version of those that
     * are not there. Arguments: epoch, tick, where to begin. Reply: where to go on, '0' at the end.
     */
    private const FORGET = <<<'LUA'
        local known, floor = unpack(redis.call('HMGET', KEYS[2], 'e', 'f'))
        if known ~= ARGV[2] then return '0' end
        if tonumber(ARGV[3]) > tonumber(floor) then redis.call('HSET', KEYS[2], 'f', ARGV[3]) end
        return forget(ARGV[4], tonumber(ARGV[3]))
        LUA;

    /** Begins another epoch: items from before are dead, and values that are computed from them will not be stored. */
    private const CLEAR = <<<'LUA'
        begin()
        return 1
        LUA;

    /** Reply: the clock, and what the server says of itself. */
    private const ASK = <<<'LUA'
        return {redis.call('MGET', KEYS[1])[1], redis.call('INFO', 'server'), redis.call('INFO', 'replication'), redis.call('INFO', 'stats')}
        LUA;

    /**
     * Takes the clock over into another life, unless another process has, or that is over as well. All items stay, or die; no token of
     * before judges anything. The first write is one that also a full server allows.
     *
     * Arguments: the life and the process that the clock names, those that it is to name, 1 if everything is to stay.
     */
    private const RENEW = <<<'LUA'
        local found = redis.call('MGET', KEYS[1])[1]
        if not found or #found ~= 53 or string.sub(found, 22) ~= ARGV[2] or told('replication', 'master_replid') ~= string.sub(ARGV[3], 1, 16) then
            return 0
        end
        if ARGV[4] == '1' then
            redis.call('UNLINK', KEYS[4])
            redis.call('HDEL', KEYS[2], '')
            redis.call('SETRANGE', KEYS[1], 21, ARGV[3])
        else
            begin()
        end
        return 1
        LUA;

    /**
     * Has the log begin, if there is none of this epoch: from then on every script records what it changes.
     *
     * Reply: the position at its end: the id of the last event, its mark, the life.
     */
    private const FOLLOW = <<<'LUA'
        local found = redis.pcall('XREVRANGE', KEYS[4], '+', '-', 'COUNT', 1)
        local refused, last = denied(found), found[1]
        if refused then return refused end
        if last and last[2][2] and string.sub(last[2][2], 1, 8) == epoch then return {last[1], last[2][2], life} end
        redis.call('UNLINK', KEYS[4])
        tick = tick + 1
        local mark = epoch .. struct.pack('>I6', tick)
        local id = redis.pcall('XADD', KEYS[4], '*', 'e', mark)
        refused = denied(id)
        if refused then return refused end
        redis.call('SETRANGE', KEYS[1], 9, struct.pack('>I6', tick))
        return {id, mark, life}
        LUA;

    private function __construct() {}

    /** With the functions that it needs and no others: the server makes them anew each time. */
    public static function of(Script $script): string
    {
        $functions = match ($script) {
            Script::Fetch => Lua::CLOCK . Lua::TIME . Lua::VERSION . Lua::JUDGE . Lua::FLOOR,
            Script::Token => Lua::CLOCK . Lua::TIME . Lua::FLOOR,
            Script::Save => Lua::REFUSAL . Lua::CLOCK . "do\n" . Lua::IN_LIFE . "end\n" . Lua::TIME . Lua::VERSION . Lua::JUDGE . Lua::FLOOR . Lua::NOT_MOVED . Lua::MOVE . Lua::RECORD,
            Script::SaveUnjudged => Lua::REFUSAL . Lua::CLOCK . Lua::TIME . Lua::MOVE . Lua::RECORD,
            Script::WriteOne => Lua::CLOCK . Lua::RECORD,
            Script::Delete => Lua::LOOKED_AT_CLOCK . "if epoch and ARGV[3] ~= '' then\n" . Lua::IN_LIFE . "end\n" . Lua::TIME . Lua::VERSION . Lua::JUDGE . Lua::FLOOR . Lua::NOT_MOVED . Lua::MOVE . Lua::RECORD_UNREFUSED,
            Script::Increment => Lua::REFUSAL . Lua::CLOCK . Lua::TIME . Lua::VERSION . Lua::JUDGE . Lua::MOVE . Lua::RECORD,
            Script::Touch => Lua::LOOKED_AT_CLOCK . Lua::TIME . Lua::VERSION . Lua::JUDGE . Lua::RECORD_UNREFUSED,
            Script::Sweep, Script::Living => Lua::LOOKED_AT_CLOCK . Lua::TIME . Lua::VERSION . Lua::JUDGE,
            Script::Invalidate => Lua::UNREFUSED . Lua::CLOCK . Lua::RECORD,
            Script::Follow => Lua::UNREFUSED . Lua::CLOCK . Lua::DENIED,
            Script::Forget => Lua::VERSION . Lua::FORGET,
            Script::Clear, Script::Renew => Lua::LIFE . "local epoch, tick, invalidated, life\n" . Lua::BEGIN,
            Script::Versions => Lua::LOOKED_AT_CLOCK,
            Script::Ask => '',
        };

        return $functions . match ($script) {
            Script::Fetch => self::FETCH,
            Script::Token => self::TOKEN,
            Script::Save, Script::SaveUnjudged => self::SAVE,
            Script::WriteOne => self::WRITE_ONE,
            Script::Delete => self::DELETE,
            Script::Increment => self::INCREMENT,
            Script::Touch => self::TOUCH,
            Script::Invalidate => self::INVALIDATE,
            Script::Versions => self::VERSIONS,
            Script::Sweep => self::SWEEP,
            Script::Living => self::LIVING,
            Script::Forget => self::FORGET,
            Script::Clear => self::CLEAR,
            Script::Ask => self::ASK,
            Script::Renew => self::RENEW,
            Script::Follow => self::FOLLOW,
        };
    }
}
