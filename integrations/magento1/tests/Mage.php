<?php

declare(strict_types=1);

// As much of OpenMage as the session handler meets: a configuration, which is xml, and how a session finds its handler.

final class Mage
{
    private static ?Mage_Core_Model_Config $config = null;

    public static function getConfig(): Mage_Core_Model_Config
    {
        return self::$config ??= new Mage_Core_Model_Config((string) getenv('LOCAL_XML'));
    }

    /** @return ?string of the shop's settings, which are in the database of a real one */
    public static function getStoreConfig(string $path)
    {
        $setting = self::getConfig()->getNode("default/{$path}");

        return $setting === false ? null : (string) $setting;
    }

    public static function app(): Mage_Core_Model_App
    {
        return new Mage_Core_Model_App();
    }

    /** What comes before session_start(). The place in the database may be another class. */
    public static function setSaveHandler(): void
    {
        $config = self::getConfig();
        if ((string) $config->getNode('global/session_save') !== 'db') {
            throw new TypeError('OpenMage calls an element of xml for "user", which nothing can do.');
        }
        /** @var class-string<Larder_Session_Handler> */
        $class = (string) $config->getNode('global/models/core_resource/rewrite/session');
        (new $class())->setSaveHandler();
    }
}

final class Mage_Core_Model_Config
{
    public function __construct(
        private readonly string $xml,
    ) {}

    /** @return SimpleXMLElement|false */
    public function getNode(string $path)
    {
        $found = (new SimpleXMLElement($this->xml))->xpath($path);

        return is_array($found) && isset($found[0]) ? $found[0] : false;
    }
}

final class Mage_Core_Model_App
{
    public function getStore(): Mage_Core_Model_Store
    {
        return new Mage_Core_Model_Store();
    }
}

final class Mage_Core_Model_Store
{
    public function isAdmin(): bool
    {
        return getenv('IS_ADMIN') === '1';
    }
}
