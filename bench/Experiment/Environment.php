<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\FileSystem;
use Larder\Bench\Server\Program;
use SQLite3;

/** What the machine is, as far as figures depend on it. */
final class Environment
{
    private const NOT_STATED = 'not stated by this machine';

    /** @return array<string, string> */
    public static function ofThisMachine(): array
    {
        $processor = self::read('/proc/cpuinfo');

        return [
            'processor' => self::match('/^(?:model name|Model|CPU implementer)\s*:\s*(.+)$/m', $processor),
            'cores' => (string) max(1, preg_match_all('/^processor\s*:/m', $processor)),
            'architecture' => php_uname('m'),
            'memory' => self::mebibytes(self::match('/^MemTotal:\s*(\d+) kB$/m', self::read('/proc/meminfo'))),
            'system' => self::match('/^PRETTY_NAME="?([^"\n]+)"?$/m', self::read('/etc/os-release')),
            // What follows the numbers is the builder's business.
            'kernel' => 'Linux ' . self::match('/^(\d+(?:\.\d+)*)/', php_uname('r')),
            'governor' => trim(self::read('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')) ?: self::NOT_STATED,
            'huge pages' => self::match('/\[(\w+)\]/', self::read('/sys/kernel/mm/transparent_hugepage/enabled')),
            'huge pages in shared memory' => self::match('/\[(\w+)\]/', self::read('/sys/kernel/mm/transparent_hugepage/shmem_enabled')),
            'disk of the files' => FileSystem::description(FileSystem::onDisk()),
        ];
    }

    /** @return array<string, string> of what this process has for measuring within PHP; servers tell theirs when they start */
    public static function versions(): array
    {
        $versions = ['PHP' => PHP_VERSION . ' ' . (PHP_ZTS === 1 ? 'ZTS' : 'NTS') . (PHP_DEBUG === 1 ? ' debug' : '')];
        foreach (['larder', 'apcu', 'igbinary', 'redis', 'memcached', 'Zend OPcache'] as $extension) {
            $versions["ext-{$extension}"] = extension_loaded($extension) ? (phpversion($extension) ?: 'loaded') : 'not loaded';
        }
        if (class_exists(SQLite3::class)) {
            $version = SQLite3::version();
            $versions['SQLite'] = is_string($version['versionString'] ?? null) ? $version['versionString'] : 'unknown';
        }
        if (class_exists(\Predis\Client::class)) {
            $versions['Predis'] = \Predis\Client::VERSION;
        }
        $wrk = Program::find('wrk');
        if ($wrk !== null) {
            $versions['wrk'] = Program::version([$wrk, '-v']);
        }

        return $versions;
    }

    /** Time that the hypervisor gave to others, summed over all processors since the machine started, in ticks of 10 ms. */
    public static function stealTicks(): int
    {
        $fields = preg_split('/\s+/', (string) strtok(self::read('/proc/stat'), "\n"));

        return (int) ($fields[8] ?? 0);
    }

    private static function read(string $file): string
    {
        return is_readable($file) ? (string) file_get_contents($file) : '';
    }

    private static function match(string $pattern, string $text): string
    {
        return preg_match($pattern, $text, $match) === 1 ? trim($match[1]) : self::NOT_STATED;
    }

    private static function mebibytes(string $kibibytes): string
    {
        return is_numeric($kibibytes) ? round((int) $kibibytes / 1024) . ' MiB' : self::NOT_STATED;
    }
}
