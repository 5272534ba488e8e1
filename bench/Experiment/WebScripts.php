<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\ServerKind;

/** The scripts of `web`, one for each subject, and the servers behind them. */
final readonly class WebScripts
{
    /**
     * @param non-empty-array<string, WebScript> $scripts by the subject's name, an empty one among them
     * @param list<Server> $servers
     */
    private function __construct(public array $scripts, public array $servers) {}

    /** Those that can run here; the others are left out of the outcome with a reason. */
    public static function of(Laboratory $laboratory, Outcome $outcome, string $root): self
    {
        $scripts = ['empty' => new WebScript('an empty script', '', '')];
        $servers = [];
        // Only one of the two that speak Redis's protocol: what differs is the server, which `clients` compares.
        $flavour = RedisFlavour::installed() ?? RedisFlavour::Redis;
        $needs = [
            'shared-memory' => 'shared-memory', 'apcu' => 'apcu-default', 'file' => 'file-disk', 'php-file' => 'php-file',
            'redis' => "{$flavour->value}-tcp", 'redis-persistent' => "{$flavour->value}-tcp",
            'memcached' => 'memcached-tcp', 'memcached-persistent' => 'memcached-tcp',
        ];
        foreach ($needs as $name => $need) {
            if (!$outcome->includes($laboratory, $name, $need)) {
                continue;
            }
            try {
                $kind = $laboratory->subjects[$need]->server;
                $server = $kind === null ? null : $laboratory->server($kind);
                if ($kind instanceof ServerKind && $server !== null) {
                    $servers[$kind->value] = $server;
                }
                $scripts[$name] = self::script($name, $root, (int) ($server?->endpoint()['port'] ?? 0), $flavour->title());
            } catch (ServerFailed $failure) {
                $outcome->fail($name, $failure);
            }
        }
        $outcome->titles = array_map(static fn(WebScript $script): string => $script->title, $scripts);

        return new self($scripts, array_values($servers));
    }

    private static function script(string $name, string $root, int $port, string $redis): WebScript
    {
        return match ($name) {
            'shared-memory' => self::sharedMemory(basename($root)),
            'apcu' => new WebScript('APCu, its own copying', '$value = apcu_fetch($key);', 'apcu_store($key, $value);'),
            'file' => self::file($root),
            'php-file' => new WebScript(
                'a PHP file in opcache',
                "\$value = include '{$root}/item-' . \$key . '.inc.php';",
                "file_put_contents('{$root}/item-' . \$key . '.inc.php', '<?php return ' . var_export(\$value, true) . ';');",
            ),
            'redis', 'redis-persistent' => self::redis($redis, $port, $name === 'redis-persistent'),
            'memcached', 'memcached-persistent' => self::memcached($port, $name === 'memcached-persistent'),
            default => throw new \LogicException("There is no script {$name}."),
        };
    }

    private static function sharedMemory(string $pool): WebScript
    {
        return new WebScript(
            'Larder shared memory',
            "\$value = Larder\\SharedMemory::open('{$pool}')->get(\$key);",
            "Larder\\SharedMemory::open('{$pool}')->set(\$key, \$value);",
            "Larder\\SharedMemory::remove('{$pool}');",
        );
    }

    private static function file(string $root): WebScript
    {
        return new WebScript(
            'file_get_contents',
            "\$value = file_get_contents('{$root}/item-' . \$key); if (!\$isString) { \$value = " . Extension::unserialize('$value') . '; }',
            "file_put_contents('{$root}/item-' . \$key, \$isString ? \$value : " . Extension::serialize('$value') . ');',
        );
    }

    private static function redis(string $title, int $port, bool $isPersistent): WebScript
    {
        $serializer = Extension::hasIgbinary() && defined('Redis::SERIALIZER_IGBINARY') ? 'Redis::SERIALIZER_IGBINARY' : 'Redis::SERIALIZER_PHP';
        $setUp = "if (!\$isString) { \$client->setOption(Redis::OPT_SERIALIZER, {$serializer}); } ";

        return new WebScript(
            "{$title} over TCP" . ($isPersistent ? ', persistent' : ''),
            '$client = new Redis(); $client->' . ($isPersistent ? 'pconnect' : 'connect') . "('127.0.0.1', {$port}); {$setUp}\$value = \$client->get(\$key);",
            "\$client = new Redis(); \$client->connect('127.0.0.1', {$port}); {$setUp}\$client->set(\$key, \$value);",
        );
    }

    private static function memcached(int $port, bool $isPersistent): WebScript
    {
        $serializer = Extension::hasIgbinary() ? 'Memcached::SERIALIZER_IGBINARY' : 'Memcached::SERIALIZER_PHP';
        $setUp = "\$client->setOptions([Memcached::OPT_COMPRESSION => false, Memcached::OPT_SERIALIZER => {$serializer}, Memcached::OPT_TCP_NODELAY => true]); \$client->addServer('127.0.0.1', {$port}); ";

        return new WebScript(
            'Memcached over TCP' . ($isPersistent ? ', persistent' : ''),
            $isPersistent
                ? "\$client = new Memcached('bench'); if (\$client->getServerList() === []) { {$setUp}} \$value = \$client->get(\$key);"
                : "\$client = new Memcached(); {$setUp}\$value = \$client->get(\$key);",
            "\$client = new Memcached(); {$setUp}\$client->set(\$key, \$value);",
        );
    }
}
