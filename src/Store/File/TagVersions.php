<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Exception\StoreUnavailable;
use Larder\Store\TagSlot;
use Larder\Store\Verdict;

/**
 * The logical time of tags, which only their invalidations move, and the tags' versions:
 *
 *     directory/clock      epoch 8 | tick 8 | one bit for each slot that there is 256
 *     directory/tags/abc   a slot (see TagSlot)
 *
 * An invalidation first writes the slots and then the clock, so that a process that sees the new tick sees the
 * slots. A slot that the clock names and that is missing was lost. A lost clock begins another epoch. Both are misses.
 */
final class TagVersions
{
    private const BYTES = 16 + (TagSlot::SLOTS >> 3);

    /** What a power cut may leave of a clock: if it were one, the second to be left would go on with what the first has known. */
    private const NO_EPOCH = "\0\0\0\0\0\0\0\0";

    public function __construct(
        private readonly Folder $folder,
    ) {}

    /**
     * @return array{string, int} the epoch and the tick
     *
     * @throws StoreUnavailable
     */
    public function now(): array
    {
        [$epoch, $tick] = $this->read() ?? $this->folder->locked("{$this->folder->path}/tags", fn(): array => $this->read() ?? $this->begin());

        return [$epoch, $tick];
    }

    /**
     * What an item is that carries these tags.
     *
     * @param list<string> $tags
     */
    public function verdict(array $tags, string $epoch, int $version, int $now): Verdict
    {
        if ($tags === []) {
            return Verdict::Live;
        }
        $clock = $this->read();
        if ($clock === null || $clock[0] !== $epoch) {
            return Verdict::Dead;
        }
        $verdict = Verdict::Live;
        foreach ($version >= $clock[1] ? [] : $tags as $tag) {
            [$slot, $name] = TagSlot::place($tag);
            if (self::has($clock[2], $slot)) {
                $bytes = $this->slot($slot);
                $verdict = $verdict->and($bytes === null ? Verdict::Dead : TagSlot::version($bytes, $name)->verdict($version, $now));
            }
        }

        return $verdict;
    }

    /** What an item is by its head. */
    public function judge(Head $head, int $now): Verdict
    {
        return $head->expiry !== null && $head->expiry <= $now ? Verdict::Dead : $this->verdict($head->tags, $head->epoch, $head->version, $now);
    }

    /**
     * Without a clock nothing lives that has tags, nor can anything be stored that was computed before. So where the disk has
     * no room for a new one, the old one is removed: that takes none.
     *
     * @param list<string> $tags
     *
     * @throws StoreUnavailable
     */
    public function invalidate(array $tags, int $serveStale, int $now): void
    {
        $this->folder->check();
        $this->folder->see($this->folder->path);
        if (!file_exists("{$this->folder->path}/clock")) {
            return;
        }
        $this->folder->locked("{$this->folder->path}/tags", function () use ($tags, $serveStale, $now): void {
            try {
                $this->move($this->read() ?? $this->begin(), $tags, $serveStale, $now);
            } catch (StoreUnavailable $failure) {
                if (!Folder::unlink("{$this->folder->path}/clock")) {
                    throw $failure;
                }
            }
        });
    }

    /**
     * @param array{string, int, string} $clock
     * @param list<string>               $tags
     *
     * @throws StoreUnavailable
     */
    private function move(array $clock, array $tags, int $serveStale, int $now): void
    {
        [$epoch, $tick, $bits] = $clock;
        $slots = [];
        foreach ($tags as $tag) {
            [$slot, $name] = TagSlot::place($tag);
            // What a slot that was lost has known was no later than the last tick. A file of one that there is not is another epoch's.
            $bytes = $slots[$slot] ??= self::has($bits, $slot) ? $this->slot($slot) ?? TagSlot::made($tick) : TagSlot::made(0);
            $slots[$slot] = TagSlot::with($bytes, $name, TagSlot::version($bytes, $name)->invalidated($tick + 1, $serveStale, $now));
        }
        foreach ($slots as $slot => $bytes) {
            $this->write($this->pathOf($slot), $bytes);
            $bits[$slot >> 3] = \chr(\ord($bits[$slot >> 3]) | 1 << ($slot & 7));
        }
        $this->write("{$this->folder->path}/clock", $epoch . pack('J', $tick + 1) . $bits);
    }

    /**
     * @return ?array{string, int, string} epoch, tick and bits
     *
     * @phpstan-impure others change it
     */
    private function read(): ?array
    {
        $bytes = $this->folder->directory->contents("{$this->folder->path}/clock", self::BYTES + 1);
        if ($bytes === null || \strlen($bytes) !== self::BYTES || str_starts_with($bytes, self::NO_EPOCH)) {
            return null;
        }
        $tick = unpack('J', $bytes, 8)[1] ?? 0;

        return [substr($bytes, 0, 8), \is_int($tick) ? $tick : 0, substr($bytes, 16)];
    }

    /** @return array{string, int, string} */
    private function begin(): array
    {
        $clock = [random_bytes(8), 1, str_repeat("\0", TagSlot::SLOTS >> 3)];
        $this->write("{$this->folder->path}/clock", $clock[0] . pack('J', $clock[1]) . $clock[2]);

        return $clock;
    }

    private function slot(int $slot): ?string
    {
        $bytes = $this->folder->directory->contents($this->pathOf($slot));

        return $bytes !== null && TagSlot::isOne($bytes) ? $bytes : null;
    }

    private function pathOf(int $slot): string
    {
        return "{$this->folder->path}/tags/" . sprintf('%03x', $slot);
    }

    private static function has(string $bits, int $slot): bool
    {
        return (\ord($bits[$slot >> 3]) & 1 << ($slot & 7)) !== 0;
    }

    /**
     * By another file that takes the name, and not in place, although the bytes are few and the file is locked: readers take no
     * lock, and may see an overwrite half done. Half of the old clock with half of the new is a clock, too, and one with the new
     * tick but without the bit of the slot that was invalidated would have what is dead live on. So is the file that a process
     * leaves that is killed while it writes, or a disk that is full.
     */
    private function write(string $path, string $bytes): void
    {
        if (!$this->folder->replace($path, $bytes)) {
            throw $this->folder->unavailable('the tags\' clock cannot be written');
        }
    }
}
