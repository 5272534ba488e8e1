<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store\Redis;

use Larder\Store\Redis\Script;
use Larder\Store\Redis\Span;
use Larder\Store\Verdict;

/** The model of what scripts keep of tags in the server, and answer to Script::Versions. */
final class TagServer
{
    public string $epoch = 'epoch001';

    public string $life;

    public string $process;

    public int $tick = 1;

    public int $invalidated = 0;

    /** @var array<string, string> */
    private array $versions = [];

    /** @var list<array{string, list<string>}> */
    private array $list = [];

    public function __construct()
    {
        $this->life = $this->process = str_repeat('a', 16);
    }

    public function clock(): string
    {
        return Script::CLOCK_MARK . $this->epoch . Span::number($this->tick) . Span::number($this->invalidated) . $this->life . $this->process;
    }

    public function invalidate(string ...$tags): void
    {
        $this->add('t', '%d', array_values($tags));
    }

    /** What it kills may be served for a while. */
    public function letServe(string ...$tags): void
    {
        $this->add('s', '0 %d 2000000000', array_values($tags));
    }

    /** The list, but not what has been invalidated. */
    public function lose(): void
    {
        $this->list = [];
    }

    public function loseLast(): void
    {
        array_pop($this->list);
    }

    /**
     * @param list<string> $question
     *
     * @return array{string, list<array{string, list<string>}>, list<string>}
     */
    public function reply(array $question): array
    {
        $since = array_shift($question);

        return [
            $this->clock(),
            $since === '' ? [] : array_values(array_filter($this->list, static fn(array $entry): bool => (int) $entry[0] > (int) $since)),
            array_map(fn(string $tag): string => $this->versions[$tag] ?? '0', $question),
        ];
    }

    /** @param list<string> $tags none that let anything be served */
    public function judge(int $version, array $tags): Verdict
    {
        return max([0, ...array_map(fn(string $tag): int => (int) ($this->versions[$tag] ?? '0'), $tags)]) > $version ? Verdict::Dead : Verdict::Live;
    }

    /** @param list<string> $tags */
    private function add(string $kind, string $version, array $tags): void
    {
        $before = $this->invalidated;
        $this->invalidated = $this->tick += 1;
        $fields = ['e', $this->epoch . Span::number($before)];
        foreach ($tags as $tag) {
            $this->versions[$tag] = \sprintf($version, $this->tick);
            array_push($fields, $kind, $tag);
        }
        $this->list[] = ["{$this->tick}-0", $fields];
        $this->tick++;
    }
}
