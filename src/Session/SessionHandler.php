<?php

declare(strict_types=1);

namespace Larder\Session;

use Larder\Cache;
use Larder\Cache\Far;
use Larder\Cache\Gate;
use Larder\Exception\InvalidOption;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\Lock;
use Larder\Store;
use Larder\Store\Retention;
use Larder\Tidying;
use Psr\Log\LoggerInterface;

/**
 * PHP's sessions in a cache, one request at a time:
 *
 *     session_set_save_handler(new SessionHandler(Cache::open('redis://127.0.0.1')));
 *     session_start();
 *
 * From session_start() to the end of the session's use only one process has it; others wait. What did not change is
 * not written again: its time is prolonged, and that only when a tenth of it is over.
 *
 * A request that has the session for too long can lose it to another one. Its changes are still saved if the other request has changed
 * nothing. Otherwise they are not saved: PHP warns, and the logger is told.
 *
 * Sessions are no cache: they are never judged as fills, and want a store that does not evict. When the store fails, or the lock cannot
 * be had, session_start() fails, rather than begin an empty session over a full one. If the store has no room for a change, PHP warns,
 * and the session stays as it was.
 */
final class SessionHandler implements \SessionHandlerInterface, \SessionUpdateTimestampHandlerInterface
{
    /** Seconds. Stores that count whole seconds keep a lock for up to two more, and those who wait look for its end now and then. */
    private const AFTER_THE_LONGEST = 5.0;

    private readonly Store $store;

    private readonly Gate $gate;

    private readonly float $wait;

    private readonly int $lifetime;

    private ?Lock $lock = null;

    /** The item of the session that is open, as it was read; null: there was none. */
    private ?Item $read = null;

    /** The id of a session that could not be read. PHP does not write it then, but a handler around this one may let it begin empty. */
    private ?string $unread = null;

    /**
     * @param ?int   $lifetime seconds that a session lives after its last use; null: PHP's session.gc_maxlifetime
     * @param bool   $locking  false: requests of one session at the same time overwrite each other's changes
     * @param float  $longest  seconds after which another request may have the session although this one has not ended
     * @param ?float $wait     seconds to wait for another request that has it; null: a little longer than `longest`, so that the session is free by then
     * @param string $prefix   of the keys
     *
     * @throws InvalidOption
     * @throws UnsupportedOperation if the store may remove a session before its time is over
     */
    public function __construct(
        private readonly Cache $cache,
        ?int $lifetime = null,
        private readonly bool $locking = true,
        private readonly float $longest = 60.0,
        ?float $wait = null,
        private readonly string $prefix = 'session:',
        private readonly ?LoggerInterface $logger = null,
    ) {
        $this->wait = $wait ?? $longest + self::AFTER_THE_LONGEST;
        $this->store = $cache->store;
        Retention::demand($this->store);
        $this->lifetime = $lifetime ?? (int) \ini_get('session.gc_maxlifetime');
        if ($this->lifetime < 1) {
            throw InvalidOption::range('lifetime', $this->lifetime, 'at least 1 second');
        }
        $this->gate = new Gate($this->store, $logger, false, null, static fn(): float => microtime(true));
    }

    public function open(string $path, string $name): bool
    {
        return true;
    }

    public function close(): bool
    {
        $this->read = null;
        $this->lock?->release();
        $this->lock = null;

        return true;
    }

    /** Whether there is such a session: PHP asks if session.use_strict_mode is on, and makes another id if not. */
    public function validateId(string $id): bool
    {
        return self::isLegal($id) && $this->fetch($id)?->items !== [];
    }

    public function read(string $id): string|false
    {
        $this->unread = $id;
        if (!self::isLegal($id) || !$this->lock($id)) {
            return false;
        }
        $fetched = $this->fetch($id);
        if ($fetched === null) {
            $this->close();

            return false;
        }
        $this->unread = null;
        $this->read = array_values($fetched->items)[0] ?? null;
        $data = $this->read->value ?? '';

        return \is_string($data) ? $data : '';
    }

    public function write(string $id, string $data): bool
    {
        if ($id === $this->unread) {
            $this->logger?->warning('A session is not saved, because it could not be read before.');

            return false;
        }
        // After a new id was made, the session that is written is not the one that was locked.
        if (!self::isLegal($id) || !$this->lock($id) || ($this->lock?->refresh() === false && !$this->lockAgain($id))) {
            return false;
        }
        $key = $this->prefix . $id;
        $item = new Item($key, $data, $this->lifetime, keeps: true);

        return $this->gate->attempt(static fn(Store $store): array => $store->save([$item])) === [];
    }

    /** PHP calls this instead of write() if session.lazy_write is on, which it is, and nothing has changed. */
    public function updateTimestamp(string $id, string $data): bool
    {
        if ($this->read === null || $this->read->key !== $this->prefix . $id) {
            return $this->write($id, $data);
        }
        if ($this->read->expiry === null || $this->read->expiry - time() > 0.9 * $this->lifetime) {
            return true;
        }
        $key = $this->read->key;

        return $this->gate->attempt(fn(Store $store): array => $store->touch([$key], $this->lifetime)) === [$key];
    }

    public function destroy(string $id): bool
    {
        $key = $this->prefix . $id;

        return self::isLegal($id) && $this->gate->attempt(static fn(Store $store): array => $store->delete([$key])) !== null;
    }

    /** A visitor waits for it, so it does no more than a store that needs it can do in a moment. */
    public function gc(int $max_lifetime): int|false
    {
        return $this->gate->attempt(static fn(Store $store): int => $store instanceof Tidying ? $store->tidy() : 0) ?? false;
    }

    private function lock(string $id): bool
    {
        if (!$this->locking) {
            return true;
        }
        $name = "session:{$id}";
        if ($this->lock !== null && $this->lock->name === $name) {
            return true;
        }
        $this->lock?->release();
        $lock = $this->cache->lock($name, $this->longest);
        $this->lock = $lock->acquire($this->wait) ? $lock : null;

        return $this->lock !== null;
    }

    /** The lock has ended. What others have done since may only be overwritten if it has changed nothing. */
    private function lockAgain(string $id): bool
    {
        $key = $this->prefix . $id;
        $fetched = $this->lock?->acquire($this->wait) === true ? $this->fetch($id) : null;
        $before = $this->read?->key === $key ? $this->read->value : null;
        if ($fetched !== null && ($fetched->items[$key]->value ?? null) === $before) {
            return true;
        }
        $this->logger?->warning('The changes of a request to its session are not saved. It had the session for too long, and another request has changed or locked it since.', [
            'longest' => $this->longest,
        ]);

        return false;
    }

    private function fetch(string $id): ?Fetched
    {
        $key = $this->prefix . $id;

        // A near copy may be the session as it was when an earlier request of this process began.
        return $this->gate->attempt(static fn(Store $store): Fetched => Far::fetch($store, [$key]));
    }

    /** What session_create_id() makes, and nothing else that a browser may send. */
    private static function isLegal(string $id): bool
    {
        return preg_match('/^[A-Za-z0-9,-]{1,256}$/D', $id) === 1;
    }
}
