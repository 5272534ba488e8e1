<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\ServerKind;
use Larder\Bench\Subject\WorkerProcess;

/** The scripts of `web`, one for each subject, and the servers behind them. */
final readonly class WebScripts
{
    /** Memory before Redis, through the library: those scripts load its classes. */
    public const TIERS = ['cache-tier-shared-memory-redis', 'cache-tier-apcu-redis'];

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
            'sqlite' => 'sqlite', 'sqlite-persistent' => 'sqlite',
            'redis' => "{$flavour->value}-tcp", 'redis-persistent' => "{$flavour->value}-tcp", 'redis-socket' => "{$flavour->value}-unix",
            'memcached' => 'memcached-tcp', 'memcached-persistent' => 'memcached-tcp', 'memcached-socket' => 'memcached-unix',
            ...array_combine(self::TIERS, self::TIERS),
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
                $scripts[$name] = self::script($name, $root, $server?->endpoint() ?? [], $flavour->title());
            } catch (ServerFailed $failure) {
                $outcome->fail($name, $failure);
            }
        }
        $outcome->titles = array_map(static fn(WebScript $script): string => $script->title, $scripts);

        return new self($scripts, array_values($servers));
    }

    /** @param array<string, string|int> $endpoint of the server behind it, if there is one */
    private static function script(string $name, string $root, array $endpoint, string $redis): WebScript
    {
        $isPersistent = str_ends_with($name, '-persistent');
        $isSocket = str_ends_with($name, '-socket');
        $link = ($isSocket ? 'over a Unix socket' : 'over TCP') . ($isPersistent ? ', persistent' : '');
        $address = $isSocket ? "'" . ($endpoint['socket'] ?? '') . "'" : "'127.0.0.1', " . ($endpoint['port'] ?? 0);

        return match ($name) {
            'shared-memory' => self::sharedMemory('web-' . basename($root)),
            'apcu' => new WebScript('APCu, its own copying', '$value = apcu_fetch($key);', 'apcu_store($key, $value);'),
            'file' => self::file($root),
            'php-file' => new WebScript(
                'a PHP file in opcache',
                "\$value = include '{$root}/item-' . \$key . '.inc.php';",
                "file_put_contents('{$root}/item-' . \$key . '.inc.php', '<?php return ' . var_export(\$value, true) . ';');",
            ),
            'sqlite', 'sqlite-persistent' => self::sqlite("{$root}/{$name}.db", $isPersistent),
            'redis', 'redis-persistent', 'redis-socket' => self::redis("{$redis} {$link}", $address, $isPersistent),
            'memcached', 'memcached-persistent', 'memcached-socket' => self::memcached("Memcached {$link}", $isSocket ? "{$address}, 0" : $address, $isPersistent),
            'cache-tier-shared-memory-redis' => self::tier("Larder\\Cache over shared memory before {$redis}", 'shm:web-tier-' . basename($root), $endpoint, 'array_map(Larder\SharedMemory::remove(...), preg_grep("/^web-tier-' . basename($root) . '\./", Larder\SharedMemory::names()));'),
            'cache-tier-apcu-redis' => self::tier("Larder\\Cache over APCu before {$redis}", 'apcu:', $endpoint, ''),
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

    /** @param array<string, string|int> $endpoint */
    private static function tier(string $title, string $near, array $endpoint, string $clean): WebScript
    {
        $open = 'require_once ' . var_export(WorkerProcess::autoloader(), true) . '; $cache = Larder\Cache::open(' . var_export("{$near} > redis+unix:" . ($endpoint['socket'] ?? ''), true) . '); ';

        return new WebScript($title, "{$open}\$value = \$cache->get(\$key);", "{$open}\$cache->set(\$key, \$value);", $clean);
    }

    private static function file(string $root): WebScript
    {
        return new WebScript(
            'file_get_contents',
            "\$value = file_get_contents('{$root}/item-' . \$key); if (!\$isString) { \$value = " . Extension::unserialize('$value') . '; }',
            "file_put_contents('{$root}/item-' . \$key, \$isString ? \$value : " . Extension::serialize('$value') . ');',
        );
    }

    /** The table of SqliteTable, its file not mapped; the last to close the file puts the log away, as each request does that is alone. */
    private static function sqlite(string $file, bool $isPersistent): WebScript
    {
        $open = "\$database = new PDO('sqlite:{$file}', null, null, [PDO::ATTR_PERSISTENT => " . var_export($isPersistent, true) . ', PDO::ATTR_TIMEOUT => 5]); ';
        $value = Extension::unserialize('$value');

        return new WebScript(
            'SQLite, ' . ($isPersistent ? 'persistent' : 'opened by each request'),
            $open . "\$statement = \$database->prepare('SELECT value FROM item WHERE key = ? AND (expiry IS NULL OR expiry > unixepoch())'); \$statement->execute([\$key]); "
                . "\$value = \$statement->fetchColumn(); if (!\$isString) { \$value = {$value}; }",
            $open . "\$database->exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS item (key TEXT PRIMARY KEY, value BLOB NOT NULL, expiry INTEGER) WITHOUT ROWID'); "
                . "\$statement = \$database->prepare('REPLACE INTO item (key, value) VALUES (?, ?)'); \$statement->bindValue(1, \$key); "
                . '$statement->bindValue(2, $isString ? $value : ' . Extension::serialize('$value') . ', PDO::PARAM_LOB); $statement->execute();',
        );
    }

    /** @param string $address arguments of connect() */
    private static function redis(string $title, string $address, bool $isPersistent): WebScript
    {
        $serializer = Extension::hasIgbinary() && defined('Redis::SERIALIZER_IGBINARY') ? 'Redis::SERIALIZER_IGBINARY' : 'Redis::SERIALIZER_PHP';
        $setUp = "if (!\$isString) { \$client->setOption(Redis::OPT_SERIALIZER, {$serializer}); } ";

        return new WebScript(
            $title,
            '$client = new Redis(); $client->' . ($isPersistent ? 'pconnect' : 'connect') . "({$address}); {$setUp}\$value = \$client->get(\$key);",
            "\$client = new Redis(); \$client->connect({$address}); {$setUp}\$client->set(\$key, \$value);",
        );
    }

    /** @param string $address arguments of addServer() */
    private static function memcached(string $title, string $address, bool $isPersistent): WebScript
    {
        $serializer = Extension::hasIgbinary() ? 'Memcached::SERIALIZER_IGBINARY' : 'Memcached::SERIALIZER_PHP';
        $setUp = "\$client->setOptions([Memcached::OPT_COMPRESSION => false, Memcached::OPT_SERIALIZER => {$serializer}, Memcached::OPT_TCP_NODELAY => true]); \$client->addServer({$address}); ";

        return new WebScript(
            $title,
            $isPersistent
                ? "\$client = new Memcached('bench'); if (\$client->getServerList() === []) { {$setUp}} \$value = \$client->get(\$key);"
                : "\$client = new Memcached(); {$setUp}\$value = \$client->get(\$key);",
            "\$client = new Memcached(); {$setUp}\$client->set(\$key, \$value);",
        );
    }
}
