<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\InvalidOption;

/**
 * The names that a store gives to things on a server.
 *
 *     prefix:key      an item           prefix:{7}:key      in a cluster: an item of shard 7
 *     prefix!clock    the clock         prefix!{7}clock     its clock
 *     prefix!tags     the tags          prefix!{7}tags
 *     prefix!key_versions   the key versions        prefix!{7}key_versions
 *     prefix!log      the log           prefix!{7}log
 *     prefix!invalidations  the last ones   prefix!{7}invalidations
 *     prefix!lease:x  a lease           prefix!{7}lease:x
 *     prefix!fence    the last fence    prefix!{7}fence
 *     prefix!aside:x  a large item that is put in its place by the next command
 *
 * Prefixes have neither colons nor exclamation marks in them. The part between braces decides where in a cluster a name lives,
 * so all names of a shard are on one server.
 */
final class Layout
{
    /** How many key versions there are. Keys that share one refuse each other's fills for nothing. */
    private const KEY_VERSIONS = 16_384;

    /** How many key versions of counts there are. Counters that share one refuse what is computed for each other. */
    private const COUNTS = 1_024;

    /** Where the first of them begins, and how many bytes each has. */
    private const FIRST_KEY_VERSION = 14;
    private const KEY_VERSION_BYTES = 6;

    /** How many names every script has before those of items. */
    public const NAMES = 4;

    /** Keys or tags in one command. */
    public const AT_ONCE = 1_000;

    private readonly string $internal;

    /** Where there are no shards. */
    private readonly string $clock;

    /** @var array<int, array{string, string, string, string}> of a shard the clock, the tags, the key versions and the log, as every write names them */
    private array $first = [];

    /**
     * @param string $prefix with its colon
     * @param int    $shards 0: not in a cluster
     *
     * @throws InvalidOption
     */
    public function __construct(
        private readonly string $prefix,
        public readonly int $shards = 0,
    ) {
        if ($shards < 0 || $shards > 1_024) {
            throw InvalidOption::range('shards', $shards, 'from 1 to 1024');
        }
        $this->internal = substr($prefix, 0, -1) . '!';
        $this->clock = $this->internal . 'clock';
    }

    public function shard(string $key): int
    {
        return $this->shards === 0 ? 0 : crc32($key) % $this->shards;
    }

    public function clock(int $shard): string
    {
        return $this->shards === 0 ? $this->clock : $this->internal($shard) . 'clock';
    }

    public function tags(int $shard): string
    {
        return $this->internal($shard) . 'tags';
    }

    public function item(string $key): string
    {
        return $this->beginning($this->shard($key)) . $key;
    }

    /** @return non-empty-list<string> the command that reads the clock and an item, where there are no shards */
    public function plainRead(string $key): array
    {
        return ['MGET', $this->clock, $this->prefix . $key];
    }

    public function keyVersions(int $shard): string
    {
        return $this->internal($shard) . 'key_versions';
    }

    public function log(int $shard): string
    {
        return $this->internal($shard) . 'log';
    }

    public function invalidations(int $shard): string
    {
        return $this->internal($shard) . 'invalidations';
    }

    /** @return string the byte among the key versions of its shard at which the key's begins */
    public function placeOfKeyVersion(string $key): string
    {
        return (string) (self::FIRST_KEY_VERSION + self::KEY_VERSION_BYTES * $this->hash($key, self::KEY_VERSIONS));
    }

    /** @return string the byte at which, behind them, that of the key's counts begins */
    public function placeOfCount(string $key): string
    {
        $keyVersions = intdiv(self::KEY_VERSIONS, max(1, $this->shards));

        return (string) (self::FIRST_KEY_VERSION + self::KEY_VERSION_BYTES * ($keyVersions + $this->hash($key, self::COUNTS)));
    }

    /** @return int a number from 0 to what a shard has of so many */
    private function hash(string $key, int $of): int
    {
        return $this->shards < 2 ? crc32($key) % $of : intdiv(crc32($key), $this->shards) % intdiv($of, $this->shards);
    }

    public function lease(string $name): string
    {
        return $this->internal($this->shard($name)) . "lease:{$name}";
    }

    /** The last fencing number that was given in the shard of a lease. */
    public function fence(string $name): string
    {
        return $this->internal($this->shard($name)) . 'fence';
    }

    /** A name that nothing else ever has. */
    public function aside(int $shard): string
    {
        return $this->internal($shard) . 'aside:' . bin2hex(random_bytes(8));
    }

    /** What the names of all items match whose keys begin so; of one shard, or without shards. */
    public function pattern(int $shard, string $beginning): string
    {
        return $this->beginning($shard) . addcslashes($beginning, '*?[]\\^-') . '*';
    }

    /** The key of an item of that shard. */
    public function key(int $shard, string $name): string
    {
        return substr($name, \strlen($this->beginning($shard)));
    }

    private function internal(int $shard): string
    {
        return $this->shards === 0 ? $this->internal : "{$this->internal}{{$shard}}";
    }

    private function beginning(int $shard): string
    {
        return $this->shards === 0 ? $this->prefix : "{$this->prefix}{{$shard}}:";
    }

    /** @return non-empty-list<int> */
    public function all(): array
    {
        return range(0, max(0, $this->shards - 1));
    }

    /**
     * @param array<int, string> $keys of that shard
     *
     * @return non-empty-list<string> the keys of a script: clock, tags, key versions, log, and the items
     */
    public function names(int $shard, array $keys = []): array
    {
        return $this->items($shard, $keys, $this->first[$shard] ??= [$this->clock($shard), $this->tags($shard), $this->keyVersions($shard), $this->log($shard)]);
    }

    /**
     * @param array<int, string> $keys  of that shard
     * @param list<string>       $names what comes before
     *
     * @return ($names is non-empty-list ? non-empty-list<string> : list<string>)
     */
    public function items(int $shard, array $keys, array $names = []): array
    {
        $beginning = $this->beginning($shard);
        foreach ($keys as $key) {
            $names[] = $beginning . $key;
        }

        return $names;
    }

    /**
     * @param array<int, string> $keys
     *
     * @return ($keys is non-empty-array ? non-empty-list<array{int, array<int, string>}> : array{}) shards, and keys there, by their numbers
     */
    public function grouped(array $keys): array
    {
        if ($this->shards === 0 && \count($keys) <= self::AT_ONCE) {
            return $keys === [] ? [] : [[0, $keys]];
        }
        $shards = [];
        foreach ($keys as $i => $key) {
            $shards[$this->shard($key)][$i] = $key;
        }

        $chunks = [];
        foreach ($shards as $shard => $keys) {
            foreach (array_chunk($keys, self::AT_ONCE, true) as $chunk) {
                $chunks[] = [$shard, $chunk];
            }
        }

        return $chunks;
    }
}
