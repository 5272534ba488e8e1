<?php

declare(strict_types=1);

namespace Larder\Magento2;

/**
 * The backend of Magento's cache frontends: that of Zend_Cache, and what Magento's cache types need besides.
 *
 * A cache type cleans by its own tag and another, and an item must have both. Magento gives an item the tag of its type last. So an
 * item is stamped with each of its tags and that one as a pair, and cleaning in one type takes no walk and leaves the others.
 */
final class Backend extends \Larder_Cache_Backend
{
    /** With at most so many tags, an item is stamped with every two of them: Magento also saves beside its cache types, with tags in any order. */
    private const FEW = 6;

    protected function stamped(array $tags): array
    {
        $stamps = parent::stamped($tags);
        $last = \count($tags) - 1;
        foreach ($tags as $number => $tag) {
            foreach (\count($tags) <= self::FEW ? \array_slice($tags, $number + 1) : ($number < $last ? [$tags[$last]] : []) as $other) {
                $stamps[] = $this->pair($tag, $other);
            }
        }

        return $stamps;
    }

    protected function stampOfAll(array $tags): ?string
    {
        return \count($tags) === 2 ? $this->pair($tags[0], $tags[1]) : parent::stampOfAll($tags);
    }

    private function pair(string $tag, string $other): string
    {
        $both = [$tag, $other];
        sort($both, \SORT_STRING);

        return $this->name("\0both\0{$both[0]}\0{$both[1]}");
    }
}
