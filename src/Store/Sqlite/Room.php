<?php

declare(strict_types=1);

namespace Larder\Store\Sqlite;

use Larder\Exception\StoreUnavailable;

/** Room in a database that may grow to some size only, or whose disk is full: made where that can be done, else done without. */
final class Room
{
    /** How often room is made for one piece of work. */
    private const TRIES = 8;

    /** What goes at first is the size shifted by so much, and twice as much each further time: an item may be half as large as all. */
    private const LEAST = 6;

    /** There is none in a transaction that is open: all that can do without any does. */
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
                $result = $work();
                $this->database->keepLogShort();

                return $result;
            } catch (Full) {
                if (!$this->evicts || !$this->evict((int) $this->size >> self::LEAST << $tries)) {
                    break;
                }
            }
        }

        return $otherwise === null ? $work() : $otherwise();
    }

    /**
     * Does what invalidates: once more where the disk was full, as the log has been emptied then (see Database), and where it has no
     * room at all by a notice beside the database.
     *
     * @template T
     *
     * @param \Closure(): T $work
     * @param \Closure(): T $notice gives the notice; in a transaction, and at most twice
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    public function byNotice(\Closure $work, \Closure $notice): mixed
    {
        try {
            return $this->twice($work);
        } catch (StoreUnavailable $failure) {
            if (!$failure->takesNothing) {
                throw $failure;
            }
        }
        try {
            return $this->database->atomically($notice);
        } catch (StoreUnavailable $failure) {
            return $failure->takesNothing && !$this->database->isShared() ? $this->database->alone($notice) : throw $failure;
        }
    }

    /**
     * Does work that begins others, in one transaction; without room, if there is none to be made.
     *
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    public function atomically(\Closure $work): mixed
    {
        return $this->for(fn(): mixed => $this->database->atomically($work), fn(): mixed => $this->without($work));
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
        $all = static fn(\Closure $note): \Closure => static function () use ($work, $note): mixed {
            // First, so that what is not there yet is made before the work is begun: it may ask objects what they are made of.
            $note();

            return $work();
        };

        return $this->for(fn(): mixed => $this->database->atomically($all($note)), fn(): mixed => $this->without($all($stopgap)));
    }

    /**
     * Removes some of what is dead.
     *
     * @return int how many items
     */
    public function tidy(): int
    {
        try {
            return $this->sweep->removeDead();
        } catch (StoreUnavailable) {
            // Dead items can wait.
            return 0;
        }
    }

    /**
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    private function twice(\Closure $work): mixed
    {
        try {
            return $work();
        } catch (StoreUnavailable $failure) {
            if (!$failure->takesNothing) {
                throw $failure;
            }
        }

        return $work();
    }

    /**
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     */
    private function without(\Closure $work): mixed
    {
        $this->isWithout = true;
        try {
            return $this->database->atomically($work);
        } finally {
            $this->isWithout = false;
        }
    }

    private function evict(int $bytes): bool
    {
        try {
            return $this->sweep->evict($bytes);
        } catch (Full) {
            return false;
        }
    }
}
