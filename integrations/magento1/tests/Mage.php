<?php

declare(strict_types=1);

// As much of OpenMage as the session handler meets: a configuration, which is xml.

final class Mage
{
    private static ?Mage_Core_Model_Config $config = null;

    public static function getConfig(): Mage_Core_Model_Config
    {
        return self::$config ??= new Mage_Core_Model_Config((string) getenv('LOCAL_XML'));
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
