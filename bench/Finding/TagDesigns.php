<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Tag\Design;

/**
 * The subjects that stand for the four designs of source D: its real back ends where the reader gave them, else our
 * re-creations.
 *
 * A real one is not compared with a re-creation: both are real, or neither is.
 */
final readonly class TagDesigns
{
    /** The real one of each re-creation. */
    public const REAL = [
        'tag-files' => 'zend-file',
        'tag-sets' => 'zend-redis',
        'memcached-tag-files' => 'zend-memcached-file',
        'memcached-tag-sets' => 'zend-memcached-redis',
    ];

    /** @param array<string, string> $case the case in which the source's benchmark was re-created; empty where it was not */
    private function __construct(private Findings $findings, public array $case) {}

    public static function in(Findings $findings): self
    {
        $outcome = $findings->run->outcome('tags');

        $cases = $outcome === null ? [] : $findings->cases($outcome, 'reads');
        // There are designs that have fewer items than the others.
        usort($cases, static fn(array $one, array $other): int => self::items($other) <=> self::items($one));

        return new self($findings, $cases[0] ?? []);
    }

    /** @param array<string, string> $case */
    private static function items(array $case): int
    {
        return (int) str_replace(',', '', $case['items'] ?? '0');
    }

    /** Which subject speaks for a re-creation where it is compared with something that is none. */
    public function speaker(string $metric, string $design): string
    {
        $real = self::REAL[$design] ?? null;

        return $real !== null && $this->findings->measurement('tags', $metric, $this->case, $real) !== null ? $real : $design;
    }

    /**
     * Which two subjects speak for two re-creations that are compared.
     *
     * @return array{string, string}
     */
    public function speakers(string $metric, string $above, string $below): array
    {
        $real = [$this->speaker($metric, $above), $this->speaker($metric, $below)];

        return in_array($real[0], self::REAL, true) && in_array($real[1], self::REAL, true) ? $real : [$above, $below];
    }

    public function title(string $subject): string
    {
        return $this->findings->run->outcome('tags')->titles[$subject] ?? Design::tryFrom($subject)?->title('Redis') ?? $subject;
    }
}
