<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/** What the scripts (see Script) are made of, in the language of the server. */
final class Lua
{
    private function __construct() {}

    public const REFUSAL = <<<'LUA'
        local function refusal(answer)
            return type(answer) == 'table' and answer.err
        end

        LUA;

    /** A full server forbids a script only its first write: this one it allows. */
    public const UNREFUSED = <<<'LUA'
        redis.call('HDEL', KEYS[2], '')

        LUA;

    /** What the server says of itself: of the life that it is in, and of its process (see Life). */
    public const LIFE = <<<'LUA'
        local ofAnother = {err = 'ERR the clock is of another life'}
        local function told(section, name)
            return string.sub(string.match(redis.call('INFO', section), '\n' .. name .. ':(%x+)') or string.rep('0', 16), 1, 16)
        end
        local function isOver(life)
            return not string.find(redis.call('INFO', 'replication'), '\nmaster_replid:' .. life, 1, true) and life ~= told('replication', 'master_replid')
        end

        LUA;

    /** Another epoch, in the life that the server is in. */
    public const BEGIN = <<<'LUA'
        local function begin()
            redis.call('UNLINK', KEYS[1], KEYS[3], KEYS[4])
            epoch, tick, invalidated, life = string.sub(ARGV[1], 1, 8), 1, 0, told('replication', 'master_replid')
            redis.call('SET', KEYS[1], '\5' .. epoch .. struct.pack('>I6I6', tick, invalidated) .. life .. told('server', 'run_id'))
            redis.call('SET', KEYS[3], epoch .. struct.pack('>I6', tick))
        end

        LUA;

    private const FOUND_CLOCK = <<<'LUA'
        local epoch, tick, invalidated, life = false, 0, 0, ''
        local found = redis.call('MGET', KEYS[1])[1]
        if found and #found == 53 and string.byte(found) == 5 then
            epoch, tick, invalidated, life = struct.unpack('>c8I6I6c16', found, 2)
        end

        LUA;

    /**
     * There being none kills everything as well. One of another life is not gone by: what that has lost has to be made up for before
     * (see Scripts). The server is asked only if the client does not know it to be in the clock's life. Its functions are made
     * only then: each costs the server as much as a short command.
     */
    public const LOOKED_AT_CLOCK = self::FOUND_CLOCK . "if epoch and life ~= string.sub(ARGV[1], 9) then\n" . self::IN_LIFE . "end\n";

    /** Begins another epoch if there is none. */
    public const CLOCK = self::LOOKED_AT_CLOCK . "if not epoch then\n" . self::LIFE . self::BEGIN . "begin()\nend\n";

    /** Only the clock's server stores a value that is judged by a token, whatever the client knows. Stands in a block of its own. */
    public const IN_LIFE = self::LIFE . <<<'LUA'
        if isOver(life) then
            return ofAnother
        end

        LUA;

    public const TIME = <<<'LUA'
        local now
        local function milliseconds()
            if not now then
                local time = redis.call('TIME')
                now = time[1] * 1000 + math.floor(time[2] / 1000)
            end
            return now
        end

        LUA;

    public const VERSION = <<<'LUA'
        local function version(field, floor)
            if not field then return floor, 0, 0 end
            local dead, stale, till = tonumber(field), 0, 0
            if not dead then
                dead, stale, till = string.match(field, '^(%d+) (%d+) (%d+)$')
                dead, stale, till = tonumber(dead), tonumber(stale), tonumber(till)
            end
            return dead, stale, till
        end

        LUA;

    /**
     * A batch asks for the version of each tag once, and many items have the same tags: the server stands still meanwhile. An item that is
     * judged alone needs no table of them, which would cost as much as to ask. Most items are there whole, or up to their payload, in the
     * first piece that is read.
     */
    public const JUDGE = <<<'LUA'
        local versions, sets, floorOfTags = {}, {}, nil
        local function asked(fields)
            local found = redis.call('HMGET', KEYS[2], 'e', 'f', unpack(fields))
            floorOfTags = tonumber(found[2])
            return found[1] == epoch and found
        end
        local function judged(tags)
            local names, at, sub, byte = {}, 1, string.sub, string.byte
            while at <= #tags do
                local last = at + byte(tags, at)
                names[#names + 1] = 't' .. sub(tags, at + 1, last)
                at = last + 1
            end
            local found, unknown = nil, {}
            if #KEYS == 5 and #names <= 1000 then
                found = asked(names)
                if not found then return {dead = math.huge} end
            else
                for i = 1, #names do
                    if versions[names[i]] == nil then unknown[#unknown + 1] = names[i] end
                    if #unknown > 1000 or (i == #names and #unknown > 0) then
                        local learnt = asked(unknown)
                        if not learnt then return {dead = math.huge} end
                        for n = 1, #unknown do versions[unknown[n]] = learnt[n + 2] end
                        unknown = {}
                    end
                end
            end
            local latest, set = 0, {}
            for i = 1, #names do
                local dead, stale, till = version(found and found[i + 2] or versions[names[i]], floorOfTags)
                if dead > latest then latest = dead end
                if stale > 0 then
                    set[#set + 1] = stale
                    set[#set + 1] = till
                end
            end
            set.dead = latest
            return set
        end
        local function worst(item, at, since)
            local last, verdict = at + struct.unpack('>I3', item, at - 3), 0
            if last > #item + 1 then return 2 end
            local tags = string.sub(item, at, last - 1)
            local set = sets[tags] or judged(tags)
            sets[tags] = set
            if since < set.dead then return 2 end
            for i = 1, #set, 2 do
                if since < set[i] then
                    if milliseconds() >= set[i + 1] * 1000 then return 2 end
                    verdict = 1
                end
            end
            return verdict
        end
        local function look(key)
            local head = redis.pcall('GETRANGE', key, '0', '535')
            if #head < 24 then return 2 end
            local mark, of, since, size = struct.unpack('>Bc8I6xxxxxxI3', head)
            if mark ~= 2 or of ~= epoch then return 2 end
            if size == 0 or since >= invalidated then return 0, head end
            if #head < 24 + size then head = redis.call('GETRANGE', key, '0', 23 + size) end
            return worst(head, 25, since), head
        end

        LUA;

    /**
     * Where the key versions were lost, none is known to have stood still since any token that was given so far.
     */
    public const FLOOR = <<<'LUA'
        local floor
        local function key_versions()
            if floor then return end
            local head = redis.pcall('GETRANGE', KEYS[3], 0, 13)
            if #head == 14 and string.sub(head, 1, 8) == epoch then
                floor = struct.unpack('>I6', head, 9)
            else
                redis.call('UNLINK', KEYS[3])
                redis.call('SETRANGE', KEYS[1], 9, struct.pack('>I6', tick + 1))
                tick = tick + 1
                floor = tick
                redis.call('SET', KEYS[3], epoch .. struct.pack('>I6', tick))
            end
        end

        LUA;

    /** Two key versions judge a value that is computed from a counter. */
    public const NOT_MOVED = <<<'LUA'
        local function hasNotMoved(at, since)
            key_versions()
            for each in string.gmatch(at, '%d+') do
                local key_version = redis.call('GETRANGE', KEYS[3], each, each + 5)
                if key_version ~= '' and struct.unpack('>I6', key_version) > since then return false end
            end
            return floor <= since
        end

        LUA;

    /**
     * A key version is told by where it begins. All that one script moves get the same tick. A script that moves one need not know whether the key versions are there:
     * a value that is made of one alone does not begin with the epoch, and so is none. Numbers are spelled out, as the server would do so anyway, and slowly.
     */
    public const MOVE = <<<'LUA'
        local moved
        local function move(at)
            if not moved then
                tick = tick + 1
                moved = struct.pack('>I6', tick)
                redis.call('SETRANGE', KEYS[1], '9', moved)
            end
            if type(redis.pcall('SETRANGE', KEYS[3], at, moved)) == 'table' then redis.call('UNLINK', KEYS[3]) end
        end

        LUA;

    /** What the log's commands answer unless they were allowed: an error, in words of its own if the user has no right to them. */
    public const DENIED = <<<'LUA'
        local function denied(answer)
            local why = type(answer) == 'table' and answer.err
            if not why or string.find(why, 'WRONGTYPE', 1, true) then return end
            if string.find(why, 'permissions', 1, true) or string.find(why, "can't run", 1, true) then
                return {err = 'NOPERM the user may not read and append to the log'}
            end
            return answer
        end

        LUA;

    /**
     * Records what near stores must forget, before it is changed. The function is there only if the log is followed. So a script that may not record changes
     * nothing. A change that is refused afterwards costs near stores a miss. Answers an error, or nothing.
     *
     * An event that takes long to read is parts of it, or everything. A short one behind a long one ends it: those who have followed
     * it read the last event with each request.
     *
     * By length the log is trimmed always, by age now and then (the ticks go up by one to three), in whole nodes of the server's: so the
     * last events stay. A value there that is no log goes: that is the end of a history, too.
     */
    public const RECORD = <<<'LUA'
        local isFollowed, record = redis.call('EXISTS', KEYS[4]) == 1, nil
        if isFollowed then

        LUA . self::DENIED . <<<'LUA'
        local function append(...)
            local answer = redis.pcall('XADD', KEYS[4], 'MAXLEN', '~', 10000, '*', 'e', epoch .. struct.pack('>I6', tick + 1), ...)
            local refused = denied(answer)
            if refused then return refused end
            if type(answer) == 'table' then
                redis.call('UNLINK', KEYS[4])
                isFollowed = false
                return
            end
            tick = tick + 1
            redis.call('SETRANGE', KEYS[1], 9, struct.pack('>I6', tick))
            if tick % 256 < 4 then
                redis.pcall('XTRIM', KEYS[4], 'MINID', '~', string.format('%.0f', string.match(answer, '%d+') - 3600000))
            end
        end
        record = function(kind, names)
            if not isFollowed or #names == 0 then return end
            local part, bytes, all = {}, 0, 0
            for _, name in ipairs(names) do all = all + #name end
            if all > 262144 then return append('a', '') end
            for _, name in ipairs(names) do
                if bytes > 0 and bytes + #name > 8192 then
                    local refused = append(unpack(part))
                    if refused then return refused end
                    part, bytes = {}, 0
                end
                part[#part + 1], part[#part + 2], bytes = kind, name, bytes + #name
            end
            return append(unpack(part)) or (all > 512 and append()) or nil
        end
        end

        LUA;

    /**
     * Also where the server is full: see UNREFUSED. Where the clock is lost, all that is stored is dead, and near stores have to begin
     * anew.
     */
    public const RECORD_UNREFUSED = self::RECORD . <<<'LUA'
        if isFollowed and not epoch then
            redis.call('UNLINK', KEYS[4])
            isFollowed = false
        elseif isFollowed then
            redis.call('HDEL', KEYS[2], '')
        end

        LUA;

    public const FORGET = <<<'LUA'
        local function forget(cursor, floor)
            local page, gone = redis.call('HSCAN', KEYS[2], cursor, 'COUNT', 500), {}
            for i = 1, #page[2], 2 do
                if string.byte(page[2][i]) == 116 then
                    local dead, stale = version(page[2][i + 1], 0)
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
}
