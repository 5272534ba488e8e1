<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Exception\UnsupportedOperation;
use Larder\Key;
use Larder\Store;

/**
 * What kinds of keys a store holds: those that begin alike, up to the first colon, dot, slash or dash. Of a large
 * store a part is looked at, and the whole is guessed from it.
 */
final class Groups
{
    private const KEYS = 5_000;

    private const WEIGHED = 8;

    /**
     * @param array<string, array{int, int}> $groups keys and bytes of each, in what was looked at; the largest first
     * @param int                            $seen   keys that were looked at
     * @param int                            $found  items that were read for it, which the store counts as hits
     * @param int                            $lost   those that were gone by then, which it counts as misses
     */
    private function __construct(
        public readonly array $groups,
        public readonly int $seen,
        public readonly bool $isAll,
        public readonly int $found = 0,
        public readonly int $lost = 0,
    ) {}

    /** @return ?self null if the store cannot list its keys */
    public static function of(Store $store): ?self
    {
        $members = [];
        $seen = 0;
        $isAll = true;
        try {
            foreach ($store->keys() as $key) {
                if (Key::isInternal($key)) {
                    continue;
                }
                if (++$seen > self::KEYS) {
                    $isAll = false;
                    break;
                }
                $members[self::name($key)][] = $key;
            }
        } catch (UnsupportedOperation) {
            return null;
        }
        $groups = [];
        $found = $lost = 0;
        foreach ($members as $name => $keys) {
            [$weight, $read, $gone] = self::weight($store, $keys);
            $groups[$name] = [\count($keys), (int) (\count($keys) * $weight)];
            $found += $read;
            $lost += $gone;
        }
        uasort($groups, static fn(array $a, array $b): int => $b[1] <=> $a[1]);

        return new self($groups, min($seen, self::KEYS), $isAll, $found, $lost);
    }

    private static function name(string $key): string
    {
        $name = preg_split('~[:./-]~', $key, 2)[0] ?? '';

        return Printed::key($name === $key ? '(others)' : $name);
    }

    /**
     * Bytes of an item, on average over some: of its key and its serialised value.
     *
     * @param non-empty-list<string> $keys
     *
     * @return array{float, int, int} and how many of them were found, and how many not
     */
    private static function weight(Store $store, array $keys): array
    {
        $bytes = $count = 0;
        $picked = array_rand($keys, min(self::WEIGHED, \count($keys)));
        foreach ($store->fetch(array_map(static fn(int $i): string => $keys[$i], (array) $picked))->items as $item) {
            $bytes += \strlen($item->key) + (\is_string($item->value) ? \strlen($item->value) : \strlen(serialize($item->value)));
            $count++;
        }

        return [$count === 0 ? 0.0 : $bytes / $count, $count, \count((array) $picked) - $count];
    }
}
