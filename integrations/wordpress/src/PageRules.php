<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * The lines of the page cache's settings, as people write them, and as PageRequest compares them. A line that could never match
 * is refused, because its writer would believe that it does.
 */
final class PageRules
{
    /** The lists of lines. */
    public const LISTS = ['arguments', 'dropped', 'harmless', 'paths', 'cookies', 'agents'];

    /** Lines of a list. Each visit that is not a plain hit compares with all of them. */
    public const MOST = 500;

    private const LONGEST = 200;

    private function __construct() {}

    /** @return string what PageRequest compares with; '': the line can never match */
    public static function of(string $list, string $line): string
    {
        $line = trim($line);
        if ($line === '' || $line === '*' || \strlen($line) > self::LONGEST || preg_match('/[\x00-\x1f\x7f]/', $line) === 1) {
            return '';
        }

        return match ($list) {
            'paths' => self::path($line),
            // PHP writes names of cookies so.
            'cookies', 'harmless' => preg_match('~^[^\s=;,"\[\]*]+\*?$~D', $line) === 1 ? strtr($line, '.', '_') : '',
            'agents' => trim($line, '* '),
            default => preg_match('~^[A-Za-z0-9_.-]+$~D', $line) === 1 ? $line : '',
        };
    }

    /** @return string what a line of the list has to be */
    public static function sentence(string $list): string
    {
        return match ($list) {
            'paths' => __('A path has letters, digits and / . _ - in it, without arguments; only a star at its end stands for anything.', 'larder'),
            'cookies', 'harmless' => __('A cookie is named without its value; only a star at the end of the name stands for anything.', 'larder'),
            'agents' => __('A browser is named by a part of its name.', 'larder'),
            default => __('An argument is its name alone, without ?, =, a value or a star.', 'larder'),
        };
    }

    private static function path(string $line): string
    {
        $home = (string) preg_replace('~^([a-z]+://[^/]+).*$~i', '$1', home_url());
        if (stripos($line, "{$home}/") === 0) {
            $line = substr($line, \strlen($home));
        }
        $path = rawurldecode($line[0] === '/' ? $line : "/{$line}");
        if (preg_match('~^(?:/[A-Za-z0-9_.\x80-\xff-]*)+\*?$~D', $path) !== 1 || str_contains($path, '//')) {
            return '';
        }

        // With a slash at its end and without one it is the same page.
        return $path[-1] === '*' ? $path : rtrim($path, '/') . '/';
    }
}
