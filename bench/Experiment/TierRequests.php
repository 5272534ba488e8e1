<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\Subject\WorkerProcess;

/**
 * The cost of a tier in a request of php-fpm when nothing was written. Requests open Larder\Cache by its DSN and read one item.
 * They do so over APCu before SQLite and over APCu alone, in turns. Each times itself, from before the DSN is parsed to after
 * the read.
 *
 * Every request is the first and only one of its PHP: the code is cold, as it is in a request of a site. Whether its classes
 * are there already, as by opcache.preload, or are loaded while the clock runs, is a case of its own.
 */
final readonly class TierRequests
{
    public const ADDED = 'time that a tier adds to a request';
    public const READ = 'first read';
    public const OPENED = 'open, read';
    public const LOADED = 'load, open, read';
    private const TIME = 'time of a request in the cache';
    private const ALONE = 'cache-apcu';
    private const TIER = 'cache-tier-apcu';
    private const TITLES = [self::ALONE => 'Larder\Cache over APCu', self::TIER => 'Larder\Cache over APCu before SQLite'];
    /** Requests of each script whose median is a sample. */
    private const REQUESTS = 25;
    /** Requests before these, with which each worker of php-fpm meets the scripts. */
    private const WARM = 8 * Site::WORKERS;

    private function __construct(private Outcome $outcome, private Site $site, private int $start) {}

    /**
     * @param int $start of nginx and php-fpm
     * @param int $blocks samples
     * @throws Interrupted
     */
    public static function measure(Laboratory $laboratory, Outcome $outcome, Site $site, string $root, int $start, int $blocks): void
    {
        foreach (self::TITLES as $name => $title) {
            $outcome->titles[$name] = $title;
            if (isset($outcome->leftOut[$name]) || !$outcome->includes($laboratory, $name, $name)) {
                return;
            }
        }
        $requests = new self($outcome, $site, $start);
        try {
            foreach ([self::ALONE => 'apcu:?prefix=alone', self::TIER => "apcu: > sqlite:{$root}/tier.sqlite"] as $name => $dsn) {
                $requests->write($name, $root, $dsn);
            }
            for ($round = 0; $round < self::WARM; $round++) {
                $requests->round(false);
                $requests->round(true);
            }
            for ($block = 0; $block < $blocks; $block++) {
                $laboratory->goOn();
                $requests->block($block);
            }
        } catch (WorkerFailed $failure) {
            $outcome->fail(self::TIER, $failure);
        }
    }

    /** @return array<string, string> the case of what a request does */
    public static function of(string $part): array
    {
        return ['part' => $part];
    }

    /** The scripts of one cache, and its item, which every worker of php-fpm sees. */
    private function write(string $name, string $root, string $dsn): void
    {
        $begin = '<?php require ' . var_export(WorkerProcess::autoloader(), true) . '; ';
        $open = 'Larder\Cache::open(' . var_export($dsn, true) . ')';
        $read = "\$begun = hrtime(true); \$cache = {$open}; \$opened = hrtime(true); \$value = \$cache->get('greeting'); \$read = hrtime(true); "
            . "echo \$value === 'hello world' ? \$opened - \$begun . ' ' . \$read - \$opened : 'something else';";
        $classes = var_export("{$root}/{$name}-classes.php", true);
        file_put_contents("{$root}/{$name}-loading.php", $begin . $read);
        file_put_contents("{$root}/{$name}-loaded.php", "{$begin}foreach (include {$classes} as \$class) { class_exists(\$class) || interface_exists(\$class); } {$read}");
        file_put_contents(
            "{$root}/{$name}-store.php",
            "{$begin}{$open}->set('greeting', 'hello world'); echo {$open}->get('greeting') === 'hello world' ? 'stored' : 'something else';",
        );
        // Those that a request needs which only reads.
        file_put_contents(
            "{$root}/{$name}-list.php",
            "{$begin}{$open}->get('greeting'); \$classes = array_filter([...get_declared_classes(), ...get_declared_interfaces()], static fn (string \$class): bool => str_starts_with(\$class, 'Larder\\\\')); "
                . "file_put_contents({$classes}, '<?php return ' . var_export(array_values(\$classes), true) . ';'); echo 'listed';",
        );
        $this->site->expect("/{$name}-store.php", 'stored');
        // The first request after a write follows it.
        $this->site->expect("/{$name}-list.php", 'listed');
        $this->site->expect("/{$name}-list.php", 'listed');
    }

    private function block(int $block): void
    {
        $times = $added = [];
        for ($round = 0; $round < self::REQUESTS; $round++) {
            [$loaded, $loading] = [$this->round(false), $this->round(true)];
            foreach ([self::READ, self::OPENED, self::LOADED] as $part) {
                foreach ([self::ALONE, self::TIER] as $name) {
                    [$open, $read] = $part === self::LOADED ? $loading[$name] : $loaded[$name];
                    $times[$part][$name][] = $part === self::READ ? $read : $open + $read;
                }
                $added[$part][] = end($times[$part][self::TIER]) - end($times[$part][self::ALONE]);
            }
        }
        foreach ($times as $part => $ofBoth) {
            $case = self::of($part);
            foreach ($ofBoth as $name => $its) {
                $this->outcome->measurement($case, self::TIME, 'ns', Direction::LowerIsBetter, $name)->add($this->start, $block, self::median($its));
            }
            $this->outcome->measurement($case, self::ADDED, 'ns a request', Direction::LowerIsBetter, self::TIER)->add($this->start, $block, self::median($added[$part]));
        }
    }

    /**
     * One request of each, in a random order.
     *
     * @param bool $isLoading whether it loads its classes while the clock runs
     * @return array<string, array{int, int}> ns to open the cache and to read
     */
    private function round(bool $isLoading): array
    {
        $times = [];
        foreach (Shuffled::of(self::TITLES) as $name => $title) {
            $answer = $this->site->answer("/{$name}-" . ($isLoading ? 'loading' : 'loaded') . '.php');
            if (preg_match('/^(\d+) (\d+)$/', $answer, $match) !== 1) {
                throw WorkerFailed::said($title, sprintf('a request was answered "%s"', trim(strip_tags(substr($answer, 0, 300)))));
            }
            $times[$name] = [(int) $match[1], (int) $match[2]];
        }

        return $times;
    }

    /** @param non-empty-list<int> $values */
    private static function median(array $values): float
    {
        sort($values);

        return (float) $values[intdiv(count($values), 2)];
    }
}
