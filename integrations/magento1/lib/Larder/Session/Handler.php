<?php

declare(strict_types=1);

use Larder\Cache;
use Larder\Session\SessionHandler;

/**
 * Sessions of OpenMage in a store of Larder that does not evict. One request at a time has a session, so that no request loses another
 * one's changes. It stands where OpenMage has its sessions in the database:
 *
 *     <session_save>db</session_save>
 *     <models><core_resource><rewrite><session>Larder_Session_Handler</session></rewrite></core_resource></models>
 *     <larder_session><dsn>shm:sessions?evict=no</dsn></larder_session>
 */
final class Larder_Session_Handler
{
    /** Seconds. OpenMage takes a shorter lifetime for none. */
    private const SHORTEST = 60;

    /**
     * What OpenMage calls before it starts a session. The DSN is that of global/larder_session/dsn in local.xml.
     *
     * @throws \Larder\Exception the DSN is none, or its store may lose a session
     */
    public function setSaveHandler(): self
    {
        $node = Mage::getConfig()->getNode('global/larder_session/dsn');
        $dsn = $node === false ? '' : (string) $node;
        if ($dsn === '') {
            throw new LogicException('Sessions have no place; set global/larder_session/dsn in local.xml to one such as "shm:sessions?evict=no".');
        }
        session_set_save_handler(new SessionHandler(Cache::open($dsn), self::lifetime()), true);

        return $this;
    }

    /** As long as the shop or its administration says that a session's cookie lives; null: as long as PHP says, as with OpenMage's own sessions. */
    private static function lifetime(): ?int
    {
        $lifetime = (int) Mage::getStoreConfig(Mage::app()->getStore()->isAdmin() ? 'admin/security/session_cookie_lifetime' : 'web/cookie/cookie_lifetime');

        return $lifetime < self::SHORTEST ? null : $lifetime;
    }
}
