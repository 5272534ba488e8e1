<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Tags;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\NoiseFloor;
use Larder\Bench\Statistics\PairedRatio;
use Larder\Bench\Statistics\Summary;
use Larder\Bench\Statistics\UnpairedRatio;
use Larder\Bench\Statistics\Verdict;

/**
 * Which cache for which site: a pure function of a run.
 *
 * A kind of site is a sum of measured times, each so many times; what makes the sum least is advised. Two sums tie where their
 * ratio, paired where they took turns, shows no difference beyond the noise.
 */
final readonly class Recommendation
{
    /** Between the sums of two subjects, unless a floor was measured that is higher. */
    private const FLOOR = NoiseFloor::ASSUMED;

    /** Our assumption of one request: experiment, metric, case, how often. */
    private const SITES = [
        'a blog' => [
            ['gets', ['value' => 'alloptions', 'operation' => 'get', 'keys' => 'one hot key'], 1.0],
            ['gets', ['value' => 'post', 'operation' => 'get', 'keys' => 'many keys in random order'], 20.0],
            ['gets', ['value' => 'page', 'operation' => 'get', 'keys' => 'many keys in random order'], 1.0],
            ['gets', ['value' => 'post', 'operation' => 'set', 'keys' => 'one hot key'], 0.1],
        ],
        'a shop' => [
            ['gets', ['value' => 'alloptions', 'operation' => 'get', 'keys' => 'one hot key'], 1.0],
            ['gets', ['value' => 'product', 'operation' => 'get', 'keys' => 'many keys in random order'], 40.0],
            ['gets', ['value' => 'entity', 'operation' => 'get', 'keys' => 'many keys in random order'], 20.0],
            ['gets', ['value' => 'product', 'operation' => 'set', 'keys' => 'one hot key'], 3.0],
        ],
    ];
    /** From so many reads of one kind on a site may ask a server for all of them at once, and some do. */
    private const MANY = 20.0;
    /** What asks for many at once; what a request reads or stores one by one takes what it takes the other. */
    private const AT_ONCE = ['redis-unix' => 'redis-pipeline', 'valkey-unix' => 'valkey-pipeline', 'memcached-unix' => 'memcached-multi'];
    /** Patterns of the subjects that can be had on a host. */
    private const HOSTS = [
        'one host without the extension' => ['apcu-*', 'sqlite', 'sqlite-apcu', 'file-disk', 'php-file', 'redis-unix', 'valkey-unix', 'memcached-unix', '*-pipeline', 'memcached-multi'],
        'one host with the extension' => ['shared-memory', 'apcu-*', 'sqlite', 'sqlite-apcu', 'file-disk', 'php-file', 'redis-unix', 'valkey-unix', 'memcached-unix', '*-pipeline', 'memcached-multi'],
        // Over the network the time of a round trip comes on top of each read and write, the same for each of them.
        'several hosts' => ['redis-tcp', 'valkey-tcp', 'memcached-tcp'],
    ];
    /** The designs that can be had on a host. */
    private const DESIGNS = [
        'one host without the extension' => ['cache-apcu', 'cache-tier-apcu', 'cache-sqlite', 'cache-file', 'cache-php-file', 'tag-files', 'tag-sets', 'memcached-tag-*', 'cache-redis', 'cache-redis-near', 'cache-memcached', 'zend-*'],
        'one host with the extension' => ['shared-memory', 'cache-shared-memory', 'cache-apcu', 'cache-tier-*', 'cache-sqlite', 'cache-file', 'cache-php-file', 'tag-files', 'tag-sets', 'memcached-tag-*', 'cache-redis', 'cache-redis-near', 'cache-memcached', 'zend-*'],
        // As on one host, over Unix sockets. Over the network come as many round trips as a design makes, which differ.
        'several hosts' => ['tag-sets', 'memcached-tag-sets', 'cache-redis', 'cache-redis-near', 'cache-redis-cluster', 'cache-memcached', 'zend-redis', 'zend-memcached-redis'],
    ];
    /** Of a catalogue's cache. The first is our assumption of a shop in which people buy; the other is what the tool of source D asks. */
    private const CATALOGUES = [
        'a large tagged catalogue' => ['reads' => 100.0, 'writes' => 5.0, 'cleans by tag' => 1.0],
        'the same, mostly read' => ['reads' => 999.0, 'writes' => 1.0, 'cleans by tag' => 1.0],
    ];

    private function __construct(private Findings $findings) {}

    /** @return list<Advice> */
    public static function of(Findings $findings): array
    {
        $recommendation = new self($findings);
        $advice = [];
        foreach (self::SITES as $site => $operations) {
            foreach (self::HOSTS as $host => $patterns) {
                $sums = $recommendation->sums($patterns, static fn(string $subject): array => array_values(array_map(
                    static fn(array $operation): array => [$operation[0], 'time', $operation[1], $operation[2], self::asked($subject, $operation[2])],
                    $operations,
                )));
                $advice[] = $recommendation->advise($site, $host, $sums, 'gets');
            }
        }
        $case = TagDesigns::in($findings)->case;
        foreach (self::CATALOGUES as $site => $operations) {
            foreach (self::DESIGNS as $host => $patterns) {
                $sums = $recommendation->sums($patterns, static fn(string $subject): array => array_map(
                    static fn(string $metric, float $times): array => ['tags', $recommendation->charged($metric, $case, $subject), $case, $times, $subject],
                    array_keys($operations),
                    array_values($operations),
                ));
                // A site installs the real one, not a re-creation.
                $without = array_keys(array_filter(TagDesigns::REAL, static fn(string $real): bool => isset($sums[$real])));
                $advice[] = $recommendation->advise($site, $host, array_diff_key($sums, array_flip($without)), 'tags');
            }
        }

        return $advice;
    }

    /**
     * A write of a catalogue's cache is one that comes after cleans, and reclaims what they have left where a design leaves it.
     *
     * @param array<string, string> $case
     */
    private function charged(string $metric, array $case, string $subject): string
    {
        return $metric === 'writes' && $this->findings->measurement('tags', Tags::REFILLS, $case, $subject) !== null ? Tags::REFILLS : $metric;
    }

    /** Which subject is asked for so many items of a kind. */
    private static function asked(string $subject, float $times): string
    {
        $oneByOne = array_search($subject, self::AT_ONCE, true);

        return $oneByOne !== false && $times < self::MANY ? $oneByOne : $subject;
    }

    /**
     * The sums of those subjects of which every part was measured.
     *
     * @param list<string> $patterns
     * @param \Closure(string): list<array{string, string, array<string, string>, float, string}> $parts experiment,
     *     metric, case, how often, subject
     * @return array<string, array<int, array<int, float>>> subject => process => block => sum
     */
    private function sums(array $patterns, \Closure $parts): array
    {
        $sums = [];
        foreach ($this->subjects($patterns) as $subject) {
            $sum = $this->sum($parts($subject));
            if ($sum !== []) {
                $sums[$subject] = $sum;
            }
        }

        return $sums;
    }

    /**
     * @param list<array{string, string, array<string, string>, float, string}> $parts
     * @return array<int, array<int, float>> process => block => sum, of blocks that every part has
     */
    private function sum(array $parts): array
    {
        $sum = null;
        foreach ($parts as [$experiment, $metric, $case, $times, $subject]) {
            $measurement = $this->findings->measurement($experiment, $metric, $case, $subject);
            if ($measurement === null) {
                return [];
            }
            $added = [];
            foreach ($this->findings->values($experiment, $measurement) as $process => $blocks) {
                foreach ($blocks as $block => $value) {
                    $time = $measurement->direction === Direction::LowerIsBetter ? $value : 1e9 / max($value, 1e-9);
                    $before = $sum === null ? 0.0 : $sum[$process][$block] ?? null;
                    if ($before !== null) {
                        $added[$process][$block] = $before + $times * $time;
                    }
                }
            }
            $sum = $added;
        }

        return $sum ?? [];
    }

    /** @param array<string, array<int, array<int, float>>> $sums */
    private function advise(string $site, string $host, array $sums, string $experiment): Advice
    {
        $medians = [];
        foreach ($sums as $subject => $sum) {
            $values = array_merge(...array_map(array_values(...), array_values($sum)));
            $medians[$subject] = $values === [] ? INF : Summary::of($values)->median;
        }
        asort($medians);
        $best = array_key_first($medians);
        if ($best === null) {
            return new Advice($site, $host, null, [], null, null, $experiment);
        }
        $ties = [];
        $next = $ratio = null;
        foreach (array_slice(array_keys($medians), 1) as $subject) {
            $found = $experiment === 'gets' ? PairedRatio::of($sums[$subject], $sums[$best]) : self::unpaired($sums[$subject], $sums[$best]);
            $floor = max(self::FLOOR, $experiment === 'gets' ? $this->findings->floor('gets', 'time', $best, $subject)->share : 0.0);
            if ($found === null || Verdict::on($found, new NoiseFloor($floor), Direction::LowerIsBetter) !== Verdict::Loses) {
                $ties[] = $subject;
            } elseif ($next === null) {
                [$next, $ratio] = [$subject, $found];
            }
        }

        return new Advice($site, $host, $best, $ties, $next, $ratio, $experiment);
    }

    /**
     * Of designs that ran one after the other, so that no block of one belongs to a block of the other.
     *
     * @param array<int, array<int, float>> $above
     * @param array<int, array<int, float>> $below
     */
    private static function unpaired(array $above, array $below): ?Interval
    {
        $lists = [[], []];
        foreach ([$above, $below] as $which => $processes) {
            foreach ($processes as $blocks) {
                if ($blocks !== []) {
                    $lists[$which][] = array_values($blocks);
                }
            }
        }

        return $lists[0] === [] || $lists[1] === [] ? null : UnpairedRatio::ofWhatVaries($lists[0], $lists[1]);
    }

    /**
     * @param list<string> $patterns
     * @return list<string>
     */
    private function subjects(array $patterns): array
    {
        $names = [];
        foreach ($this->findings->run->outcomes as $outcome) {
            foreach ($outcome->measurements as $measurement) {
                $names[$measurement->subject] = true;
            }
        }

        return array_values(array_filter(
            array_map(strval(...), array_keys($names)),
            static fn(string $name): bool => array_filter($patterns, static fn(string $pattern): bool => fnmatch($pattern, $name)) !== [],
        ));
    }
}
