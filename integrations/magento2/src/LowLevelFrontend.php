<?php

declare(strict_types=1);

namespace Larder\Magento2;

/** Zend's frontend, with the ids and tags that Magento's own makes of what it is given. */
final class LowLevelFrontend extends \Zend_Cache_Core
{
    /**
     * @param string         $data
     * @param ?string        $id
     * @param array<string>  $tags
     * @param int|false|null $specificLifetime
     * @param int            $priority
     *
     * @return bool
     */
    public function save($data, $id = null, $tags = [], $specificLifetime = false, $priority = 8)
    {
        return parent::save($data, $id, $this->names($tags), $specificLifetime, $priority);
    }

    /**
     * @param string        $mode
     * @param array<string> $tags
     *
     * @return bool
     */
    public function clean($mode = \Zend_Cache::CLEANING_MODE_ALL, $tags = [])
    {
        return parent::clean($mode, $this->names($tags));
    }

    /**
     * @param array<string> $tags
     *
     * @return array<string>
     */
    public function getIdsMatchingTags($tags = [])
    {
        return parent::getIdsMatchingTags($this->names($tags));
    }

    /**
     * @param array<string> $tags
     *
     * @return array<string>
     */
    public function getIdsNotMatchingTags($tags = [])
    {
        return parent::getIdsNotMatchingTags($this->names($tags));
    }

    /**
     * @param array<string> $tags
     *
     * @return array<string>
     */
    public function getIdsMatchingAnyTags($tags = [])
    {
        return parent::getIdsMatchingAnyTags($this->names($tags));
    }

    /**
     * @param ?string $id
     *
     * @return ?string
     */
    protected function _id($id)
    {
        return parent::_id($id === null ? null : preg_replace('/[^a-zA-Z0-9_]/', '_', str_replace('.', '__', $id)));
    }

    /**
     * @param array<string> $tags
     *
     * @return list<string>
     */
    private function names(array $tags): array
    {
        return array_map(fn(string $tag): string => (string) $this->_id($tag), array_values($tags));
    }
}
