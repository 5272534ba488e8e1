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
        // The two stores of a tier stand side by side.
        $stores = StoreName::isOfTier($dsn) ? ['near' => 'near ', 'far' => ''] : ['' => ''];
        $lines = [self::pair(StoreName::of($dsn), $time), ''];
        foreach ($stores as $name => $store) {
            $ratio = $reading->hitRatio($store);
            $says = $reading->figure("{$store}hits") === null ? 'no look-ups are counted' : 'no look-ups yet';
            $lines[] = self::gauge(ltrim("{$name} hit ratio"), $ratio, $ratio === null ? $says : \sprintf('%.1f %%', 100 * $ratio));
        }
        foreach ($stores as $name => $store) {
            [$bytes, $capacity] = [$reading->figure("{$store}bytes"), $reading->figure("{$store}capacity")];
            $full = $bytes === null || ($capacity ?? 0) === 0 ? null : $bytes / $capacity;
            $lines[] = self::gauge(ltrim("{$name} memory"), $full, Printed::bytes($bytes) . ($capacity === null ? '' : ' of ' . Printed::bytes($capacity)));
        }
        $columns = static fn(string $name, string ...$texts): string => \sprintf('%-12s', $name) . implode('', array_map(static fn(string $text): string => str_repeat(' ', max(1, 17 - mb_strwidth($text))) . $text, $texts));
        $lines[] = '';
        $headings = array_map(static fn(string $name): array => [ltrim("{$name} per second"), ltrim("{$name} in all")], array_keys($stores));
        $lines[] = $columns('', ...array_merge(...$headings));
        foreach (['hits', 'misses', 'evictions', 'expired'] as $counter) {
            $texts = [];
            foreach ($stores as $store) {
                $rate = $reading->rate($store . $counter);
                array_push($texts, $rate === null ? '–' : number_format($rate, $rate < 10 ? 1 : 0), Printed::count($reading->figure($store . $counter)));
            }
            $lines[] = $columns($counter, ...$texts);
        }
        $lines[] = $columns('items', ...array_merge(...array_map(static fn(string $store): array => ['', Printed::count($reading->figure("{$store}items"))], array_values($stores))));
        if ($stores !== ['' => '']) {
            $lines[] = \sprintf('%-12s %s', 'log', self::log($reading));
        }
        if ($undelivered !== null) {
            $lines[] = \sprintf('%-12s %s', 'undelivered', $undelivered);
        }

        return array_map(
            static fn(string $line): string => mb_strwidth($line) > self::COLUMNS ? mb_strimwidth($line, 0, self::COLUMNS, '…') : $line,
            [...$lines, '', ...self::groups($groups)],
        );
    }

    private static function log(Reading $reading): string
    {
        $lag = $reading->figure('near lag');
        $bypasses = $reading->figure('near bypasses') ?? 0;
        $why = $reading->known->details['near bypassed because'] ?? null;

        return ($lag === null ? 'to begin anew' : Printed::counted($lag, 'event') . ' to follow')
            . ', ' . Printed::count($reading->figure('near events') ?? 0) . ' applied'
            . ($bypasses === 0 ? '' : ', left aside ' . Printed::counted($bypasses, 'time') . (\is_string($why) ? ": {$why}" : ''));
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

        return \sprintf('%-14s [%s%s] %s', $name, str_repeat('#', $filled), str_repeat('.', 30 - $filled), $text);
    }

    private static function pair(string $left, string $right): string
    {
        $room = self::COLUMNS - mb_strwidth($right) - 1;
        $left = mb_strwidth($left) > $room ? mb_strimwidth($left, 0, $room, '…') : $left;

        return $left . str_repeat(' ', self::COLUMNS - mb_strwidth($left) - mb_strwidth($right)) . $right;
    }
}
