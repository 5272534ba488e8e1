<?php

declare(strict_types=1);

namespace Larder\Magento2;

/**
 * The backend of Magento's cache frontends: that of Zend_Cache, and what Magento's cache types need besides.
 *
 * A cache type cleans by its own tag and another, and an item must have both. Magento gives an item the tag of its type last. So an
 * item gets a further tag for each pair of one of its tags and that one. Cleaning in one type takes no walk and leaves the others.
 */
class Backend extends \Larder_Cache_Backend
{
    /** What Magento's factory adds to the options of each backend: they are for its default, which keeps files. */
    private const OF_FILES = ['hashed_directory_level', 'hashed_directory_perm', 'file_name_prefix', 'cache_dir'];

    /** With at most so many tags, an item is stamped with every two of them: Magento also saves beside its cache types, with tags in any order. */
    private const FEW = 6;

    /**
     * @param array<mixed> $options as of Larder_Cache_Backend
     *
     * @throws \Zend_Cache_Exception as there. Magento says nothing of it and caches in files instead, so PHP's log has it as well
     */
    public function __construct(array $options = [])
    {
        try {
            parent::__construct(array_diff_key($options, array_flip(self::OF_FILES)));
        } catch (\Zend_Cache_Exception $mistake) {
            error_log('Magento caches in files, because its configuration of Larder is wrong: ' . $mistake->getMessage());
            throw $mistake;
        }
    }

    protected function stamped(array $tags): array
    {
        $versions = parent::stamped($tags);
        $last = \count($tags) - 1;
        foreach ($tags as $number => $tag) {
            foreach (\count($tags) <= self::FEW ? \array_slice($tags, $number + 1) : ($number < $last ? [$tags[$last]] : []) as $other) {
                $versions[] = $this->pair($tag, $other);
            }
        }

        return $versions;
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
