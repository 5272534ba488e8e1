<?php

declare(strict_types=1);

namespace Larder\Magento2;

use Larder\Cache;
use Larder\Session\SessionHandler as Sessions;
use Magento\Framework\App\Config\ScopeConfigInterface;
use Magento\Framework\App\DeploymentConfig;
use Magento\Framework\App\State;

/**
 * Magento's sessions in a store of Larder that does not evict, which env.php names:
 *
 *     'session' => ['save' => 'larder', 'larder' => ['dsn' => 'shm:sessions?evict=no']],
 */
final class SessionHandler implements \SessionHandlerInterface, \SessionUpdateTimestampHandlerInterface
{
    /** Seconds. A shorter lifetime of a cookie says that it ends with the browser. */
    private const SHORTEST = 60;

    private readonly string $dsn;

    private ?Sessions $sessions = null;

    public function __construct(
        DeploymentConfig $config,
        private readonly ScopeConfigInterface $settings,
        private readonly State $state,
    ) {
        $dsn = $config->get('session/larder/dsn');
        if (!\is_string($dsn) || $dsn === '') {
            throw new \LogicException('Sessions have no place; set session/larder/dsn in app/etc/env.php to one such as "shm:sessions?evict=no".');
        }
        $this->dsn = $dsn;
    }

    public function open(string $path, string $name): bool
    {
        return $this->sessions()->open($path, $name);
    }

    public function close(): bool
    {
        return $this->sessions()->close();
    }

    /**
     * @throws \RuntimeException it cannot be read. Magento would take false for an empty session
     */
    public function read(string $id): string
    {
        $data = $this->sessions()->read($id);

        return $data !== false ? $data : throw new \RuntimeException('The session cannot be read; see that its store in app/etc/env.php runs, and which request has the session.');
    }

    public function write(string $id, string $data): bool
    {
        return $this->sessions()->write($id, $data);
    }

    public function destroy(string $id): bool
    {
        return $this->sessions()->destroy($id);
    }

    public function gc(int $max_lifetime): int|false
    {
        return $this->sessions()->gc($max_lifetime);
    }

    public function validateId(string $id): bool
    {
        return $this->sessions()->validateId($id);
    }

    public function updateTimestamp(string $id, string $data): bool
    {
        return $this->sessions()->updateTimestamp($id, $data);
    }

    /** Magento may make the handler before it knows whether the request is one of the administration. */
    private function sessions(): Sessions
    {
        return $this->sessions ??= new Sessions(Cache::open($this->dsn), $this->lifetime());
    }

    /** As long as Magento says, as with its sessions in Redis; null: as long as PHP says. */
    private function lifetime(): ?int
    {
        $lifetime = $this->state->getAreaCode() === 'adminhtml'
            ? $this->settings->getValue('admin/security/session_lifetime')
            : $this->settings->getValue('web/cookie/cookie_lifetime', 'store');

        return is_numeric($lifetime) && $lifetime >= self::SHORTEST ? (int) $lifetime : null;
    }
}
