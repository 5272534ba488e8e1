<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\FileSystem;
use Larder\Bench\Server\CpuTime;
use Larder\Bench\Server\FastCgi;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\Subject\WorkerProcess;

/**
 * The processor time that a request of php-fpm pays for opening a cache and reading one value. It is compared with a request
 * that only loads Composer's autoloader. Nothing is preloaded. The scripts take turns, and each has a database and keys of its
 * own.
 */
final readonly class OpeningRequests
{
    public const ADDED = 'processor time that opening and one read add to a request';
    public const CASE = ['request' => 'opens the cache, reads one value'];
    /** What our requests are compared with, or null where their time itself is promised. */
    public const OURS = ['opening-shm' => null, 'opening-tier' => null, 'opening-sqlite' => 'opening-sqlite-by-hand', 'opening-redis' => 'opening-redis-by-hand'];
    private const TIME = 'processor time of a request';
    private const EMPTY = 'opening-nothing';
    /** Requests of a script, one after the other, that make a sample. */
    private const REQUESTS = 20;
    /** Requests of each script before these: opcache compiles it, and PHP grows to its size. */
    private const WARM = 10;

    /** @param array<string, array{title: string, read: string, write: string}> $scripts by their names, that of a request that opens nothing among them */
    private function __construct(private Outcome $outcome, private array $scripts) {}

    /** @throws Interrupted */
    public static function measure(Laboratory $laboratory, Outcome $outcome): void
    {
        [$starts, $blocks] = $laboratory->profile === Profile::Quick ? [2, 20] : [4, 40];
        $pool = 'bench-opening-' . bin2hex(random_bytes(6));
        for ($start = 0; $start < $starts; $start++) {
            $root = TemporaryDirectory::make(FileSystem::onDisk());
            try {
                $scripts = self::scripts($laboratory, $outcome, $root->path, $pool);
                if ($scripts === []) {
                    return;
                }
                (new self($outcome, $scripts))->take($laboratory, $root->path, $pool, $start, $blocks);
            } catch (ServerFailed|WorkerFailed $failure) {
                $outcome->fail(self::EMPTY, $failure);

                return;
            } finally {
                $root->remove();
            }
        }
    }

    /**
     * Those that can run here, and the empty one if there are any.
     *
     * @return array<string, array{title: string, read: string, write: string}>
     */
    private static function scripts(Laboratory $laboratory, Outcome $outcome, string $root, string $pool): array
    {
        $scripts = [];
        $flavour = RedisFlavour::installed() ?? RedisFlavour::Redis;
        $redis = "{$flavour->value}-unix";
        $needs = ['shm' => 'shared-memory', 'tier' => 'apcu-default', 'sqlite' => 'sqlite', 'sqlite-by-hand' => 'sqlite', 'redis' => $redis, 'redis-by-hand' => $redis];
        foreach ($needs as $name => $need) {
            if (!isset($laboratory->subjects[$need]) || !$outcome->includes($laboratory, "opening-{$name}", $need)) {
                continue;
            }
            try {
                $server = $laboratory->subjects[$need]->server;
                $socket = $server === null ? '' : (string) ($laboratory->server($server)->endpoint()['socket'] ?? '');
                $scripts["opening-{$name}"] = match ($name) {
                    'shm' => self::ours('shm:', "shm:{$pool}"),
                    'tier' => self::ours('apcu: > sqlite:', "apcu: > sqlite:{$root}/tier.db"),
                    'sqlite' => self::ours('sqlite:', "sqlite:{$root}/larder.db"),
                    'redis' => self::ours('redis+unix:', "redis+unix:{$socket}?prefix=opening"),
                    'sqlite-by-hand' => self::sqlite("{$root}/by-hand.db"),
                    default => self::redis($flavour->title(), $socket),
                };
            } catch (ServerFailed $failure) {
                $outcome->fail("opening-{$name}", $failure);
            }
        }
        if ($scripts !== []) {
            $scripts[self::EMPTY] = ['title' => 'a request that opens nothing', 'read' => "\$value = 'hello world';", 'write' => ''];
        }
        $outcome->titles += array_map(static fn(array $script): string => $script['title'], $scripts);

        return $scripts;
    }

    /** @return array{title: string, read: string, write: string} */
    private static function ours(string $title, string $dsn): array
    {
        $open = 'Larder\Cache::open(' . var_export($dsn, true) . ')';

        return ['title' => "Larder\\Cache opens {$title}", 'read' => "\$value = {$open}->get('greeting');", 'write' => "{$open}->set('greeting', 'hello world');"];
    }

    /** @return array{title: string, read: string, write: string} */
    private static function sqlite(string $file): array
    {
        $open = '$database = new SQLite3(' . var_export($file, true) . '); $database->busyTimeout(1000); ';

        return [
            'title' => 'SQLite3 by hand',
            'read' => "{$open}\$statement = \$database->prepare('SELECT value FROM item WHERE key = ? AND (expiry IS NULL OR expiry > ?)'); "
                . "\$statement->bindValue(1, 'greeting'); \$statement->bindValue(2, time()); \$value = unserialize(\$statement->execute()->fetchArray(SQLITE3_NUM)[0]);",
            'write' => "{$open}\$database->exec('PRAGMA journal_mode = WAL; CREATE TABLE item (key TEXT PRIMARY KEY, value BLOB NOT NULL, expiry INTEGER) WITHOUT ROWID'); "
                . "\$statement = \$database->prepare('INSERT INTO item (key, value) VALUES (?, ?)'); "
                . "\$statement->bindValue(1, 'greeting'); \$statement->bindValue(2, serialize('hello world'), SQLITE3_BLOB); \$statement->execute();",
        ];
    }

    /** @return array{title: string, read: string, write: string} */
    private static function redis(string $server, string $socket): array
    {
        $open = '$redis = new Redis(); $redis->connect(' . var_export($socket, true) . '); ';

        return [
            'title' => "phpredis by hand, {$server} over a Unix socket",
            'read' => "{$open}\$value = unserialize(\$redis->get('opening by hand'));",
            'write' => "{$open}\$redis->set('opening by hand', serialize('hello world'));",
        ];
    }

    /**
     * @throws Interrupted
     * @throws ServerFailed
     * @throws WorkerFailed
     */
    private function take(Laboratory $laboratory, string $root, string $pool, int $start, int $blocks): void
    {
        $settings = [...Extension::settings(), ...WorkerProcess::SETTINGS, 'display_errors' => '1', 'apc.serializer' => 'default'];
        $fpm = PhpFpmServer::start($settings, 1, $laboratory->placement->server);
        $laboratory->describe(['php-fpm' => $fpm->description()]);
        $worker = new FastCgi($fpm->socket);
        try {
            foreach ($this->scripts as $name => $script) {
                $begin = '<?php require ' . var_export(WorkerProcess::autoloader(), true) . '; ';
                file_put_contents("{$root}/{$name}.php", "{$begin}{$script['read']} echo \$value;");
                file_put_contents("{$root}/fill-{$name}.php", "{$begin}{$script['write']} echo 'hello world';");
                $this->ask($worker, $root, "fill-{$name}", 1);
                $this->ask($worker, $root, $name, self::WARM);
            }
            for ($block = 0; $block < $blocks; $block++) {
                $laboratory->goOn();
                $this->block($worker, $fpm->processIds(), $root, $start, $block);
            }
        } finally {
            if (isset($this->scripts['opening-shm'])) {
                // A pool outlives php-fpm.
                file_put_contents("{$root}/clean.php", '<?php Larder\SharedMemory::remove(' . var_export($pool, true) . ');');
                $worker->get("{$root}/clean.php");
            }
            $fpm->stop();
        }
    }

    /** @param list<int> $processes of php-fpm */
    private function block(FastCgi $worker, array $processes, string $root, int $start, int $block): void
    {
        $times = [];
        foreach (Shuffled::of($this->scripts) as $name => $script) {
            $before = CpuTime::of($processes);
            $this->ask($worker, $root, $name, self::REQUESTS);
            $times[$name] = (CpuTime::of($processes) - $before) / self::REQUESTS;
        }
        foreach ($times as $name => $time) {
            $this->outcome->measurement(self::CASE, self::TIME, 'ns', Direction::LowerIsBetter, $name)->add($start, $block, $time);
            if ($name !== self::EMPTY) {
                $this->outcome->measurement(self::CASE, self::ADDED, 'ns a request', Direction::LowerIsBetter, $name)->add($start, $block, $time - $times[self::EMPTY]);
            }
        }
    }

    private function ask(FastCgi $worker, string $root, string $script, int $times): void
    {
        for ($request = 0; $request < $times; $request++) {
            $answer = $worker->get("{$root}/{$script}.php");
            if ($answer !== 'hello world') {
                throw WorkerFailed::said("The script {$script}", sprintf('a request was answered "%s"', trim(strip_tags(substr((string) $answer, 0, 300)))));
            }
        }
    }
}
