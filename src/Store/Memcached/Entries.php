<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

use Larder\Exception\StoreUnavailable;
use Larder\Store\Verdict;

/** The entries on one server: how they are put there, and whether what lies there lives. */
final class Entries
{
    /** For how long the server keeps an item that has expired, so that a fill finds its lineage; in seconds. */
    public const LINGERS = 60;

    /** A hole lasts as long as a computation may take; in seconds. */
    private const HOLE_LASTS = 86_400;

    public function __construct(
        private readonly Server $server,
        private readonly TagVersions $clock,
        private readonly Names $names,
        private readonly Values $values,
    ) {}

    public function verdict(?Entry $entry, int $now): Verdict
    {
        return $entry === null || $entry->kind === Entry::HOLE || $entry->hasExpired($now)
            ? Verdict::Dead
            : $this->clock->verdict($entry->tags, $entry->version, $now);
    }

    public function living(string $key, string $bytes): ?Entry
    {
        $entry = $this->names->entry($key, $bytes);

        return $this->verdict($entry, time()) === Verdict::Live ? $entry : null;
    }

    /**
     * Whether there is something that lives and can be read.
     *
     * @param ?array{string, int|float} $there
     *
     * @throws StoreUnavailable
     */
    public function lives(string $key, string $epoch, ?array $there): bool
    {
        $entry = $there === null ? null : $this->living($key, $there[0]);

        return $entry !== null && $this->values->of($key, $entry, $epoch) !== $this->values->nothing;
    }

    /**
     * @param ?array{string, int|float} $there what lies there, and what a swap has to name
     *
     * @throws StoreUnavailable
     */
    public function put(?array $there, string $name, Entry $entry, string $key): Outcome
    {
        return $there === null
            ? $this->server->add($name, $entry->bytes($this->names->kept($key)), $this->serverExpiry($entry))
            : $this->swap($there[1], $name, $entry, $key);
    }

    /** @throws StoreUnavailable */
    public function swap(int|float $cas, string $name, Entry $entry, string $key): Outcome
    {
        return $this->server->swap($cas, $name, $entry->bytes($this->names->kept($key)), $this->serverExpiry($entry));
    }

    private function serverExpiry(Entry $entry): ?int
    {
        return match (true) {
            $entry->kind === Entry::HOLE => time() + self::HOLE_LASTS,
            $entry->expiry === null => null,
            default => $entry->expiry + self::LINGERS,
        };
    }
}
