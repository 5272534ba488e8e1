<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Store\RedisStore;

/** What a Redis or Valkey brings back when it restarts, and whether that may be believed. */
final class PersistenceChecks
{
    private const LOSSLESS = 'appendonly yes, and appendfsync always';

    /** @return list<Finding> */
    public static function findings(string $what, RedisStore $store, bool $isTrusted): array
    {
        $found = [];
        $servers = $store->settings('save', 'appendonly', 'appendfsync');
        foreach ($servers as $name => $settings) {
            $found[] = self::finding(\count($servers) > 1 ? "{$what} ({$name})" : $what, $settings, $isTrusted);
        }

        return $found;
    }

    /** @param array<string, string> $settings those that it tells */
    private static function finding(string $what, array $settings, bool $isTrusted): Finding
    {
        if (!isset($settings['save'], $settings['appendonly'], $settings['appendfsync'])) {
            return $isTrusted
                ? Finding::advice($what, 'The user may not see how the server saves (CONFIG GET): whether it may be trusted after a restart is not known.', self::LOSSLESS . '; or persistence=distrusted in the DSN')
                : Finding::fine($what, 'The user may not see how the server saves (CONFIG GET). After a restart the cache begins empty.');
        }
        $appends = $settings['appendonly'] === 'yes';
        $isLossless = $appends && $settings['appendfsync'] === 'always';
        $saves = $appends || $settings['save'] !== '';
        $how = $appends ? "appendonly yes, appendfsync {$settings['appendfsync']}" : "save \"{$settings['save']}\"";

        return match (true) {
            !$saves => Finding::fine($what, 'The server saves nothing to its disk. After a restart the cache begins empty.'),
            $isTrusted && !$isLossless => Finding::problem($what, "The server ({$how}) may bring back what was deleted or invalidated when it restarts, and the DSN trusts it.", self::LOSSLESS . '; or persistence=distrusted in the DSN'),
            $isTrusted => Finding::fine($what, "The server loses nothing that it has acknowledged ({$how}), and the DSN trusts it: the cache outlives a restart."),
            $isLossless => Finding::advice($what, "The server loses nothing that it has acknowledged ({$how}), but the cache begins empty after a restart, as the DSN does not trust it.", 'persistence=trusted in the DSN, everywhere'),
            default => Finding::advice($what, "The server saves to its disk ({$how}) for nothing. It may bring back deleted or invalidated items, so that the cache begins empty after a restart.", 'save "" and appendonly no; or ' . self::LOSSLESS . ', and persistence=trusted in the DSN'),
        };
    }
}
