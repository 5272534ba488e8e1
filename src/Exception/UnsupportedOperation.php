<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Capability;
use Larder\Exception;

/** Something was asked of a store that it says it cannot do. */
final class UnsupportedOperation extends \LogicException implements Exception
{
    public static function by(string $store, Capability $missing): self
    {
        return new self(sprintf(
            '%s %s; %s.',
            $store,
            match ($missing) {
                Capability::Tags => 'cannot keep or invalidate tags',
                Capability::Tokens => 'cannot judge tokens',
                Capability::RequestTokens => 'has no token that judges fills of any key',
                Capability::Takes => 'cannot read and delete an item in one moment',
                Capability::Counts => 'cannot count under conditions in one moment',
                Capability::Keys => 'cannot list its keys',
                Capability::Sharing => 'is not shared between processes',
                Capability::Durability => 'does not survive a restart',
                Capability::Retention => 'may remove items before their time is over',
                Capability::WholeClear => 'has tags in common with what it does not clear',
                Capability::Absence => 'can be reached from this process',
            },
            // A site meets the first two when it configures a store; the others are mistakes of code.
            match ($missing) {
                Capability::Keys => 'take another, such as "shm:name", "sqlite:/path" or "redis://host:port"',
                Capability::Retention => 'take one that keeps them, such as "shm:name?evict=no", "sqlite:/path" or "redis://host:port"',
                default => 'ask its capabilities() first or take another store',
            },
        ));
    }

    public static function evicting(string $store, string $policy): self
    {
        return new self("{$store} may remove items before their time is over: its server evicts ({$policy}). Set its maxmemory-policy to noeviction, or take another store for sessions and locks.");
    }
}
