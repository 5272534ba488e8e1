<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * What requests that read the same keys have in common: host, path and what WordPress takes from the query; on the command line the
 * command. Other arguments of a query do not count: a visitor can invent them without end.
 */
final class RequestName
{
    /** Arguments of a query that say which page it is. */
    private const ARGUMENTS = [
        'action', 'attachment_id', 'author', 'author_name', 'cat', 'day', 'feed', 'm', 'monthnum', 'name', 'page', 'page_id', 'paged', 'pagename', 'p',
        'post', 'post_type', 'rest_route', 'tab', 'tag', 'taxonomy', 'year',
    ];

    private function __construct() {}

    /** @return ?string null: nothing says what it is */
    public static function ofThis(): ?string
    {
        return \PHP_SAPI === 'cli' ? self::ofCommand($_SERVER['argv'] ?? null, \defined('WP_CLI')) : self::ofUrl($_SERVER, $_GET, $_COOKIE);
    }

    /** @param mixed $words $_SERVER['argv'] */
    public static function ofCommand(mixed $words, bool $isWpCli): ?string
    {
        $words = array_values(array_filter(\is_array($words) ? $words : [], is_string(...)));
        if ($words === []) {
            return null;
        }
        if (!$isWpCli) {
            return "command\n" . (realpath($words[0]) ?: $words[0]);
        }
        $named = array_filter(\array_slice($words, 1), static fn(string $word): bool => !str_starts_with($word, '-'));

        return "command\n" . implode(' ', \array_slice($named, 0, 2));
    }

    /**
     * @param array<array-key, mixed> $server  $_SERVER
     * @param array<array-key, mixed> $query   $_GET
     * @param array<array-key, mixed> $cookies $_COOKIE
     */
    public static function ofUrl(array $server, array $query, array $cookies): ?string
    {
        $text = static fn(string $name): string => \is_string($server[$name] ?? null) ? $server[$name] : '';
        $url = $text('REQUEST_URI');
        if ($url === '') {
            return null;
        }
        $arguments = array_intersect_key($query, array_fill_keys(self::ARGUMENTS, true));
        $arguments = array_filter($arguments, static fn(mixed $value): bool => \is_string($value) && preg_match('~^[\w/.-]{1,64}$~D', $value) === 1);
        ksort($arguments);
        if (isset($query['s'])) {
            // All searches read about the same, and there is no end of them.
            $arguments['s'] = '';
        }
        $isKnown = array_filter(array_keys($cookies), static fn(int|string $name): bool => str_starts_with((string) $name, 'wordpress_logged_in_')) !== [];

        return implode("\n", [$text('REQUEST_METHOD'), strtolower($text('HTTP_HOST')), strtok($url, '?#'), http_build_query($arguments), $isKnown ? 'known' : 'anonymous']);
    }
}
