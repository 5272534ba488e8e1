<?php

declare(strict_types=1);

namespace Larder\Console;

/** What `larder top` shows, in lines of at most 80 columns. */
final class Dashboard
{
    public const COLUMNS = 80;

    private const ROWS = 10;

    private function __construct() {}

    /**
     * @param ?string $undelivered what the store has missed; null: not asked for
     *
     * @return list<string>
     */
    public static function lines(string $dsn, Reading $reading, ?Groups $groups, string $time, ?string $undelivered = null): array
    {
        $known = $reading->known;
        $ratio = $reading->hitRatio();
        $full = $known->bytes === null || ($known->capacity ?? 0) === 0 ? null : $known->bytes / $known->capacity;
        $lines = [
            self::pair(StoreName::of($dsn), $time),
            '',
            self::gauge('hit ratio', $ratio, $ratio === null ? ($known->hits === null ? 'this store does not count look-ups' : 'no look-ups yet') : \sprintf('%.1f %%', 100 * $ratio)),
            self::gauge('memory', $full, Printed::bytes($known->bytes) . ($known->capacity === null ? '' : ' of ' . Printed::bytes($known->capacity))),
            '',
            \sprintf('%-12s %16s %16s', '', 'per second', 'in all'),
        ];
        foreach (['hits', 'misses', 'evictions', 'expired'] as $counter) {
            $rate = $reading->rate($counter);
            $all = get_object_vars($known)[$counter] ?? null;
            $lines[] = \sprintf('%-12s %16s %16s', $counter, $rate === null ? '–' : number_format($rate, $rate < 10 ? 1 : 0), Printed::count(\is_int($all) ? $all : null));
        }
        $lines[] = \sprintf('%-12s %16s %16s', 'items', '', Printed::count($known->items));
        if ($undelivered !== null) {
            $lines[] = \sprintf('%-12s %s', 'undelivered', $undelivered);
        }

        return array_map(
            static fn(string $line): string => mb_strwidth($line) > self::COLUMNS ? mb_strimwidth($line, 0, self::COLUMNS, '…') : $line,
            [...$lines, '', ...self::groups($groups)],
        );
    }

    /** @return list<string> */
    private static function groups(?Groups $groups): array
    {
        if ($groups === null) {
            return ['This store cannot list its keys, so there are no groups to show.'];
        }
        $lines = [\sprintf('%-40s %9s %14s', 'biggest groups', 'keys', 'bytes') . ($groups->isAll ? '' : ' (sampled)')];
        foreach (\array_slice($groups->groups, 0, self::ROWS, true) as $name => [$keys, $bytes]) {
            $shown = mb_strimwidth((string) $name, 0, 40, '…');
            $lines[] = $shown . str_repeat(' ', 40 - mb_strwidth($shown)) . \sprintf(' %9s %14s', Printed::count($keys), Printed::bytes($bytes));
        }

        return $lines;
    }

    private static function gauge(string $name, ?float $share, string $text): string
    {
        $filled = (int) round(30 * min(max($share ?? 0.0, 0.0), 1.0));

        return \sprintf('%-12s [%s%s] %s', $name, str_repeat('#', $filled), str_repeat('.', 30 - $filled), $text);
    }

    private static function pair(string $left, string $right): string
    {
        $room = self::COLUMNS - mb_strwidth($right) - 1;
        $left = mb_strwidth($left) > $room ? mb_strimwidth($left, 0, $room, '…') : $left;

        return $left . str_repeat(' ', self::COLUMNS - mb_strwidth($left) - mb_strwidth($right)) . $right;
    }
}
