<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Console\NearDetails;
use Larder\Console\Presence;
use Larder\Console\Printed;
use Larder\Console\StoreName;
use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Key;
use Larder\SharedMemory;
use Larder\Store;
use Larder\Store\RedisStore;
use Larder\Store\SharedMemory\PoolFiles;
use Larder\Store\SharedMemoryStore;
use Larder\Store\SqliteStore;
use Larder\Stores;
use Larder\StoreStatistics;
use Larder\Tier\TieredStore;

/** Checks one store. */
final class StoreChecks
{
    private const NETWORK = ['nfs', 'nfs4', 'cifs', 'smb3', 'smbfs', '9p', 'fuse.sshfs', 'glusterfs', 'fuse.glusterfs', 'ceph', 'afs', 'lustre', 'ocfs2', 'gfs2'];

    /** Bytes. */
    private const LARGE = 16 << 20;

    /** Look-ups and saves that are timed. */
    private const TIMED = 50;

    public function __construct(
        private readonly string $dsn,
        private readonly Machine $machine,
    ) {}

    /** @return list<Finding> */
    public function findings(): array
    {
        $what = StoreName::of($this->dsn);
        try {
            $dsn = Dsn::parse($this->dsn);
            $found = PlaceChecks::of($what, $dsn);
            if ($found !== []) {
                return $found;
            }
            $found = $this->others($dsn);
            $absent = Presence::complaint($dsn);
            if ($absent !== null) {
                return [...$found, ...$this->place($dsn), Finding::advice($what, "It is not there yet: {$absent}", $dsn->scheme === 'shm' ? 'larder pools, which lists the pools that are there' : "larder set '{$what}' KEY VALUE, which makes it")];
            }
            $store = Stores::of($dsn);
            try {
                // First: the timed calls are counted, too.
                $known = $store->statistics();
                $store instanceof TieredStore && TierChecks::follow($store->log);
                array_push($found, $this->timed($dsn, $store, $known), ...$this->locks($dsn));
            } catch (StoreUnavailable $failure) {
                return [Finding::failure($what, $failure), ...$this->place($dsn), ...TierChecks::nearAlone($what, NearDetails::of($this->dsn, $store))];
            }
        } catch (Exception $mistake) {
            return [Finding::failure($what, $mistake)];
        }

        return [
            ...$found,
            ...$this->place($dsn),
            ...$this->memory($dsn, $known),
            ...$this->kind($dsn, $known),
            ...ServerChecks::findings($what, $known->details, $store instanceof TieredStore),
            ...match (true) {
                !$store instanceof TieredStore => TierChecks::alone($what, $store),
                // By the far store's DSN alone.
                $dsn->far === null => [Finding::fine($what, 'A tier has it as its far store: the near stores learn of each change from its log.')],
                default => TierChecks::findings($what, $known),
            },
            ...PoolChecks::findings($what, $known->details),
            ...$store instanceof RedisStore ? PersistenceChecks::findings($what, $store, $dsn->text('persistence', '') === 'trusted') : [],
        ];
    }

    /**
     * Pools of the same name that are not this user's.
     *
     * @return list<Finding>
     */
    private function others(Dsn $dsn): array
    {
        $what = StoreName::of($this->dsn);
        $name = SharedMemoryStore::poolOf($dsn);
        if ($dsn->scheme !== 'shm' || $dsn->far !== null || !\extension_loaded('larder')) {
            return [];
        }
        $pools = new PoolFiles();

        return [...array_map(static fn(string $owner): Finding => Finding::advice(
            $what,
            ucfirst($owner) . " has a pool \"{$name}\" of its own: an item that is deleted in one stays in the other.",
            'larder.group=GROUP in each php.ini, with a group of both users; or run all of them as one user',
        ), $pools->owners($name)), ...array_map(static fn(string $owner): Finding => Finding::fine(
            $what,
            ucfirst($owner) . " has pools that this user may not see; one named \"{$name}\" would have nothing to do with this one.",
        ), $pools->hidden())];
    }

    /** @throws StoreUnavailable */
    private function timed(Dsn $dsn, Store $store, StoreStatistics $known): Finding
    {
        $what = StoreName::of($this->dsn);
        $key = Key::internal('doctor', bin2hex(random_bytes(8)));
        $looks = $saves = [];
        for ($i = 0; $i < self::TIMED; $i++) {
            $began = hrtime(true);
            $unsaved = $store->save([new Item($key, str_repeat('x', 1_000), 60)]);
            $saved = hrtime(true);
            $found = $store->fetch([$key])->items[$key] ?? null;
            $looks[] = hrtime(true) - $saved;
            $saves[] = $saved - $began;
            if ($unsaved !== [] || $found === null) {
                $store->delete([$key]);

                return Finding::problem($what, 'A saved item is not found again: the store is full, or two of its servers answer in turn.', self::larger($dsn, $known) . '; or one server alone behind the address of the DSN');
            }
        }
        $store->delete([$key]);
        sort($looks);
        sort($saves);
        $middle = intdiv(self::TIMED, 2);
        $says = \sprintf('A look-up takes %.1f µs, a save %.1f µs (medians of %d, 1 KB).', $looks[$middle] / 1e3, $saves[$middle] / 1e3, self::TIMED);

        // The quickest: what a busy machine adds to the others says nothing of the store.
        return $looks[0] > 2_000_000
            ? Finding::advice($what, "{$says} That is long for a cache.", $dsn->far === null && \in_array('apcu', $this->machine->extensions, true) && self::canBeFar($store) ? "apcu: > {$what}" : 'the DSN of a place on this machine, such as sqlite:/var/cache/site.db')
            : Finding::fine($what, $says);
    }

    /** @return list<Finding> */
    private function place(Dsn $dsn): array
    {
        // Of tiers, the last one may lie somewhere; those in front of it are memory.
        while ($dsn->far !== null) {
            $dsn = $dsn->far;
        }
        if (!\in_array($dsn->scheme, ['sqlite', 'file', 'php'], true)) {
            return [];
        }
        $found = OwnerChecks::ofStore(StoreName::of($this->dsn), $dsn);
        $kind = $this->machine->fileSystemOf($dsn->absolutePath());
        $isSqlite = $dsn->scheme === 'sqlite';

        return match (true) {
            !\in_array($kind, self::NETWORK, true) => $found,
            $isSqlite => [...$found, Finding::problem(StoreName::of($this->dsn), "It lies on a network file system ({$kind}), on which SQLite's locks and shared memory do not work.", "{$dsn->scheme}:/var/cache/" . basename($dsn->path))],
            default => [...$found, Finding::advice(StoreName::of($this->dsn), "It lies on a network file system ({$kind}): every look-up goes over the network.", "{$dsn->scheme}:/var/cache/" . basename($dsn->path))],
        };
    }

    /**
     * A pool that does not evict has its locks in one beside it.
     *
     * @return list<Finding>
     */
    private function locks(Dsn $dsn): array
    {
        if ($dsn->scheme !== 'shm' || $dsn->far !== null || !\extension_loaded('larder')) {
            return [];
        }
        $what = StoreName::of($this->dsn);
        $name = SharedMemoryStore::poolOf($dsn);
        $locks = SharedMemoryStore::leasesAmong(SharedMemory::names());

        return match (true) {
            $dsn->switch('evict', true) => [],
            isset($locks[$name]) => [Finding::fine($what, "It holds the locks of the pool \"{$locks[$name]}\", and goes when that is removed.")],
            isset($locks[SharedMemoryStore::leasesOf($name)]) => [Finding::fine($what, 'Its locks are in the pool "' . SharedMemoryStore::leasesOf($name) . '". A flush leaves them as they are.')],
            default => [],
        };
    }

    /** @return list<Finding> */
    private function memory(Dsn $dsn, StoreStatistics $known): array
    {
        $what = StoreName::of($this->dsn);
        $found = [];
        if ($known->bytes !== null && ($known->capacity ?? 0) > 0) {
            $full = $known->bytes / $known->capacity;
            $lookups = ($known->hits ?? 0) + ($known->misses ?? 0);
            if ($full > 0.9 && $known->evictions > 0 && $lookups > 1_000 && $known->misses > 0.2 * $lookups) {
                $found[] = Finding::advice($what, \sprintf('It is full, evicts, and misses %s of its look-ups: more memory may help.', Printed::share($known->misses, $lookups)), self::larger($dsn, $known));
            }
        }

        return $found;
    }

    /** @return list<Finding> */
    private function kind(Dsn $dsn, StoreStatistics $known): array
    {
        $what = StoreName::of($this->dsn);
        $found = [];
        for ($tier = $dsn; $tier !== null; $tier = $tier->far) {
            if ($tier->scheme === 'apcu' && \function_exists('apcu_enabled') && apcu_enabled()) {
                if ($this->machine->sapi === 'cli') {
                    $found[] = Finding::fine($what, 'This is the APCu of this command, which ends with it: that of PHP-FPM cannot be seen from here.');
                }
                [$cache, $memory] = [apcu_cache_info(true), apcu_sma_info()];
                array_push($found, ...ApcuChecks::memory($what, \is_array($cache) ? $cache : [], \is_array($memory) ? $memory : []));
            }
            array_push($found, ...ServerChecks::tags($what, $tier->text('tags', 'far') === 'near', $this->machine->extensions));
            $files = (int) ($this->machine->ini['opcache.max_accelerated_files'] ?? 0);
            $items = $known->items ?? 0;
            if ($tier->scheme === 'php' && $files > 0 && $items > 0.8 * $files) {
                $found[] = Finding::advice($what, \sprintf('It has %s files, and opcache keeps at most about %s: the others are compiled with every read.', Printed::count($items), Printed::count($files)), 'opcache.max_accelerated_files=' . 2 * $items);
            }
        }
        $bytes = $known->bytes ?? 0;
        [$free, $size] = [$known->details['free pages'] ?? null, $known->details['page size'] ?? null];
        if (\is_int($free) && \is_int($size) && $bytes > self::LARGE && $free * $size > $bytes / 2) {
            $found[] = Finding::advice($what, \sprintf('%s of the file\'s %s hold nothing any more.', Printed::bytes($free * $size), Printed::bytes($bytes)), "larder prune '{$what}'");
        }

        return $found;
    }

    /** Whether a near store in front of it is told what changes. */
    private static function canBeFar(Store $store): bool
    {
        return $store instanceof RedisStore || $store instanceof SqliteStore;
    }

    /** The line that gives it twice the memory that it has. */
    private static function larger(Dsn $dsn, StoreStatistics $known): string
    {
        while ($dsn->far !== null) {
            $dsn = $dsn->far;
        }
        $megabytes = 2 * max(16, intdiv($known->capacity ?? 0, 1 << 20));

        return match ($dsn->scheme) {
            'shm' => 'larder resize ' . SharedMemoryStore::poolOf($dsn) . " {$megabytes}M",
            'sqlite', 'file', 'php', 'array' => "size={$megabytes}M in the DSN",
            'apcu' => "apc.shm_size={$megabytes}M",
            'memcached', 'memcached+unix' => "memcached -m {$megabytes}",
            default => "maxmemory {$megabytes}mb",
        };
    }
}
