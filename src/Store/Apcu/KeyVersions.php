<?php

declare(strict_types=1);

namespace Larder\Store\Apcu;

use Larder\Exception\StoreUnavailable;
use Larder\Token;

/**
 * By what fills are judged, and by what readers judge them:
 *
 *     m<key>   a miss: the tick of the key's first miss; until it is filled, for a minute at most
 *     g<n>     a key version, shared by keys whose hashes are alike: the tick at which a miss found none (see begin)
 *     k<key>   the mark of a filled item
 *
 * A write or delete removes the miss and the key version, then the mark, and stores or removes the item. It removes them once more if
 * a process has missed the key meanwhile. All of that is one moment, under APCu's lock. So is a fill. It first looks whether the miss of its token is
 * still there. Another fill may have removed the miss, or the fill took longer than misses last. Then the key version has to be
 * there and must not be younger than the token. It adds a mark with a new random name, or takes the mark that is there. Last it stores
 * the value with the mark's name in it, which every reader compares with the mark. What came in between would find the fill's item, or lie under it.
 * The loss of any of these entries is a miss or a refusal.
 *
 * To count is a write, too; but a busy counter must not refuse fills of other keys. So it moves nothing unless there is a miss of
 * its own key, for which it looks before and after. A fill that only has a key version never takes a counter's place.
 *
 * A copy of what another store has (see ApcuStore::keep()) needs less. Its token is the very number that the key version has, or gets, of which there is never another.
 * It is compared under APCu's lock, in the moment in which the copy is stored. One that is forgotten first loses its key version, and then the entry.
 */
final class KeyVersions
{
    /** How often something is tried that others may be trying, too; then it is as good as lost. */
    private const TRIES = 8;

    /** A power of two. */
    private const KEY_VERSIONS = 2_048;

    /** Seconds that a miss is remembered by its key. What takes longer may be refused because of a neighbour. */
    private const MISSES_LAST = 60;

    /** @param string $internal what begins the names */
    public function __construct(
        private readonly string $internal,
        private readonly TagVersions $clock,
        private readonly Section $section,
    ) {}

    /** @throws StoreUnavailable */
    public function token(string $key): Token
    {
        $this->begin($this->keyVersion($key));
        $this->clock->beginTags();
        $miss = apcu_fetch($this->miss($key));
        for ($tries = 0; $tries < self::TRIES && !\is_int($miss); $tries++) {
            $now = $this->clock->tick();
            if (apcu_add($this->miss($key), $now, self::MISSES_LAST)) {
                return new Token("{$this->internal}{$now}", $now);
            }
            $miss = apcu_fetch($this->miss($key));
        }

        return new Token($this->internal . (\is_int($miss) ? $miss : ''), $this->clock->now());
    }

    /** The token of a copy. A version below zero there refuses all other tokens (see begin). */
    public function ofCopy(string $key): Token
    {
        $name = $this->keyVersion($key);
        $keyVersion = apcu_fetch($name);
        if (!\is_int($keyVersion)) {
            $this->clock->beginTags();
            $keyVersion = -$this->clock->tick();
            if (!apcu_add($name, $keyVersion)) {
                $keyVersion = apcu_fetch($name);
            }
        }

        return new Token($this->internal . (\is_int($keyVersion) ? $keyVersion : ''), $this->clock->now());
    }

    /** Whether nothing was written, deleted or forgotten that shares the key's key version, since the token of a copy. */
    public function isOfCopy(string $key, Token $token): bool
    {
        $keyVersion = apcu_fetch($this->keyVersion($key));

        return \is_int($keyVersion) && $token->epoch === "{$this->internal}{$keyVersion}";
    }

    /** Refuses the copies that are in flight. */
    public function moveCopies(string $key): void
    {
        apcu_delete($this->keyVersion($key));
    }

    /** Whether the miss of the token is still the key's: then nothing was written or deleted, nor counted. */
    public function isMissed(string $key, Token $token): bool
    {
        $miss = apcu_fetch($this->miss($key));

        return \is_int($miss) && $token->epoch === "{$this->internal}{$miss}";
    }

    /** Whether nothing was written or deleted that shares the key's key version. */
    public function hasKeyVersion(string $key, Token $token): bool
    {
        $keyVersion = apcu_fetch($this->keyVersion($key));

        return str_starts_with($token->epoch, $this->internal) && \is_int($keyVersion) && $keyVersion > 0 && $keyVersion <= $token->version;
    }

    /** Whether a fill of the key may be in flight that began less than a minute ago. */
    public function isAwaited(string $key): bool
    {
        return apcu_exists($this->miss($key));
    }

    /** Refuses the fills that are in flight, also what they have stored. */
    public function move(string $key): void
    {
        $this->forget($key);
        apcu_delete($this->keyVersion($key));
        $this->unmark($key);
    }

    /** The miss has been answered, or is not to be: fills that are still in flight are judged by the key version alone. */
    public function forget(string $key): void
    {
        apcu_delete($this->miss($key));
    }

    /** The mark of a key's fills, made if there is none; null: it cannot be. */
    public function marked(string $key, ?int $ttl): ?int
    {
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $mark = $this->clock->tick();
            if (apcu_add($this->mark($key), $mark, Wrapping::ttl($ttl))) {
                return $mark;
            }
            $there = apcu_fetch($this->mark($key));
            if (\is_int($there) && $this->prolong($this->mark($key), $there, $ttl)) {
                return $there;
            }
        }

        return null;
    }

    public function isMarked(string $key, mixed $mark): bool
    {
        return apcu_fetch($this->mark($key)) === $mark;
    }

    /** Under APCu's lock. */
    public function markAgain(string $key, int $mark, ?int $ttl): void
    {
        apcu_store($this->mark($key), $mark, Wrapping::ttl($ttl));
    }

    public function unmark(string $key): void
    {
        apcu_delete($this->mark($key));
    }

    /**
     * Removes marks without an item: each is at worst that of a fill in flight, which is then a miss.
     *
     * @param string $items what begins the items' names
     */
    public function prune(string $items): void
    {
        $marks = $this->mark('');
        foreach (new \APCUIterator('/^' . preg_quote($marks, '/') . '/', \APC_ITER_KEY) as $name => $about) {
            if (!apcu_exists($items . substr($name, \strlen($marks)))) {
                apcu_delete($name);
            }
        }
    }

    /**
     * A key version has to be younger than every token that was given out before it was there. So it first gets a number below
     * zero that no other process uses, which refuses, and then, if that is still there, the tick of the moment.
     */
    private function begin(string $keyVersion): void
    {
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $there = apcu_fetch($keyVersion);
            if (\is_int($there) && $there > 0) {
                return;
            }
            \is_int($there) ? apcu_cas($keyVersion, $there, $this->clock->tick()) : apcu_add($keyVersion, -$this->clock->tick());
        }
    }

    private function miss(string $key): string
    {
        return "{$this->internal}m{$key}";
    }

    private function keyVersion(string $key): string
    {
        return "{$this->internal}g" . (crc32($key) & self::KEY_VERSIONS - 1);
    }

    private function mark(string $key): string
    {
        return "{$this->internal}k{$key}";
    }

    /**
     * A fill that is stored while an older one lives must not die with the older one's mark. And a mark that was removed
     * meanwhile must not come back.
     */
    private function prolong(string $mark, int $there, ?int $ttl): bool
    {
        return $this->section->atomically(static fn(): bool => apcu_fetch($mark) === $there && apcu_store($mark, $there, Wrapping::ttl($ttl)));
    }
}
