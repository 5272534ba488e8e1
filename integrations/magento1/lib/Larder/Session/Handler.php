<?php

declare(strict_types=1);

use Larder\Cache;
use Larder\Session\SessionHandler;

/**
 * Sessions of OpenMage in a store of Larder that does not evict. One request at a time has a session, so that no request loses another
 * one's changes.
 *
 *     <session_save>user</session_save>
 *     <session_save_path>Larder_Session_Handler::start</session_save_path>
 *     <larder_session><dsn>shm:sessions?evict=no</dsn></larder_session>
 */
final class Larder_Session_Handler
{
    private function __construct() {}

    /** What OpenMage calls before it starts a session. The DSN is that of global/larder_session/dsn in local.xml. */
    public static function start(): void
    {
        $node = Mage::getConfig()->getNode('global/larder_session/dsn');
        $dsn = $node === false ? '' : (string) $node;
        if ($dsn === '') {
            throw new LogicException('Sessions have no place; set global/larder_session/dsn in local.xml to one such as "shm:sessions?evict=no".');
        }
        self::in($dsn);
    }

    /** @throws \Larder\Exception the DSN is none, or its store may lose a session */
    public static function in(#[\SensitiveParameter] string $dsn): void
    {
        session_set_save_handler(new SessionHandler(Cache::open($dsn)), true);
    }
}
