<?php

declare(strict_types=1);

// As much of Zend_Cache as a backend meets, in our own words, so that the tests need no other package. tools/integration magento1
// takes the original instead where LARDER_ZEND names the folder that has Zend/Cache.php in it.

class Zend_Cache_Exception extends Exception {}

final class Zend_Cache
{
    public const CLEANING_MODE_ALL = 'all';
    public const CLEANING_MODE_OLD = 'old';
    public const CLEANING_MODE_MATCHING_TAG = 'matchingTag';
    public const CLEANING_MODE_NOT_MATCHING_TAG = 'notMatchingTag';
    public const CLEANING_MODE_MATCHING_ANY_TAG = 'matchingAnyTag';

    /** @throws Zend_Cache_Exception */
    public static function throwException(string $message, ?Exception $before = null): never
    {
        throw new Zend_Cache_Exception($message, 0, $before);
    }
}

interface Zend_Cache_Backend_Interface
{
    /**
     * @param array<string, mixed> $directives
     *
     * @return void
     */
    public function setDirectives($directives);

    /**
     * @param string $id
     * @param bool   $doNotTestCacheValidity
     *
     * @return string|false
     */
    public function load($id, $doNotTestCacheValidity = false);

    /**
     * @param string $id
     *
     * @return int|false
     */
    public function test($id);

    /**
     * @param string                $data
     * @param string                $id
     * @param array<mixed>|string   $tags
     * @param int|string|false|null $specificLifetime
     *
     * @return bool
     */
    public function save($data, $id, $tags = [], $specificLifetime = false);

    /**
     * @param string $id
     *
     * @return bool
     */
    public function remove($id);

    /**
     * @param string              $mode
     * @param array<mixed>|string $tags
     *
     * @return bool
     */
    public function clean($mode = Zend_Cache::CLEANING_MODE_ALL, $tags = []);
}

interface Zend_Cache_Backend_ExtendedInterface extends Zend_Cache_Backend_Interface
{
    /** @return array<string> */
    public function getIds();

    /** @return array<string> */
    public function getTags();

    /**
     * @param array<mixed>|string $tags
     *
     * @return array<string>
     */
    public function getIdsMatchingTags($tags = []);

    /**
     * @param array<mixed>|string $tags
     *
     * @return array<string>
     */
    public function getIdsNotMatchingTags($tags = []);

    /**
     * @param array<mixed>|string $tags
     *
     * @return array<string>
     */
    public function getIdsMatchingAnyTags($tags = []);

    /** @return int */
    public function getFillingPercentage();

    /**
     * @param string $id
     *
     * @return array<string, mixed>|false
     */
    public function getMetadatas($id);

    /**
     * @param string     $id
     * @param int|string $extraLifetime
     *
     * @return bool
     */
    public function touch($id, $extraLifetime);

    /** @return array<string, bool> */
    public function getCapabilities();
}

class Zend_Cache_Backend
{
    /** @var array<string, mixed> */
    protected $_directives = ['lifetime' => 3600, 'logging' => false, 'logger' => null];

    /** @var array<string, mixed> */
    protected $_options = [];

    /** @param array<mixed> $options */
    public function __construct(array $options = [])
    {
        foreach (array_intersect_key($options, $this->_options) as $name => $value) {
            $this->_options[(string) $name] = $value;
        }
    }

    /**
     * @param array<string, mixed> $directives
     *
     * @return void
     */
    public function setDirectives($directives)
    {
        $this->_directives = array_intersect_key($directives, $this->_directives) + $this->_directives;
    }

    /**
     * @param int|string|false|null $specificLifetime
     *
     * @return mixed
     */
    public function getLifetime($specificLifetime)
    {
        return $specificLifetime === false ? $this->_directives['lifetime'] : $specificLifetime;
    }

    /** @return bool */
    public function isAutomaticCleaningAvailable()
    {
        return true;
    }

    /**
     * @param string $message
     * @param int    $priority
     *
     * @return void
     */
    protected function _log($message, $priority = 4)
    {
        $logger = $this->_directives['logging'] === true ? $this->_directives['logger'] : null;
        if (is_callable($logger)) {
            $logger($message, $priority);
        }
    }
}
