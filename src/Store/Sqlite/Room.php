<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;

/** Room in a database that may grow to some size only, or whose disk is full: made where that can be done, else done without. */
final class Room
{
    /** How often room is made for one piece of work. */
    private const TRIES = 8;

    /** There is none in a transaction that is open: what can do without any does. */
    private bool $isWithout = false;

    /**
     * @param ?int $size   bytes that the database grows to at most
     * @param bool $evicts whether a full database makes room by dropping items
     */
    public function __construct(
        private readonly Database $database,
        private readonly Sweep $sweep,
        private readonly ?int $size,
        private readonly bool $evicts,
    ) {}

    /**
     * Does the work; if the database is full, after making room.
     *
     * @template T
     *
     * @param \Closure(): T  $work
     * @param ?\Closure(): T $otherwise if there is none to be made
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    public function for(\Closure $work, ?\Closure $otherwise = null): mixed
    {
        if ($this->isWithout && $otherwise !== null) {
            return $otherwise();
        }
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            try {
                return $work();
            } catch (Full) {
                if (!$this->evicts || !$this->evict()) {
                    break;
                }
            }
        }
        try {
            return $otherwise === null ? $work() : $otherwise();
        } catch (Full) {
            throw StoreUnavailable::because(
                "The SQLite database \"{$this->database->path}\"",
                'it is full and nothing can be evicted',
                'free some space on its disk, or raise the option size',
                takesNothing: true,
            );
        }
    }

    /**
     * Takes a note of some work and does it, in one transaction.
     *
     * @param \Closure(): mixed $work
     * @param \Closure(): void  $note
     * @param \Closure(): void  $stopgap instead of the note, if there is no room for it; needs none
     *
     * @throws StoreUnavailable
     */
    public function together(\Closure $work, \Closure $note, \Closure $stopgap): mixed
    {
        $all = fn(\Closure $note): mixed => $this->database->atomically(static function () use ($work, $note): mixed {
            // First, so that what is not there yet is made before the work is begun: it may ask objects what they are made of.
            $note();

            return $work();
        });

        return $this->for(fn(): mixed => $all($note), function () use ($all, $stopgap): mixed {
            $this->isWithout = true;
            try {
                return $all($stopgap);
            } finally {
                $this->isWithout = false;
            }
        });
    }

    /** Removes some of what is dead. */
    public function tidy(): void
    {
        try {
            $this->sweep->removeDead();
        } catch (StoreUnavailable|Full) {
            // What is dead can wait.
        }
    }

    private function evict(): bool
    {
        try {
            return $this->sweep->evict((int) $this->size >> 4);
        } catch (Full) {
            return false;
        }
    }
}
