<?php

declare(strict_types=1);

namespace Larder\Magento2;

/**
 * The backend of Magento's cache frontends: that of Zend_Cache, and what Magento's cache types need besides.
 *
 * A cache type cleans by its own tag and another, and an item must have both. So an item gets a further tag for each pair of a type's
 * tag and another of its tags. Cleaning in one type takes no walk and leaves the others. That tag is the last of what a type saves. Blocks are
 * saved beside their type, and have BLOCK_HTML before the tags of the products that they show.
 */
class Backend extends \Larder_Cache_Backend
{
    /** What Magento's factory adds to the options of each backend: they are for its default, which keeps files. */
    private const OF_FILES = ['hashed_directory_level', 'hashed_directory_perm', 'file_name_prefix', 'cache_dir'];

    /** Ends of tags of entities, and a part of those of CMS blocks and pages, which may end in a name. Two such tags are no cleaning in a type. */
    private const OF_AN_ENTITY = '/\d$|cms_[bp]_/i';

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
        $types = array_filter($tags, self::isOfAType(...));
        foreach ($types as $number => $type) {
            foreach ($tags as $place => $tag) {
                if ($place > $number || !isset($types[$place])) {
                    $versions[] = $this->pair($tag, $type);
                }
            }
        }

        return $versions;
    }

    protected function stampOfAll(array $tags): ?string
    {
        return \count($tags) === 2 && array_filter($tags, self::isOfAType(...)) !== [] ? $this->pair($tags[0], $tags[1]) : parent::stampOfAll($tags);
    }

    /** Whether it may be a cache type's. What it takes for one by mistake costs further tags, and the other way round a walk. */
    private static function isOfAType(string $tag): bool
    {
        return preg_match(self::OF_AN_ENTITY, $tag) !== 1;
    }

    private function pair(string $tag, string $other): string
    {
        $both = [$tag, $other];
        sort($both, \SORT_STRING);

        return $this->name("\0both\0{$both[0]}\0{$both[1]}");
    }
}
