<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

use Larder\Exception\StoreUnavailable;
use Larder\Token;

/** The tokens of keys on one server: the lineages of items, or of holes that are put in their place (see MemcachedStore). */
final class Tokens
{
    /** A dead item that will be there for so many seconds can be found by a fill; any other is replaced by a hole. */
    private const LASTS = 30;

    /** How often a hole is tried to be made in the midst of others' writes; then the fill will be refused. */
    private const TRIES = 8;

    public function __construct(
        private readonly Server $server,
        private readonly TagVersions $clock,
        private readonly Names $names,
        private readonly Reading $reading,
        private readonly Entries $entries,
    ) {}

    /**
     * What a fill of this key is to be judged by: the lineage of what is there, or of a hole that is put there.
     *
     * @param bool $mayStay whether what is there must not be replaced, as it may still be served
     *
     * @throws StoreUnavailable
     */
    public function of(string $key, string $epoch, ?Entry $entry, bool $mayStay): Token
    {
        $name = $this->names->item($key, $epoch);
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $lasts = $entry !== null && ($entry->kind === Entry::HOLE || $mayStay || $entry->expiry === null || $entry->expiry + Entries::LINGERS > time() + self::LASTS);
            if ($lasts) {
                return new Token($epoch . $entry->lineage, $this->clock->tick());
            }
            $there = $entry === null ? null : $this->reading->again($key, $epoch);
            $before = $there === null ? null : $this->names->entry($key, $there[0]);
            if ($entry !== null && $before?->lineage !== $entry->lineage) {
                [$entry, $mayStay] = [$before, $before !== null];
                continue;
            }
            $hole = Entry::hole($before?->lineage);
            $outcome = $this->entries->put($there, $name, $hole, $key);
            if ($outcome === Outcome::Stored) {
                return new Token($epoch . $hole->lineage, $this->clock->tick());
            }
            if ($outcome === Outcome::NoRoom) {
                break;
            }
            // Another process has been here meanwhile. A fill may descend from what it left.
            $there = $this->reading->again($key, $epoch);
            $entry = $there === null ? null : $this->names->entry($key, $there[0]);
            $mayStay = $entry !== null;
            if ($there !== null && $entry === null) {
                // Another program's, or another key's by the same hash.
                $this->server->delete($name);
            }
        }

        return new Token('', 0);
    }

    /** @param array{string, int|float} $there */
    public function descends(string $key, string $epoch, array $there, Token $token): bool
    {
        return $token->epoch === $epoch . ($this->names->entry($key, $there[0])->lineage ?? '');
    }
}
