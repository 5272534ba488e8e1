<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** The groups of an object cache, as the store has them. */
final class Groups
{
    /** Entries of a group whose sizes stand for those of all. */
    private const SAMPLE = 8;

    /** Groups whose sizes are looked at. */
    private const MOST_SIZED = 15;

    /** @param string $prefix what all keys begin with */
    public function __construct(
        private readonly Backend $backend,
        private readonly string $prefix,
    ) {}

    /**
     * The biggest groups first. Pages of the page cache are one of them, without a name.
     *
     * @param float $seconds that it may take to count; then it has a part
     *
     * @return array{groups: list<array{group: string, items: int, bytes: ?int}>, isWhole: bool} bytes of the biggest, serialised, as a few entries tell; null: not looked at
     */
    public function biggest(float $seconds): array
    {
        $end = microtime(true) + $seconds;
        $items = $names = [];
        $isWhole = true;
        foreach ($this->backend->keys($this->prefix) as $name) {
            $group = strtr(explode(':', substr($name, \strlen($this->prefix)), 2)[0], ['%3A' => ':', '%25' => '%']);
            $count = $items[$group] = ($items[$group] ?? 0) + 1;
            // Each is as likely to be of the sample (Vitter's reservoir).
            $place = $count <= self::SAMPLE ? $count - 1 : mt_rand(0, $count - 1);
            if ($place < self::SAMPLE) {
                $names[$group][$place] = $name;
            }
            if ($count % 256 === 0 && microtime(true) > $end) {
                $isWhole = false;
                break;
            }
        }
        arsort($items);
        $groups = [];
        foreach ($items as $group => $count) {
            $isSized = \count($groups) < self::MOST_SIZED && microtime(true) < $end;
            $groups[] = ['group' => (string) $group, 'items' => $count, 'bytes' => $isSized ? $this->bytes(array_values($names[$group]), $count) : null];
        }

        return ['groups' => $groups, 'isWhole' => $isWhole];
    }

    /** @param list<string> $names of a few entries */
    private function bytes(array $names, int $count): ?int
    {
        $sum = $sized = 0;
        foreach ($this->backend->getMany($names, true) as $value) {
            try {
                $sum += \strlen(serialize($value));
                $sized++;
            } catch (\Throwable) {
                // Its class does not want to be serialised.
            }
        }

        return $sized === 0 ? null : (int) ($sum / $sized * $count);
    }
}
