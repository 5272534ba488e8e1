<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/**
 * The scripts that RedisStore runs in the server. Each is one round trip and one moment: nothing else happens meanwhile.
 *
 * KEYS[1] to KEYS[4] are the clock, the tags, the key versions and the log (see RedisStore). KEYS[5] and those behind it are
 * items. ARGV[1] is a random name for a new epoch, should the clock be gone. Behind it stands the life that the client takes the
 * server to be in; none: it does not know. The scripts' own arguments begin with ARGV[2]. These are the bytes:
 *
 *     item    mark 1 byte | epoch 8 | version 6 | written 1 bit | expiry 47 bits, in ms, 0: never | length of the tags 3 | tags | payload
 *     clock   mark 1 | epoch 8 | tick 6 | the tick at which a tag was last invalidated 6 | life 16 | process 16 (see Life)
 *     key versions  epoch 8 | floor 6 | a tick of 6 for each key version, 0 or not there: the floor | the same for each key version of counts
 *     tags    e: epoch; f: the version of those that are not there; n: how many there are; t<tag>: its version, either
 *             the tick or, where what was killed may be served, that of TagVersion in three numbers;
 *             h: the tick at which half of all that may be there were; s: where a sweep has come to
 *     log     a stream, if it is followed. Each entry has the field e, its mark: epoch 8, tick 6. Behind it is what near stores
 *             must forget: k with the name of an item or t with a tag, as often as there are any; or a: everything
 *     invalidations   a stream of the last thousand. The id of each is its tick. Each has the field e: epoch 8, the tick of the
 *             invalidation before it 6. Behind it is each tag, as t, or as s if what was killed may be served (see NearTags)
 *
 * All numbers but those in the tags have their highest byte first. The verdict on an item is 0 live, 1 stale, 2 dead.
 *
 * The bit `written` is set in an item that was written or counted, and has moved its key version so. It spares the next count of
 * that item: a fill that the move has not refused began while there was a counter. Its token says so (COUNTER), and so it is
 * judged by the key version of counts, too. Counting such an item moves that one only.
 *
 * The value of a case is the SHA-1 of its text, by which a server knows it. ScriptText has the texts, with the arguments and replies of each.
 */
enum Script: string
{
    /** What the clock begins with, and how many bytes it has: those who knew other key versions take it for none, and the other way round. */
    public const CLOCK_MARK = "\5";
    public const CLOCK_BYTES = 53;

    /** How many bytes the name of an epoch has. */
    public const EPOCH = 8;

    /** What the epoch of a token ends with that was taken while there was a counter: no hexadecimal digit, with which a life's name ends. */
    public const COUNTER = '+';

    /** Where numbers of six bytes are in the clock. */
    public const TICK = 9;
    public const INVALIDATED = 15;

    /** Where the clock names the life, and the process. */
    public const LIFE = 21;

    /** What a script says that was to go by the clock of another life, and has done nothing. */
    public const OF_ANOTHER_LIFE = 'ERR the clock is of another life';

    /** What a script says whose user has no right to the log's commands, so that it has changed nothing (see Lua::DENIED). */
    public const DENIED = 'NOPERM the user may not read and append to the log';

    case Fetch = '0dd9c1d0f10bd4cf549b80fe9dfe8397072d3ed9';
    case Token = '319c0a3179aaffa1471f22ddd0c42290625096c2';
    case Save = '69c110d13ed5e64775a2901bdb6f1658afba67a4';

    /** Save in the mode Set for items without tokens, which needs fewer functions. */
    case SaveUnjudged = 'f73042027a5f9b025fea9926ca8f96997f378ee1';

    /** Write of one item that does not keep what was there before. */
    case WriteOne = 'f726237dbdfd0d08541cbecfee25859da3e583ae';
    case Delete = '279dae9b9701889b53342e45d7c0422a5b57270b';
    case Increment = 'd85ed398e26e789c2d1421b02b749ce551c65336';
    case Touch = '8f3efc4cfe7106f426ceddb47ede093698bb3851';
    case Invalidate = '1e8b25f0ec9472aea86e6783470bbb5f0e4d7419';
    case Versions = '4a2dfce4642f80c9c530c951051ed2e6096bcfb6';
    case Sweep = 'b06e4a08e08517289240f74b326a16d1d039c435';
    case Living = '8de443aef0a25f1c951b3aa562d579c3991b9834';
    case Forget = '59603f398233a3f71379f1648152ad3fed713261';
    case Clear = 'aaed5ae19b7416f7f17e4296f9fd4011f5fbd45f';
    case Ask = '069488c711eb31859020247343f72fe6469babe4';
    case Renew = 'e13b12fc1c761db2b24d907397c3752a06e89706';
    case Follow = 'f5710866efb1f87603e77e78a9568c14aaddaa56';
}
