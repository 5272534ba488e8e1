<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

use Larder\Exception\StoreUnavailable;

/**
 * Reads items together with the clock that judges them, and with the slots of tags that they needed last time. That is one
 * round trip, unless another process has cleared meanwhile.
 */
final class Reading
{
    /** Of so many keys is remembered which slots of tags they needed. */
    private const MOST_KNOWN = 4_096;

    /** @var array<array-key, list<int>> the slots of tags that a key's item needed when it was last read */
    private array $known = [];

    public function __construct(
        private readonly Server $server,
        private readonly TagVersions $clock,
        private readonly Names $names,
    ) {}

    /**
     * Sends what values() asks for.
     *
     * @param non-empty-list<string> $keys
     */
    public function announce(array $keys): void
    {
        if ($this->clock->knownEpoch() !== '') {
            $this->server->announce($this->all($keys));
        }
    }

    /**
     * @param non-empty-list<string> $keys
     *
     * @return array{string, array<array-key, string>} the epoch, and the answers by name
     *
     * @throws StoreUnavailable
     */
    public function values(array $keys): array
    {
        return $this->look($keys, $this->server->read(...), static fn(string $bytes): string => $bytes);
    }

    /**
     * @param list<string> $keys
     *
     * @return array{string, array<array-key, array{string, int|float}>} the epoch; and by key what is there
     */
    public function swappable(array $keys): array
    {
        if ($keys === []) {
            $this->clock->refresh();

            return [$this->clock->epoch(), []];
        }
        [$epoch, $found] = $this->look($keys, $this->server->swappable(...), static fn(array $there): string => $there[0]);
        $there = [];
        foreach ($keys as $key) {
            $name = $this->names->item($key, $epoch);
            if (isset($found[$name])) {
                $there[$key] = $found[$name];
            }
        }

        return [$epoch, $there];
    }

    /** @return ?array{string, int|float} what lies there now */
    public function again(string $key, string $epoch): ?array
    {
        $name = $this->names->item($key, $epoch);

        return $this->server->swappable([$name])[$name] ?? null;
    }

    /**
     * Reads the clock, the items and the slots of tags that these needed last time: one round trip, unless the store was cleared.
     *
     * @template T
     *
     * @param non-empty-list<string>                               $keys
     * @param \Closure(non-empty-list<string>): array<array-key, T> $read
     * @param \Closure(T): string                                   $bytes
     *
     * @return array{string, array<array-key, T>} the epoch, and the answers by name
     */
    private function look(array $keys, \Closure $read, \Closure $bytes): array
    {
        do {
            $epoch = $this->clock->epoch();
            $found = $read($this->all($keys));
            $clock = $found[$this->clock->name()] ?? null;
            $this->clock->take($clock === null ? null : $bytes($clock));
        } while ($epoch !== $this->clock->knownEpoch());

        return [$epoch, $found];
    }

    /**
     * @param non-empty-list<string> $keys
     *
     * @return non-empty-list<string>
     */
    private function all(array $keys): array
    {
        $epoch = $this->clock->epoch();
        $names = [$this->clock->name() => true];
        foreach ($keys as $key) {
            $names[$this->names->item($key, $epoch)] = true;
            foreach ($this->known[$key] ?? [] as $slot) {
                $names[$this->clock->slotName($epoch, $slot)] = true;
            }
        }

        return array_map(strval(...), array_keys($names));
    }

    /** @param list<int> $slots */
    public function remember(string $key, array $slots): void
    {
        unset($this->known[$key]);
        if ($slots !== []) {
            $this->known[$key] = $slots;
            if (\count($this->known) > self::MOST_KNOWN) {
                unset($this->known[array_key_first($this->known)]);
            }
        }
    }

    public function forget(): void
    {
        $this->known = [];
    }
}
