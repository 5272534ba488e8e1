<?php

declare(strict_types=1);

// As much of Zend's frontend as Magento's frontends meet, in our own words. Zend/Cache.php is that of integrations/magento1.

class Zend_Cache_Core
{
    /** @var array<string, mixed> */
    protected $_options = ['caching' => true, 'cache_id_prefix' => null, 'lifetime' => 3600, 'write_control' => true];

    private ?Zend_Cache_Backend_ExtendedInterface $backend = null;

    /** @param array<mixed> $options */
    public function __construct($options = [])
    {
        foreach (array_intersect_key($options, $this->_options) as $name => $value) {
            $this->_options[(string) $name] = $value;
        }
    }

    /** @return void */
    public function setBackend(Zend_Cache_Backend $backendObject)
    {
        assert($backendObject instanceof Zend_Cache_Backend_ExtendedInterface);
        $backendObject->setDirectives(['lifetime' => $this->_options['lifetime']]);
        $this->backend = $backendObject;
    }

    /** @return Zend_Cache_Backend_ExtendedInterface */
    public function getBackend()
    {
        return $this->backend ?? throw new Zend_Cache_Exception('There is no backend.');
    }

    /**
     * @param string $id
     * @param bool   $doNotTestCacheValidity
     * @param bool   $doNotUnserialize
     *
     * @return mixed
     */
    public function load($id, $doNotTestCacheValidity = false, $doNotUnserialize = false)
    {
        return $this->_options['caching'] === true ? $this->getBackend()->load($this->legal($this->_id($id)), $doNotTestCacheValidity) : false;
    }

    /**
     * @param string $id
     *
     * @return int|bool
     */
    public function test($id)
    {
        return $this->_options['caching'] === true ? $this->getBackend()->test($this->legal($this->_id($id))) : false;
    }

    /**
     * @param mixed          $data
     * @param ?string        $id
     * @param array<string>  $tags
     * @param int|false|null $specificLifetime
     * @param int            $priority
     *
     * @return bool
     */
    public function save($data, $id = null, $tags = [], $specificLifetime = false, $priority = 8)
    {
        if ($this->_options['caching'] !== true) {
            return true;
        }
        $id = $this->legal($this->_id($id));
        array_map($this->legal(...), $tags);
        assert(is_string($data));
        if ($this->getBackend()->save($data, $id, $tags, $specificLifetime) && $this->getBackend()->load($id, true) === $data) {
            return true;
        }
        $this->getBackend()->remove($id);

        return false;
    }

    /**
     * @param string $id
     *
     * @return bool
     */
    public function remove($id)
    {
        return $this->_options['caching'] !== true || $this->getBackend()->remove($this->legal($this->_id($id)));
    }

    /**
     * @param string        $mode
     * @param array<string> $tags
     *
     * @return bool
     */
    public function clean($mode = 'all', $tags = [])
    {
        return $this->_options['caching'] !== true || $this->getBackend()->clean($mode, array_map($this->legal(...), $tags));
    }

    /**
     * @param array<string> $tags
     *
     * @return array<string>
     */
    public function getIdsMatchingTags($tags = [])
    {
        return $this->getBackend()->getIdsMatchingTags($tags);
    }

    /**
     * @param ?string $id
     *
     * @return ?string
     */
    protected function _id($id)
    {
        $prefix = $this->_options['cache_id_prefix'];

        return is_string($prefix) && $id !== null ? $prefix . $id : $id;
    }

    private function legal(?string $name): string
    {
        return preg_match('/^\w+$/D', (string) $name) === 1 ? (string) $name : throw new Zend_Cache_Exception("It is no id: {$name}");
    }
}
