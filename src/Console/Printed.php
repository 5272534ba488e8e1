<?php

declare(strict_types=1);

namespace Larder\Console;

/** Values as a terminal or another program can read them. */
final class Printed
{
    private const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

    private function __construct() {}

    /**
     * Names and values in two columns.
     *
     * @param array<string, string> $rows
     *
     * @return list<string>
     */
    public static function rows(array $rows): array
    {
        $width = max([0, ...array_map(mb_strwidth(...), array_keys($rows))]);
        $lines = [];
        foreach ($rows as $name => $value) {
            $lines[] = str_pad($name, $width) . "  {$value}";
        }

        return $lines;
    }

    /** A string as it is, anything else in a form that shows what it is. */
    public static function value(mixed $value): string
    {
        return match (true) {
            \is_string($value) => $value,
            \is_object($value) => rtrim(print_r($value, true)),
            \is_array($value) => self::isPlain($value) ? self::json($value) : rtrim(print_r($value, true)),
            default => var_export($value, true),
        };
    }

    /** Bytes that are no UTF-8 are replaced, and a value that JSON cannot express is null. */
    public static function json(mixed $value): string
    {
        return (string) json_encode(
            $value,
            \JSON_PRETTY_PRINT | \JSON_UNESCAPED_SLASHES | \JSON_UNESCAPED_UNICODE | \JSON_INVALID_UTF8_SUBSTITUTE | \JSON_PARTIAL_OUTPUT_ON_ERROR | \JSON_PRESERVE_ZERO_FRACTION,
        );
    }

    /** A key on one line: bytes that a terminal would act on are escaped. */
    public static function key(string $key): string
    {
        return mb_check_encoding($key, 'UTF-8') && preg_match('/[\p{C}]/u', $key) === 0 ? $key : addcslashes($key, "\0..\37\\\177..\377");
    }

    public static function bytes(?int $bytes): string
    {
        if ($bytes === null) {
            return '–';
        }
        for ($unit = 0, $amount = (float) $bytes; $amount >= 1_024.0 && $unit < \count(self::UNITS) - 1; $unit++) {
            $amount /= 1_024.0;
        }

        return $unit === 0 ? "{$bytes} B" : \sprintf('%.1f %s', $amount, self::UNITS[$unit]);
    }

    public static function count(?int $count): string
    {
        return $count === null ? '–' : number_format($count);
    }

    /** @param string $name of one of them, whose plural ends with an s */
    public static function counted(int $count, string $name): string
    {
        return match ($count) {
            0 => "no {$name}s",
            1 => "one {$name}",
            default => self::count($count) . " {$name}s",
        };
    }

    public static function duration(int $seconds): string
    {
        return match (true) {
            $seconds < 1 => 'less than a second',
            $seconds === 1 => 'one second',
            $seconds < 120 => "{$seconds} seconds",
            $seconds < 7_200 => intdiv($seconds, 60) . ' minutes',
            $seconds < 172_800 => intdiv($seconds, 3_600) . ' hours',
            default => intdiv($seconds, 86_400) . ' days',
        };
    }

    public static function share(?int $part, ?int $whole): string
    {
        return $part === null || $whole === null || $whole === 0 ? '–' : \sprintf('%.1f %%', 100 * $part / $whole);
    }

    /** @param array<mixed> $array */
    private static function isPlain(array $array): bool
    {
        foreach ($array as $part) {
            if (\is_object($part) || (\is_array($part) && !self::isPlain($part))) {
                return false;
            }
        }

        return true;
    }
}
