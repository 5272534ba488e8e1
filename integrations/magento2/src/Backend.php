<?php

declare(strict_types=1);

namespace Larder\Magento2;

/**
 * The backend of Magento's cache frontends: that of Zend_Cache, and what Magento's cache types need besides.
 *
 * A cache type cleans by its own tag and another, and an item must have both. Magento's frontends put MAGE after the tags of each item and of each
 * cleaning. So an item gets a further tag for each of its tags with MAGE. It gets one for each pair of a type's tag and another, with MAGE, as well.
 * Cleaning in one type takes no walk and leaves the others. The type's tag is the last of what a type saves, but for MAGE. Blocks are
 * saved beside their type, and have BLOCK_HTML before the tags of the products that they show.
 *
 * The further tags are at most some times as many as an item's own. Of more tags that may be a type's, some are paired. Each other one gets one
 * further tag, which a cleaning in its type invalidates as well.
 */
class Backend extends \Larder_Cache_Backend
{
    /** What Magento's factory adds to the options of each backend: they are for its default, which keeps files. */
    private const OF_FILES = ['hashed_directory_level', 'hashed_directory_perm', 'file_name_prefix', 'cache_dir'];

    /** Ends of tags of entities, and a part of those of CMS blocks and pages, which may end in a name. Two such tags are no cleaning in a type. */
    private const OF_AN_ENTITY = '/\d$|cms_[bp]_/i';

    /** The end of the tag that all items of Magento's frontends have last. The prefix of a shop's ids is before it. */
    private const OF_A_FRONTEND = '/MAGE$/i';

    /** Tags of an item that are paired. Magento's own items have five that may be a type's. */
    private const PAIRED = 8;

    /**
     * @param array<mixed> $options as of Larder_Cache_Backend
     *
     * @throws \Zend_Cache_Exception as there. Where Magento's own factory makes it, Magento says nothing and caches in files. So PHP's log has it as well
     */
    public function __construct(array $options = [])
    {
        try {
            parent::__construct(array_diff_key($options, array_flip(self::OF_FILES)));
        } catch (\Zend_Cache_Exception $mistake) {
            error_log('Magento does not cache in Larder, because its configuration in app/etc/env.php is wrong: ' . $mistake->getMessage());
            throw $mistake;
        }
    }

    /** Everything in the store, or in the namespace: so the administration of Magento 2.4.9 flushes a cache's storage. */
    public function clear(): bool
    {
        return $this->clean(\Zend_Cache::CLEANING_MODE_ALL);
    }

    protected function larderTags(array $tags): array
    {
        $larderTags = parent::larderTags($tags);
        $frontend = array_pop($tags) ?? '';
        if (!self::isOfAFrontend($frontend)) {
            $tags[] = $frontend;
            $frontend = null;
        }
        foreach (array_filter($tags, self::isOfAFrontend(...)) as $inner) {
            $larderTags[] = $this->unpaired($inner);
        }
        if ($frontend === null) {
            return $larderTags;
        }
        $types = array_filter($tags, self::isOfAType(...));
        $paired = \count($types) > self::PAIRED ? \array_slice($types, 0, self::PAIRED - 1, true) + \array_slice($types, -1, null, true) : $types;
        foreach ($tags as $place => $tag) {
            $larderTags[] = $this->together($tag, $frontend);
            foreach ($paired as $number => $type) {
                if ($place > $number || !isset($paired[$place])) {
                    $larderTags[] = $this->together($tag, $type, $frontend);
                }
            }
        }
        foreach (array_diff_key($types, $paired) as $type) {
            $larderTags[] = $this->unpaired($type);
        }

        return $larderTags;
    }

    protected function larderTagsOfAll(array $tags): ?array
    {
        $frontends = array_filter($tags, self::isOfAFrontend(...));
        $frontend = end($frontends);
        if ($frontend === false || \count($tags) === 1) {
            return parent::larderTagsOfAll($tags);
        }
        // Items that have it, but not last.
        $larderTags = [$this->together(...$tags), $this->unpaired($frontend)];
        if (\count($tags) === 2) {
            return $larderTags;
        }
        $types = array_filter(array_diff($tags, [$frontend]), self::isOfAType(...));

        // A type names its own tag last.
        return \count($tags) === 3 && $types !== [] ? [...$larderTags, $this->unpaired(end($types))] : null;
    }

    private static function isOfAFrontend(string $tag): bool
    {
        return preg_match(self::OF_A_FRONTEND, $tag) === 1;
    }

    /** Whether it may be a cache type's. What it takes for one by mistake costs further tags, and the other way round a walk. */
    private static function isOfAType(string $tag): bool
    {
        return preg_match(self::OF_AN_ENTITY, $tag) !== 1;
    }

    /** Of items that have this tag, and lack further tags for what it may be cleaned with. */
    private function unpaired(string $tag): string
    {
        return $this->name("\0unpaired\0{$tag}");
    }

    private function together(string ...$tags): string
    {
        sort($tags, \SORT_STRING);

        return $this->name("\0together\0" . implode("\0", $tags));
    }
}
