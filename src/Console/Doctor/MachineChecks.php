<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Console\Printed;

/** Checks the machine and its PHP, before any store is opened. */
final class MachineChecks
{
    private const SHM_LOW = 64 << 20;

    public function __construct(
        private readonly Machine $machine,
    ) {}

    /** @return list<Finding> */
    public function findings(): array
    {
        return [...$this->extensions(), ...$this->sharedMemory(), ...(new ApcuChecks($this->machine))->settings(), ...$this->opcache()];
    }

    /** @return list<Finding> */
    private function extensions(): array
    {
        $found = [];
        $uses = [
            'larder' => 'shared memory (shm:), the fastest store', 'apcu' => 'apcu:', 'sqlite3' => 'sqlite:', 'redis' => 'redis: (or the package predis/predis)',
            'memcached' => 'memcached:', 'igbinary' => 'smaller values in stores that keep bytes',
        ];
        foreach ($uses as $extension => $use) {
            $found[] = \in_array($extension, $this->machine->extensions, true)
                ? Finding::fine("extension {$extension}", 'It is loaded.')
                : Finding::advice("extension {$extension}", "It is not loaded; it is for {$use}.", $extension === 'larder' ? 'make ext, then extension=larder in php.ini' : "apt-get install php-{$extension}");
        }

        return $found;
    }

    /** @return list<Finding> */
    private function sharedMemory(): array
    {
        if (!\in_array('larder', $this->machine->extensions, true)) {
            return [];
        }
        $found = [];
        if ($this->machine->shmTotal === null || $this->machine->shmFree === null) {
            $found[] = Finding::problem('/dev/shm', 'It is not there, and pools of shared memory lie in it.', 'mount -t tmpfs -o size=256m tmpfs /dev/shm');
        } elseif ($this->machine->shmFree < self::SHM_LOW) {
            $found[] = Finding::advice(
                '/dev/shm',
                \sprintf('Only %s of %s are free, which is all that a new pool can have.', Printed::bytes($this->machine->shmFree), Printed::bytes($this->machine->shmTotal)),
                'mount -o remount,size=256m /dev/shm (in a container: docker run --shm-size=256m)',
            );
        } else {
            $found[] = Finding::fine('/dev/shm', \sprintf('%s of %s are free.', Printed::bytes($this->machine->shmFree), Printed::bytes($this->machine->shmTotal)));
        }
        $size = (int) @ini_parse_quantity($this->machine->ini['larder.size'] ?? '0');
        if ($this->machine->shmTotal !== null && $size > $this->machine->shmTotal) {
            $found[] = Finding::problem(
                'larder.size',
                \sprintf('A pool of %s does not fit into /dev/shm, which has %s.', Printed::bytes($size), Printed::bytes($this->machine->shmTotal)),
                'larder.size=0 (what fits), or mount -o remount,size=' . intdiv($size + ($size >> 2), 1 << 20) . 'm /dev/shm',
            );
        }
        if ($this->machine->removesIpc && !$this->machine->isSystemUser) {
            $found[] = Finding::problem('logind', 'It removes a user\'s files from /dev/shm, pools among them, when that user logs out.', 'RemoveIPC=no in /etc/systemd/logind.conf');
        }
        foreach (['larder.zero_copy' => 'off', 'larder.protect_unpinned' => '1'] as $setting => $slow) {
            if (($this->machine->ini[$setting] ?? null) === $slow) {
                $found[] = Finding::advice($setting, 'It is set for finding faults, and slow.', $setting === 'larder.zero_copy' ? 'larder.zero_copy=auto' : 'larder.protect_unpinned=0');
            }
        }

        return $found;
    }

    /** @return list<Finding> */
    private function opcache(): array
    {
        $opcache = $this->machine->opcache;
        if ($opcache === null) {
            return $this->machine->sapi === 'cli' ? [] : [Finding::problem('opcache', 'It is off: PHP compiles every file at every request.', 'opcache.enable=1')];
        }
        if ($opcache['full'] || $opcache['used'] > 0.9 * $opcache['size']) {
            return [Finding::problem('opcache', \sprintf('It is full: %s of %s.', Printed::bytes($opcache['used']), Printed::bytes($opcache['size'])), 'opcache.memory_consumption=256')];
        }

        return [Finding::fine('opcache', \sprintf('%s of %s are used.', Printed::bytes($opcache['used']), Printed::bytes($opcache['size'])))];
    }
}
