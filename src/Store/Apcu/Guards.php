<?php

declare(strict_types=1);

namespace Larder\Store\Apcu;

use Larder\Exception\StoreUnavailable;
use Larder\Token;

/**
 * By what fills are judged, and by what readers judge them:
 *
 *     g<n>     a guard, shared by keys whose hashes are alike: the tick at which a miss found none (see begin)
 *     k<key>   the mark of a filled item
 *
 * A write or delete removes the guard, then the mark, then it stores or removes the item. A fill first puts a mark that
 * nobody had before, or takes the one that is there; then it looks whether the guard is there and not younger than its
 * token; then it stores the value with the mark's name in it, which every reader compares with the mark. If a delete
 * comes in between, either the fill finds no guard, or the delete finds the mark: what a process that was stopped there
 * stores an hour later is a miss. Whatever of all this is lost, is a miss or a refusal.
 */
final class Guards
{
    /** How often something is tried that others may be trying, too; then it is as good as lost. */
    private const TRIES = 8;

    /** A power of two. */
    private const GUARDS = 2_048;

    /** @param string $internal what begins the names */
    public function __construct(
        private readonly string $internal,
        private readonly Clock $clock,
        private readonly Section $section,
    ) {}

    /** @throws StoreUnavailable */
    public function token(string $key): Token
    {
        $this->begin($this->guard($key));
        $this->clock->beginTags();

        return new Token($this->internal, $this->clock->now());
    }

    public function hasNotMoved(string $key, Token $token): bool
    {
        $guard = apcu_fetch($this->guard($key));

        return $token->epoch === $this->internal && \is_int($guard) && $guard > 0 && $guard <= $token->clock;
    }

    /** Refuses the fills that are under way, and leaves the item that is there. */
    public function refuse(string $key): void
    {
        apcu_delete($this->guard($key));
    }

    /** Refuses the fills that are under way, also what they have stored. */
    public function move(string $key): void
    {
        $this->refuse($key);
        $this->unmark($key);
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
     * Removes marks without an item: each is at worst that of a fill under way, which is then a miss.
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
     * A guard has to be younger than every token that was given out before it was there. So it first gets a number below
     * zero that nobody else uses, which refuses, and then, if that is still there, the tick of the moment.
     */
    private function begin(string $guard): void
    {
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $there = apcu_fetch($guard);
            if (\is_int($there) && $there > 0) {
                return;
            }
            \is_int($there) ? apcu_cas($guard, $there, $this->clock->tick()) : apcu_add($guard, -$this->clock->tick());
        }
    }

    private function guard(string $key): string
    {
        return "{$this->internal}g" . (crc32($key) & self::GUARDS - 1);
    }

    private function mark(string $key): string
    {
        return "{$this->internal}k{$key}";
    }

    /**
     * What is filled while an older fill lives must not die with the older one's mark; and a mark that was removed
     * meanwhile must not come back.
     */
    private function prolong(string $mark, int $there, ?int $ttl): bool
    {
        return $this->section->atomically(static fn(): bool => apcu_fetch($mark) === $there && apcu_store($mark, $there, Wrapping::ttl($ttl)));
    }
}
