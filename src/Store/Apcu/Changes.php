<?php

declare(strict_types=1);

namespace Larder\Store\Apcu;

use Larder\Cache\Counter;
use Larder\Exception\NotACounter;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\SaveMode;
use Larder\Store\Verdict;
use Larder\Token;

/** Changes single entries (see ApcuStore for how items are judged). */
final class Changes
{
    /** @param string $prefix what begins the names of items */
    public function __construct(
        private readonly string $prefix,
        private readonly TagVersions $clock,
        private readonly KeyVersions $keyVersions,
        private readonly Entries $entries,
        private readonly Section $section,
    ) {}

    /**
     * @param ?string $told the payload of a value with objects of a user's classes
     *
     * @return bool whether it was stored
     *
     * @throws \Throwable what a value throws when APCu asks for its form
     */
    public function save(Item $item, SaveMode $mode, ?string $told): bool
    {
        // New truth that was made from something else is judged and stored in one moment, which is rare enough.
        return $item->token !== null && !$item->fill
            ? $this->section->atomically(fn(): bool => $this->judgeAndSave($item, $mode, $told))
            : $this->judgeAndSave($item, $mode, $told);
    }

    /**
     * Adds a copy: the look whether it is current, and the storing, are one call of APCu's.
     *
     * @param ?string $told the payload of a value with objects of a user's classes
     *
     * @throws \Throwable what a value throws when APCu asks for its form
     */
    public function keep(Item $item, Token $token, ?int $ttl, ?string $told): void
    {
        $isThere = true;
        try {
            apcu_entry($this->prefix . $item->key, function () use ($item, $token, $ttl, $told, &$isThere): mixed {
                $isThere = false;

                return $this->copy($item, $token, $ttl, $told);
            }, Wrapping::ttl($ttl));
        } catch (Late) {
            return;
        }
        if ($isThere && !$this->entries->isLive($item->key)) {
            // It is dead without APCu knowing it.
            $this->section->atomically(function () use ($item, $token, $ttl, $told): void {
                try {
                    $this->entries->isLive($item->key) || $this->store($item->key, $this->copy($item, $token, $ttl, $told), $ttl);
                } catch (Late) {
                    // The next one that reads it from the far store keeps it.
                }
            });
        }
    }

    public function forget(string $key): void
    {
        // In this order: a copy that is in flight finds its key version gone, or is there by now.
        $this->keyVersions->moveCopies($key);
        apcu_delete($this->prefix . $key);
    }

    /** @return bool whether there was something live, and it is deleted */
    public function delete(string $key, ?Token $token): bool
    {
        // The look and the removal are one moment. Else this removes what another process adds in between, and says that nothing existed.
        return $this->section->atomically(function () use ($key, $token): bool {
            if ($token !== null && !$this->isUnchanged($key, $token)) {
                return false;
            }
            $live = $this->entries->isLive($key);
            $this->keyVersions->move($key);

            return apcu_delete($this->prefix . $key) === true && $live;
        });
    }

    /**
     * @throws NotACounter
     * @throws StoreUnavailable
     */
    public function increment(string $key, int $by, int $initial, ?int $ttl): int
    {
        $name = $this->prefix . $key;
        do {
            $value = apcu_fetch($name, $found);
            if ($found === true && \is_int($value)) {
                $sum = Counter::sum($key, $value, $by);
                $this->moveIfAwaited($key);
                if ($this->changing($key, static fn(): bool => apcu_cas($name, $value, $sum))) {
                    return $sum;
                }
                continue;
            }
            if ($found === true) {
                return $this->section->atomically(fn(): int => $this->incrementWrapped($key, $by, $initial, $ttl));
            }
            $this->keyVersions->move($key);
            $sum = Counter::sum($key, $initial, $by);
            if (($ttl !== null && $ttl <= 0) || $this->add($key, Wrapping::of($sum, $ttl), $ttl)) {
                return $sum;
            }
            if (!$this->entries->isLive($key) && !$this->store($key, Wrapping::of($sum, $ttl), $ttl)) {
                throw TagVersions::full();
            }
        } while (true);
    }

    /** @return bool whether there was something live */
    public function touch(string $key, ?int $ttl): bool
    {
        return $this->section->atomically(function () use ($key, $ttl): bool {
            [$value, $verdict, $wrapping, $payload] = $this->entries->look($key);
            if ($verdict !== Verdict::Live) {
                return false;
            }
            if ($wrapping[2] !== null) {
                $this->keyVersions->markAgain($key, $wrapping[2], $ttl);
            }
            // What APCu's own serializer was not given, it is not given now either.
            $this->store($key, Wrapping::of($payload ?? $value, $ttl, $wrapping[0], $wrapping[1], $wrapping[2], $payload !== null), $ttl);

            return true;
        });
    }

    private function judgeAndSave(Item $item, SaveMode $mode, ?string $told): bool
    {
        $may = $mode === SaveMode::Set || $this->entries->isLive($item->key) === ($mode === SaveMode::Replace);
        if (!$may || !$this->isCurrent($item)) {
            return false;
        }
        $isWrite = !$item->fill;
        if ($item->ttl !== null && $item->ttl <= 0) {
            $remove = fn(): bool => $mode !== SaveMode::Add && apcu_delete($this->prefix . $item->key) === true;
            $isWrite ? $this->changing($item->key, $remove, true) : $remove();

            return true;
        }
        if ($item->tags !== []) {
            $this->clock->beginTags();
        }
        if ($isWrite) {
            return $this->changing($item->key, fn(): bool => $this->put($item, $mode, $told), $mode !== SaveMode::Replace);
        }

        return $item->token === null ? $this->put($item, $mode, $told) : $this->section->atomically(fn(): bool => $this->fill($item, $item->token, $mode, $told));
    }

    /**
     * Under APCu's lock. A fill that is overtaken between the look and the storing would lie there dead, in the place of what has overtaken
     * it, and would be told to have been stored.
     */
    private function fill(Item $item, Token $token, SaveMode $mode, ?string $told): bool
    {
        $mark = $this->isUnchanged($item->key, $token) ? $this->keyVersions->marked($item->key, $item->ttl) : null;
        if ($mark === null || !$this->put($item, $mode, $told, $mark)) {
            return false;
        }
        $this->keyVersions->forget($item->key);

        return true;
    }

    /** @param ?int $mark of a fill that is judged */
    private function put(Item $item, SaveMode $mode, ?string $told, ?int $mark = null): bool
    {
        $value = Wrapping::of($told ?? $item->value, $item->ttl, $item->token->version ?? ($item->tags === [] ? 0 : $this->clock->now()), $item->tags, $mark, $told !== null);

        return match ($mode) {
            SaveMode::Set => $this->store($item->key, $value, $item->ttl, $item->keeps),
            SaveMode::Add => $this->add($item->key, $value, $item->ttl),
            SaveMode::Replace => $this->section->atomically(function () use ($item, $value): bool {
                $lives = $this->entries->isLive($item->key);
                if (!$item->fill) {
                    // Not before, as an item that was filled dies of it.
                    $this->keyVersions->move($item->key);
                }

                return $lives && $this->store($item->key, $value, $item->ttl, $item->keeps);
            }),
        };
    }

    /**
     * The entry of APCu that a copy becomes. Under APCu's lock.
     *
     * @throws Late it is not current any more
     */
    private function copy(Item $item, Token $token, ?int $ttl, ?string $told): mixed
    {
        if (!$this->keyVersions->isOfCopy($item->key, $token)) {
            throw new Late();
        }
        if ($item->tags !== []) {
            // Readers judge it by them.
            $this->clock->beginTags();
        }

        return Wrapping::of($told ?? $item->value, $ttl, $token->version, $item->tags, null, $told !== null);
    }

    private function isCurrent(Item $item): bool
    {
        $token = $item->token;

        return $token === null || ($this->isUnchanged($item->key, $token)
            && ($item->tags === [] || $this->clock->verdict($item->tags, $token->version) === Verdict::Live));
    }

    /**
     * Changes an entry, and refuses what others have begun to make from what was there. That is one moment. Between the two, a process that
     * read the entry before the change could store what it made of it over the change.
     *
     * @param \Closure(): bool $change
     * @param bool            $moves  whether what was filled before dies first. Not before that moment: it would be missing until the change
     *
     * @return bool what it returned
     */
    private function changing(string $key, \Closure $change, bool $moves = false): bool
    {
        return $this->section->atomically(function () use ($key, $change, $moves): bool {
            $moves && $this->keyVersions->move($key);
            $changed = $change();
            $this->moveIfAwaited($key);

            return $changed;
        });
    }

    private function moveIfAwaited(string $key): void
    {
        if ($this->keyVersions->isAwaited($key)) {
            $this->keyVersions->move($key);
        }
    }

    /** Whether the key was neither written, deleted nor counted since. Of a counter only the key's own miss can tell. */
    private function isUnchanged(string $key, Token $token): bool
    {
        if ($this->keyVersions->isMissed($key, $token)) {
            return true;
        }
        [$value, , $wrapping] = $this->entries->look($key);

        return (!\is_int($value) || $wrapping[2] !== null) && $this->keyVersions->hasKeyVersion($key, $token);
    }

    /** @param mixed $value wrapped where it has to be */
    private function store(string $key, mixed $value, ?int $ttl, bool $keeps = false): bool
    {
        if (apcu_store($this->prefix . $key, $value, Wrapping::ttl($ttl))) {
            return true;
        }
        // Where APCu is full it may have dropped all that it had, and else has what was there before.
        $keeps || apcu_delete($this->prefix . $key);

        return false;
    }

    /** @param mixed $value wrapped where it has to be */
    private function add(string $key, mixed $value, ?int $ttl): bool
    {
        $add = fn(): bool => apcu_add($this->prefix . $key, $value, Wrapping::ttl($ttl));
        if ($add()) {
            return true;
        }

        // The entry in the way may be dead without APCu knowing it.
        return !$this->entries->isLive($key) && $this->section->atomically(fn(): bool => !$this->entries->isLive($key)
            && apcu_delete($this->prefix . $key)
            && $add());
    }

    private function incrementWrapped(string $key, int $by, int $initial, ?int $ttl): int
    {
        [$value, $verdict, $wrapping] = $this->entries->look($key);
        $sum = Counter::sum($key, $verdict === Verdict::Live ? $value : $initial, $by);
        $expiry = $verdict === Verdict::Live ? $this->entries->expiry($key) : null;
        if ($verdict !== Verdict::Live || $wrapping[2] !== null) {
            $this->keyVersions->move($key);
        } else {
            $this->moveIfAwaited($key);
        }
        if ($verdict !== Verdict::Live) {
            if ($ttl !== null && $ttl <= 0) {
                apcu_delete($this->prefix . $key);
            } elseif (!$this->store($key, Wrapping::of($sum, $ttl), $ttl)) {
                throw TagVersions::full();
            }

            return $sum;
        }
        $wrapped = apcu_fetch($this->prefix . $key);
        $until = \is_array($wrapped) ? $wrapped[1] ?? null : null;
        $counted = [Wrapping::MARK, $until ?? $expiry, $sum, $wrapping[0], $wrapping[1], null];
        if (!apcu_store($this->prefix . $key, $counted, Wrapping::ttl($expiry === null ? null : max(2, $expiry - time() + 1)))) {
            throw TagVersions::full();
        }
        $this->moveIfAwaited($key);

        return $sum;
    }
}
