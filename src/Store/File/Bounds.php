<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Store\Verdict;

/**
 * The bounds of a directory in bytes and in files (inodes), and its use. When it has too much, dead items go from some shards. If that
 * is not enough, one shard after the other loses the half that was written longest ago.
 *
 * Items are written and removed through this class, so that they are counted. Leases are not: there are few, for a short time, and a
 * directory that is full has to have room for them.
 */
final class Bounds
{
    private const SHARDS = 256;

    /** How many shards are searched for what is dead before anything alive goes. */
    private const LOOKED_AT_FIRST = 8;

    /** Seconds after which a temporary file's writer must be dead. */
    private const ABANDONED = 3_600;

    /** Null: there are no bounds, and nothing is counted. */
    private readonly ?Usage $usage;

    /**
     * @param ?int                 $size   bytes at most; null: as many as there is room for
     * @param ?int                 $files  items at most
     * @param bool                 $evicts whether a full directory makes room by dropping items, or refuses
     * @param \Closure(): int $clock  the time in Unix seconds
     *
     * @throws InvalidOption
     */
    public function __construct(
        private readonly Folder $folder,
        private readonly Format $format,
        public readonly ?int $size,
        private readonly ?int $files,
        private readonly bool $evicts,
        private readonly TagVersions $tags,
        private readonly \Closure $clock,
    ) {
        foreach (['size' => [$size, 1 << 20], 'files' => [$files, self::SHARDS]] as $option => [$value, $least]) {
            if ($value !== null && $value < $least) {
                throw InvalidOption::range($option, $value, 'at least ' . number_format($least));
            }
        }
        $this->usage = $size === null && $files === null ? null : new Usage("{$folder->path}/usage", $folder->directory);
    }

    /** Whether nothing that lives is ever dropped. */
    public function retain(): bool
    {
        return !$this->evicts || $this->usage === null;
    }

    /**
     * Looks at every file, unless the directory is bounded.
     *
     * @return array{int, int} bytes and items
     */
    public function inUse(): array
    {
        [$bytes, $items] = $this->usage?->total() ?? [0, 0];
        foreach ($this->usage === null ? $this->folder->shards() : [] as $shard) {
            foreach ($this->folder->items($shard) as $path) {
                if (!Folder::isLease($path)) {
                    $bytes += $this->format->size($path);
                    $items++;
                }
            }
        }

        return [$bytes, $items];
    }

    /** @return bool false if there is no room for it */
    public function write(string $path, Head $head, string $body): bool
    {
        $usage = Folder::isLease($path) ? null : $this->usage;
        $old = $usage === null ? 0 : $this->format->size($path);
        $new = $this->format->write($path, $head, $body);
        if ($new !== null) {
            $usage?->add(self::number(\dirname($path)), $new - $old, $old === 0 ? 1 : 0);
        }

        return $new !== null;
    }

    /** @throws StoreUnavailable */
    public function remove(string $path): void
    {
        $bytes = $this->format->remove($path) ?? throw $this->folder->unavailable('a file cannot be removed');
        Folder::isLease($path) || $this->usage?->add(self::number(\dirname($path)), -$bytes, $bytes === 0 ? 0 : -1);
    }

    /** Under the shard's lock: there is nothing in it any more. */
    public function noteEmpty(string $shard): void
    {
        $this->usage?->put(self::number($shard), 0, 0);
    }

    /**
     * Removes what is dead, and counts what is left, as others may have done something to the files. Under the shard's lock.
     *
     * @return int how many items were removed
     *
     * @throws StoreUnavailable
     */
    public function removeDead(string $shard): int
    {
        $removed = $bytes = $items = 0;
        foreach ($this->folder->items($shard) as $path) {
            $head = $this->format->head($path);
            if ($head === null || $this->tags->judge($head, ($this->clock)()) === Verdict::Dead) {
                $removed += $this->format->remove($path) === null ? 0 : 1;
            } elseif (!Folder::isLease($path)) {
                $bytes += $this->format->size($path);
                $items++;
            }
        }
        $this->usage?->put(self::number($shard), $bytes, $items);
        foreach ($this->folder->in($shard, '/^(\..*\.tmp$|[^.].*\.)/Ds') as $abandoned) {
            $item = preg_replace('/\.[^.\/]*\.php$/', '', $abandoned);
            if ((int) @filemtime($abandoned) < time() - self::ABANDONED && ($item === $abandoned || $item === null || @readlink($item) !== basename($abandoned))) {
                Folder::unlink($abandoned);
            }
        }

        return $removed;
    }

    /**
     * Removes what is dead among so many files, which begin with one that is drawn by lot. Under the shard's lock.
     *
     * @return int how many items were removed
     *
     * @throws StoreUnavailable
     */
    public function removeSomeDead(string $shard, int $most): int
    {
        $removed = 0;
        $items = $this->folder->items($shard);
        $begin = \count($items) > $most ? random_int(0, \count($items) - 1) : 0;
        foreach (\array_slice([...$items, ...\array_slice($items, 0, $begin)], $begin, $most) as $path) {
            $head = $this->format->head($path);
            if ($head === null || $this->tags->judge($head, ($this->clock)()) === Verdict::Dead) {
                $this->remove($path);
                $removed++;
            }
        }

        return $removed;
    }

    public function isTooLarge(string $body): bool
    {
        return $this->size !== null && \strlen($body) > $this->size >> 1;
    }

    /**
     * Whether there is room for something in the place of what is there, in a directory that drops nothing; about, as others store at
     * the same time.
     */
    public function have(string $path, string $body): bool
    {
        if ($this->usage === null || $this->evicts) {
            return true;
        }
        $old = $this->format->size($path);
        [$bytes, $items] = $this->usage->total();

        return !$this->isMore($bytes + \strlen($body) - $old, $items + ($old === 0 ? 1 : 0));
    }

    /**
     * Sees that there is not too much after something was stored.
     *
     * @param string $newest the path of what was stored last, which does not go
     *
     * @return bool false: there is too much now, and nothing may be dropped
     *
     * @throws StoreUnavailable
     */
    public function keep(string $shard, string $newest): bool
    {
        $usage = $this->usage;
        if ($usage === null || Folder::isLease($newest)) {
            return true;
        }
        if (!$usage->isThere()) {
            $this->countAll();
        }
        if (!$this->isMore(...$usage->total())) {
            return true;
        }
        if (!$this->evicts) {
            return false;
        }
        $shards = $this->folder->shards();
        // Not in the order of a sequence that the application may have begun.
        $shards = (new \Random\Randomizer())->shuffleArray($shards);
        $dead = \array_slice($shards, 0, self::LOOKED_AT_FIRST);
        foreach ([...$dead, $shard, ...$shards] as $i => $each) {
            $this->folder->locked($each, fn() => $i < \count($dead) ? $this->removeDead($each) : $this->trim($usage, $each, $newest));
            [$bytes, $items] = $usage->total();
            // A little more than must be, so that not every save has to.
            if (!$this->isMore($bytes + (($this->size ?? 0) >> 8), $items + (($this->files ?? 0) >> 8))) {
                break;
            }
        }

        return true;
    }

    private function countAll(): void
    {
        foreach ($this->folder->shards() as $shard) {
            $this->folder->locked($shard, fn(): int => $this->removeDead($shard));
        }
    }

    private function isMore(int $bytes, int $items): bool
    {
        return ($this->size !== null && $bytes > $this->size) || ($this->files !== null && $items > $this->files);
    }

    /** Removes what is dead, and of the rest the older half. */
    private function trim(Usage $usage, string $shard, string $newest): void
    {
        $this->removeDead($shard);
        $ages = [];
        foreach ($this->folder->items($shard) as $path) {
            if ($path !== $newest && !Folder::isLease($path)) {
                $status = @lstat($path);
                $ages[$path] = $status === false ? 0 : $status['mtime'];
            }
        }
        asort($ages);
        foreach (\array_slice(array_keys($ages), 0, \count($ages) + 1 >> 1) as $path) {
            $usage->add(self::number($shard), -($this->format->remove((string) $path) ?? 0), -1);
        }
    }

    /** A shard's number. */
    private static function number(string $shard): int
    {
        return (int) hexdec(basename($shard));
    }
}
