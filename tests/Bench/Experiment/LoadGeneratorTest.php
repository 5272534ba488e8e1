<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\LoadGenerator;
use Larder\Bench\FileSystem;
use Larder\Bench\Server\MemcachedServer;
use Larder\Bench\Server\NginxServer;
use Larder\Bench\Server\Server;
use Larder\Tests\Bench\RealServers;
use PHPUnit\Framework\Attributes\TestWith;
use Redis;

final class LoadGeneratorTest extends RealServers
{
    private const KEYS = 500;

    #[TestWith(['resp', 32])]
    #[TestWith(['resp', 70_000])]
    #[TestWith(['memcached', 32])]
    #[TestWith(['memcached', 70_000])]
    public function testEveryKeyThatWasStoredIsReadWithItsValue(string $protocol, int $bytes): void
    {
        $server = self::server($protocol);
        $generator = LoadGenerator::build([]);
        $protocol = $protocol === 'resp' ? 'resp' : 'memcached';
        $stored = $generator->items($protocol, $server->endpoint(), true, 3, self::KEYS, self::KEYS, $bytes, [], true);
        $read = $generator->items($protocol, $server->endpoint(), false, 7, 3 * self::KEYS, self::KEYS, $bytes, $server->processIds());

        self::assertSame([self::KEYS, 0], [$stored->requests, $stored->errors]);
        self::assertSame([3 * self::KEYS, 0], [$read->requests, $read->errors]);
        self::assertGreaterThan(0, $read->watched);
        self::assertGreaterThan(0.0, $read->rate());
        $server->stop();
    }

    #[TestWith(['resp'])]
    #[TestWith(['memcached'])]
    public function testAKeyThatIsMissingIsAnError(string $protocol): void
    {
        $server = self::server($protocol);
        $found = LoadGenerator::build([])->items($protocol === 'resp' ? 'resp' : 'memcached', $server->endpoint(), false, 1, 20, self::KEYS, 32);

        self::assertSame([0, 20], [$found->requests, $found->errors]);
        $server->stop();
    }

    public function testAnotherKeysValueIsAnError(): void
    {
        $server = self::redis();
        $generator = LoadGenerator::build([]);
        $generator->items('resp', $server->endpoint(), true, 1, self::KEYS, self::KEYS, 32, [], true);
        $client = new Redis();
        $client->connect($server->socket);
        $value = $client->get('key:000000000007');
        self::assertIsString($value);
        $client->set('key:000000000008', $value);
        $found = $generator->items('resp', $server->endpoint(), false, 1, self::KEYS, self::KEYS, 32, [], true);

        self::assertSame([self::KEYS - 1, 1], [$found->requests, $found->errors]);
        $server->stop();
    }

    public function testPagesTakeTurnsInSlicesOfTheirOwn(): void
    {
        self::need('nginx');
        $root = FileSystem::onDisk() . '/larder-load-' . bin2hex(random_bytes(6));
        mkdir($root, 0o700);
        $nginx = NginxServer::start($root, '/nowhere', 1);
        try {
            // Everything but this address goes to a php-fpm that is not there.
            $slices = LoadGenerator::build([])->pages($nginx->port, ['/nginx-is-here', '/x', '/nginx-is-here'], 2, true, 0.3, $nginx->processIds());
        } finally {
            $nginx->stop();
            FileSystem::remove($root);
        }
        self::assertCount(3, $slices);
        // 204 is not 200, and 502 is neither: nothing but the page asked for counts.
        self::assertSame([0, 0, 0], array_map(static fn(object $slice): int => $slice->requests, $slices));
        foreach ($slices as $slice) {
            self::assertGreaterThan(0, $slice->errors);
        }
    }

    public function testAPageIsAskedForWithTheGivenHeader(): void
    {
        self::need('nginx');
        $root = FileSystem::onDisk() . '/larder-load-' . bin2hex(random_bytes(6));
        mkdir($root, 0o700);
        file_put_contents("{$root}/page.html.gz", (string) gzencode('page'));
        $nginx = NginxServer::start($root, '/nowhere', 1, isSite: true);
        try {
            file_put_contents("{$root}/page.html", str_repeat('plain', 60_000));
            $generator = LoadGenerator::build([]);
            $plain = $generator->pages($nginx->port, ['/page.html'], 1, true, 0.2);
            $seen = $generator->begin($nginx->port, ['/page.html'], 1, true, 0.2, 'Accept-Encoding: gzip');
            do {
                $compressed = $seen();
                usleep(1_000);
            } while ($compressed === null);
        } finally {
            $nginx->stop();
            FileSystem::remove($root);
        }
        // The generator takes no answer of 300,000 bytes, but the compressed one.
        self::assertSame(0, $plain[0]->requests ?? null);
        self::assertGreaterThan(0, $compressed->requests);
        self::assertSame(0, $compressed->errors);
    }

    public function testPagesAreAskedForAtRandomAndEachAnswerIsItsOwn(): void
    {
        self::need('nginx');
        $root = FileSystem::onDisk() . '/larder-load-' . bin2hex(random_bytes(6));
        mkdir($root, 0o700);
        file_put_contents("{$root}/page.html", 'page');
        $nginx = NginxServer::start($root, '/nowhere', 1, isSite: true);
        try {
            $right = $wrong = 0;
            // A machine that is busy enough makes few requests in that time.
            for ($i = 0; $i < 50 && ($right === 0 || $wrong === 0); $i++) {
                $seen = LoadGenerator::build([])->begin($nginx->port, ['/page.html', '/nginx-is-here'], 3, true, 0.2);
                do {
                    usleep(1_000);
                    $slice = $seen();
                } while ($slice === null);
                $right += $slice->requests;
                $wrong += $slice->errors;
            }
        } finally {
            $nginx->stop();
            FileSystem::remove($root);
        }
        self::assertGreaterThan(0, $right);
        // 204 is not 200.
        self::assertGreaterThan(0, $wrong);
    }

    private static function server(string $protocol): Server
    {
        if ($protocol === 'resp') {
            return self::redis();
        }
        self::need('memcached');

        return MemcachedServer::onPort(64);
    }
}
