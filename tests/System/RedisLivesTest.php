<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Console\Doctor\Finding;
use Larder\Console\Doctor\Machine;
use Larder\Console\Doctor\PersistenceChecks;
use Larder\Console\Doctor\StoreChecks;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\PerRequest;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Store\Redis\Connection;
use Larder\Store\Redis\Life;
use Larder\Store\Redis\Lives;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\Script;
use Larder\Store\Redis\ScriptText;
use Larder\Store\Redis\Server;
use Larder\Store\Redis\Watch;
use Larder\Store\RedisStore;
use Larder\Stores;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\Contract\History;
use Larder\Tests\Contract\Value\Ledger;
use Larder\Tests\Scratch;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/** A server that has become a replica, or begun another life: restarted with what it had saved, or promoted. */
#[CoversClass(Watch::class)]
#[CoversClass(Life::class)]
#[CoversClass(Lives::class)]
#[CoversClass(PersistenceChecks::class)]
final class RedisLivesTest extends OwnServers
{
    private const TIMEOUT = 60;

    private const OPTIONS = 'retry_after=0&timeout=10&read_timeout=10';

    #[TestWith(['phpredis', false])]
    #[TestWith(['phpredis', true])]
    #[TestWith(['predis', false])]
    #[TestWith(['predis', true])]
    public function testAWorkerThatOnlyReadsLeavesAMasterThatHasBecomeAReplica(string $client, bool $isTold): void
    {
        [$old, $new, $link] = $this->masterAndReplica();
        $worker = Cache::open("redis+unix:{$link->path}/master?client={$client}&" . self::OPTIONS);
        self::assertTrue($worker->set('price', 'old'));
        self::assertSame('old', $worker->get('price'));
        self::replicated($old, $new);
        $this->failOver($old, $new, $link);
        $other = Cache::open("redis+unix:{$link->path}/master?client={$client}&" . self::OPTIONS);
        self::assertTrue($other->set('price', 'new'));
        if ($isTold) {
            $worker->refresh();
        } else {
            usleep(1_100_000);
        }
        self::assertNull($worker->get('price'), 'It has no master any more.');
        self::assertSame('new', $worker->get('price'));
        self::assertTrue($worker->health()->available);
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAPromotedReplicaKeepsWhatItHasButNoTokenOfBefore(string $client): void
    {
        [$old, $new, $link] = $this->masterAndReplica();
        $dsn = "redis+unix:{$link->path}/master?client={$client}&" . self::OPTIONS;
        $store = Stores::open($dsn);
        $store->save([new Item('kept', 'value', 100), new Item('tagged', 'value', 100, ['tag']), new Item('killed', 'value', 100, ['other'])]);
        $store->invalidateTags(['other']);
        self::replicated($old, $new);
        // From here on nothing is replicated: the new master's clock is behind.
        self::redis($new)->rawCommand('REPLICAOF', '127.0.0.1', '1');
        for ($i = 0; $i < 10; $i++) {
            $store->save([new Item("lost {$i}", 'value')]);
        }
        $token = $store->fetch(['filled'])->tokens['filled'];
        $this->failOver($old, $new, $link);
        $other = Stores::open($dsn);
        $other->delete(['filled']);
        self::assertSame(['filled'], self::again(static fn(): array => $store->save([new Item('filled', 'stale', 100, token: $token, fill: true)])));
        self::assertSame(['kept', 'tagged'], array_keys($store->fetch(['kept', 'tagged', 'killed', 'filled', 'lost 1'])->items));
        $store->invalidateTags(['tag']);
        self::assertSame(['kept'], array_keys($other->fetch(['kept', 'tagged', 'killed'])->items));
        self::assertSame([], $store->save([new Item('filled', 'fresh', 100, token: $other->token('filled'), fill: true)]));
        // And back again, by the same processes.
        self::redis($old)->rawCommand('REPLICAOF', '127.0.0.1', (string) $new->port);
        self::replicated($new, $old);
        $this->failOver($new, $old, $link);
        self::assertSame(['kept', 'filled'], array_keys(self::again(static fn(): array => $store->fetch(['kept', 'filled', 'tagged'])->items)));
    }

    /** The former master still answers, as one does that only its sentinels have lost. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testARequestOfBeforeAFailoverKeepsNothingInAMemoryThatFollowsTheNewMaster(string $client): void
    {
        [$old, $new, $link] = $this->masterAndReplica();
        $near = new ArrayStore();
        $open = static function () use ($link, $client): RedisStore {
            $far = Stores::open("redis+unix:{$link->path}/master?client={$client}&" . self::OPTIONS);
            self::assertInstanceOf(RedisStore::class, $far);

            return $far;
        };
        $far = $open();
        $before = new TieredStore($near, $far, $far->log());
        $before->save([new Item('key', 'old'), new Item('first', 'value')]);
        self::assertSame('value', $before->read('first'));
        self::replicated($old, $new);
        self::redis($new)->rawCommand('REPLICAOF', 'NO', 'ONE');
        unlink("{$link->path}/master");
        symlink($new->socket, "{$link->path}/master");
        $far = $open();
        $after = new TieredStore($near, $far, $far->log());
        self::assertSame('value', $after->read('first'));
        $open()->save([new Item('key', 'new')]);
        $after->beginRequest();
        self::assertSame('value', $after->read('first'));
        self::assertSame('old', $before->read('key'), 'Its request is from before, and so is its connection.');
        self::assertNull($near->read('key'));
        $after->beginRequest();
        self::assertSame('new', $after->read('key'));
        self::assertSame('new', $near->read('key'));
        $begun = $after->statistics()->details['near beginnings'];
        $before->beginRequest();
        self::assertSame('new', $before->read('key'));
        $before->beginRequest();
        self::assertSame(['new', 'value'], [$before->far->fetch(['key'])->items['key']->value ?? null, $before->read('first')], 'It has gone over to the new master.');
        self::assertSame($begun, $after->statistics()->details['near beginnings'], 'It has not begun the memory anew.');
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testWhatAHostKnowsOfTagsIsNothingToANewMasterThatHasMissedSomeOfIt(string $client): void
    {
        [$old, $new, $link] = $this->masterAndReplica();
        $dsn = "redis+unix:{$link->path}/master?client={$client}&tags=near&" . self::OPTIONS;
        $store = Stores::open($dsn);
        self::assertInstanceOf(PerRequest::class, $store);
        $store->save([new Item('alive', 'value', 100, ['a']), new Item('killed', 'value', 100, ['b'])]);
        $store->invalidateTags(['other']);
        self::replicated($old, $new);
        // From here on nothing is replicated: the new master's clock is behind what the host knows.
        self::redis($new)->rawCommand('REPLICAOF', '127.0.0.1', '1');
        for ($i = 0; $i < 5; $i++) {
            $store->invalidateTags(["lost {$i}"]);
            self::assertCount(2, $store->fetch(['alive', 'killed'])->items);
        }
        $this->failOver($old, $new, $link);
        for ($i = 0; $i < 5; $i++) {
            Stores::open($dsn)->invalidateTags([$i === 0 ? 'b' : "other {$i}"]);
            $store->beginRequest();
            self::assertSame(['alive'], array_keys(self::again(static fn(): array => $store->fetch(['alive', 'killed'])->items)));
            self::assertSame(['alive'], array_keys(Stores::open($dsn)->fetch(['alive', 'killed'])->items));
        }
    }

    /** @return iterable<string, array{string, \Closure(Store): mixed, mixed}> */
    public static function firstOperations(): iterable
    {
        foreach (['phpredis', 'predis'] as $client) {
            yield "{$client}: a read" => [$client, static fn(Store $store): array => $store->fetch(['deleted', 'old', 'overwritten', 'killed'])->items, []];
            yield "{$client}: an addition" => [$client, static fn(Store $store): array => $store->save([new Item('deleted', 'new')], SaveMode::Add), []];
            yield "{$client}: a replacement" => [$client, static fn(Store $store): array => $store->save([new Item('deleted', 'new')], SaveMode::Replace), ['deleted']];
            yield "{$client}: a counter" => [$client, static fn(Store $store): int => $store->increment('counter'), 1];
            yield "{$client}: a touch" => [$client, static fn(Store $store): array => $store->touch(['deleted'], 100), []];
            yield "{$client}: a delete" => [$client, static fn(Store $store): array => $store->delete(['deleted']), []];
            yield "{$client}: the keys" => [$client, static fn(Store $store): array => [...$store->keys()], []];
            yield "{$client}: a write" => [$client, static fn(Store $store): array => [$store->save([new Item('new', 'value')]), array_keys($store->fetch(['new', 'old'])->items)], [[], ['new']]];
            yield "{$client}: an invalidation" => [$client, static function (Store $store): array {
                $store->invalidateTags(['another']);

                return $store->fetch(['old', 'killed'])->items;
            }, []];
        }
    }

    /**
     * It has saved what was deleted since, and does not know any more.
     *
     * @param \Closure(Store): mixed $operation
     */
    #[DataProvider('firstOperations')]
    public function testOfWhatARestartedServerHasReadFromItsDiskNothingLivesWhateverIsAskedFirst(string $client, \Closure $operation, mixed $expected): void
    {
        $server = $this->saving();
        $store = Stores::open("redis+unix:{$server->socket}?client={$client}&" . self::OPTIONS);
        $this->seeded($store, $server);
        $server->kill();
        $server->start();
        self::assertSame($expected, self::again(static fn(): mixed => $operation($store)));
    }

    /** @param list<string> $kept */
    #[TestWith(['phpredis', 'distrusted', []])]
    #[TestWith(['predis', 'distrusted', []])]
    #[TestWith(['phpredis', 'trusted', ['deleted', 'old']])]
    #[TestWith(['predis', 'trusted', ['deleted', 'old']])]
    public function testAServerThatIsFullWhenItRestartsIsNoOther(string $client, string $persistence, array $kept): void
    {
        $server = $this->saving();
        $store = Stores::open("redis+unix:{$server->socket}?client={$client}&persistence={$persistence}&" . self::OPTIONS);
        $this->seeded($store, $server);
        $server->kill();
        $server->start();
        self::redis($server)->config('SET', 'maxmemory', '1');
        self::assertSame($kept, array_keys(self::again(static fn(): array => $store->fetch(['deleted', 'old'])->items)));
        self::redis($server)->config('SET', 'maxmemory', '0');
        self::assertSame($kept, array_keys($store->fetch(['deleted', 'old'])->items));
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testADiskThatIsTrustedKeepsItsItemsButNoTokenOfBefore(string $client): void
    {
        $server = $this->saving();
        $dsn = "redis+unix:{$server->socket}?client={$client}&persistence=trusted&" . self::OPTIONS;
        $store = Stores::open($dsn);
        $this->seeded($store, $server);
        for ($i = 0; $i < 10; $i++) {
            $store->save([new Item("lost {$i}", 'value')]);
        }
        $token = $store->fetch(['filled'])->tokens['filled'];
        $server->kill();
        $server->start();
        $other = Stores::open($dsn);
        $other->delete(['filled']);
        self::assertSame(['filled'], self::again(static fn(): array => $store->save([new Item('filled', 'stale', 100, token: $token, fill: true)])));
        self::assertSame(['old', 'deleted'], array_keys($store->fetch(['old', 'deleted', 'filled'])->items));
    }

    public function testAConnectionThatDoesNotTellLivesIsAskedEachTime(): void
    {
        $server = $this->saving();
        $connection = new class (new PhpRedisConnection(new Server(socket: $server->socket, timeout: 10.0, readTimeout: 10.0, retryAfter: 0.0))) implements Connection {
            public function __construct(private readonly Connection $connection) {}

            public function send(array $commands): array
            {
                return $this->connection->send($commands);
            }
        };
        $store = new RedisStore($connection, timeout: 10.0);
        $this->seeded($store, $server);
        self::assertSame(['old'], array_keys($store->fetch(['old', 'absent'])->items));
        $server->kill();
        $server->start();
        self::assertSame([], self::again(static fn(): array => $store->fetch(['old', 'deleted'])->items));
        self::assertSame([], $store->save([new Item('old', 'new', 100, token: $store->token('old'), fill: true)]));
        self::assertSame('new', $store->fetch(['old'])->items['old']->value);
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testNothingStaleIsReadWhileAServerSavesIsKilledAndStartsAgain(string $client): void
    {
        $server = $this->saving();
        $scratch = new Scratch();
        file_put_contents("{$scratch->path}/ledger", '');
        $dsn = "redis+unix:{$server->socket}?client={$client}&" . self::OPTIONS;
        $seed = random_int(0, 1 << 30);
        $reports = Crowd::of(4, static function (int $number) use ($dsn, $scratch, $seed, $server): array {
            if ($number === 0) {
                for ($round = 0; $round < 8; $round++) {
                    usleep(20_000);
                    self::redis($server)->save();
                    usleep(20_000);
                    $server->kill();
                    $server->start();
                }
                file_put_contents("{$scratch->path}/done", '');

                return [];
            }
            mt_srand($seed + $number);
            $history = new History(Stores::open($dsn), new Ledger("{$scratch->path}/ledger"), true);
            do {
                // Now as another request, now in one that goes on.
                $report = $history->run(100, mt_rand(0, 1) === 0 ? Stores::open($dsn) : null);
                clearstatcache();
            } while (!file_exists("{$scratch->path}/done"));

            return $report;
        });
        History::judge($reports, $seed);
    }

    /** As when its last replica has left for an hour: what it is called is another, but it has lost nothing. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAServerThatOnlyChangesItsNameKeepsEverything(string $client): void
    {
        $server = $this->started(CacheServer::redis(['--enable-debug-command', 'yes']));
        $store = Stores::open("redis+unix:{$server->socket}?client={$client}&" . self::OPTIONS);
        $store->save([new Item('key', 'value', 100)]);
        $token = $store->fetch(['filled'])->tokens['filled'];
        self::redis($server)->rawCommand('DEBUG', 'CHANGE-REPL-ID');
        // Less than a second after the connection has asked: only the fill itself can know.
        self::assertSame(['filled'], self::again(static fn(): array => $store->save([new Item('filled', 'value', 100, token: $token, fill: true)])));
        self::assertSame(['key'], array_keys(self::again(static fn(): array => $store->fetch(['key', 'filled'])->items)));
        self::assertInstanceOf(PerRequest::class, $store);
        $store->beginRequest();
        $store->fetch(['key']);
        $token = $store->token('key');
        self::redis($server)->rawCommand('DEBUG', 'CHANGE-REPL-ID');
        self::assertSame([], self::again(static fn(): array => $store->delete(['key'], $token)));
        self::assertSame(['key'], array_keys($store->fetch(['key'])->items));
    }

    /** Each finds the clock of another life, and one takes it over. */
    public function testProcessesThatFindAnotherLifeAtOnceBeginItOnce(): void
    {
        $server = $this->saving();
        $dsn = "redis+unix:{$server->socket}?" . self::OPTIONS;
        $this->seeded(Stores::open($dsn), $server);
        $server->kill();
        $server->start();
        // Both have seen the old clock, and one of them the other's doing.
        [$first, $second] = [new PhpRedisConnection(new Server(socket: $server->socket)), new PhpRedisConnection(new Server(socket: $server->socket))];
        $names = ['larder!clock', 'larder!tags', 'larder!key_versions', 'larder!log'];
        $late = new class ($second, new Lives($first), $names) implements Connection {
            /** @param non-empty-list<string> $names */
            public function __construct(private readonly Connection $connection, private readonly Lives $other, private readonly array $names) {}

            public function send(array $commands): array
            {
                if ($commands[0][1] === ScriptText::of(Script::Renew)) {
                    $this->other->renew($this->names);
                    (new RedisStore($this->connection))->save([new Item('new', 'value', 100)]);
                }

                return $this->connection->send($commands);
            }
        };
        (new Lives($late))->renew($names);
        self::assertSame(['new'], array_keys(Stores::open($dsn)->fetch(['new', 'old'])->items));
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAUserWhoMayNotAskForTheLifeIsToldSo(string $client): void
    {
        $server = $this->started(CacheServer::redisOnPort());
        self::redis($server)->rawCommand('ACL', 'SETUSER', 'shop', 'on', '>right', '~*', '+@all', '-info');
        $this->expectException(StoreUnavailable::class);
        $this->expectExceptionMessageMatches('/NOPERM .*info/i');
        Cache::open("redis://shop:right@127.0.0.1:{$server->port}?client={$client}&" . self::OPTIONS, strict: true)->get('key');
    }

    /** @return iterable<string, array{list<string>, string, string, string}> */
    public static function configurations(): iterable
    {
        $snapshots = ['--save', '3600 1'];
        yield 'nothing is saved' => [[], '', 'ok', 'saves nothing to its disk'];
        yield 'snapshots' => [$snapshots, '', 'advice', '(save "3600 1") for nothing'];
        yield 'a file that lags' => [['--appendonly', 'yes'], '', 'advice', '(appendonly yes, appendfsync everysec) for nothing'];
        yield 'a file that does not lag' => [['--appendonly', 'yes', '--appendfsync', 'always'], '', 'advice', 'the DSN does not trust it'];
        yield 'snapshots that are trusted' => [$snapshots, '&persistence=trusted', 'problem', 'may bring back'];
        yield 'a file that lags and is trusted' => [['--appendonly', 'yes'], '&persistence=trusted', 'problem', 'may bring back'];
        yield 'a file that does not lag and is trusted' => [[...$snapshots, '--appendonly', 'yes', '--appendfsync', 'always'], '&persistence=trusted', 'ok', 'outlives a restart'];
        yield 'it may not be asked' => [['--rename-command', 'CONFIG', ''], '', 'ok', 'may not see'];
        yield 'it may not be asked, but it is trusted' => [['--rename-command', 'CONFIG', ''], '&persistence=trusted', 'advice', 'may not see'];
    }

    /** @param list<string> $options */
    #[DataProvider('configurations')]
    public function testTheDoctorSaysWhatAServersDiskIsGoodFor(array $options, string $trust, string $severity, string $says): void
    {
        $server = $this->started(CacheServer::redis(['--dir', 'DIRECTORY', ...$options]));
        $dsn = "redis+unix:{$server->socket}?" . self::OPTIONS . $trust;
        $found = array_values(array_filter((new StoreChecks($dsn, Machine::this()))->findings(), static fn(Finding $each): bool => str_contains($each->says, $says)));
        self::assertCount(1, $found);
        self::assertSame($severity, $found[0]->severity->value);
        self::assertSame($severity === 'ok', $found[0]->change === null);
    }

    public function testPersistenceIsTrustedOrNot(): void
    {
        $this->expectException(InvalidOption::class);
        $this->expectExceptionMessage('The option "persistence" is "always"; choose one of: distrusted, trusted.');
        Stores::open('redis://127.0.0.1?persistence=always');
    }

    /** What has been deleted, overwritten and invalidated since the server has saved it; and what has not. */
    private function seeded(Store $store, CacheServer $server): void
    {
        $store->save([
            new Item('old', 'value', 100), new Item('deleted', 'value', 100), new Item('overwritten', 'old', 100), new Item('killed', 'value', 100, ['tag']),
            new Item('counter', 41, 100),
        ]);
        self::assertCount(5, $store->fetch(['old', 'deleted', 'overwritten', 'killed', 'counter'])->items);
        self::assertTrue(self::redis($server)->save());
        $store->delete(['deleted', 'counter']);
        $store->save([new Item('overwritten', 'new', 100)]);
        $store->invalidateTags(['tag']);
    }

    private function saving(): CacheServer
    {
        return $this->started(CacheServer::redis(['--dir', 'DIRECTORY', '--save', '3600 1']));
    }

    /** @return array{CacheServer, CacheServer, Scratch} the master, its replica, and where the link "master" leads to the one */
    private function masterAndReplica(): array
    {
        $scratch = new Scratch();
        $old = $this->started(CacheServer::redisOnPort(['--repl-diskless-sync-delay', '0']));
        $new = $this->started(CacheServer::redisOnPort(['--replicaof', '127.0.0.1', (string) $old->port, '--repl-diskless-sync-delay', '0']));
        symlink($old->socket, "{$scratch->path}/master");
        // With its first replica a master draws another name. A clock of before would name a life that the replica never heard of.
        self::replicated($old, $new);

        return [$old, $new, $scratch];
    }

    /** The replica becomes the master; the old one goes on, as a replica of none. */
    private function failOver(CacheServer $old, CacheServer $new, Scratch $link): void
    {
        self::redis($new)->rawCommand('REPLICAOF', 'NO', 'ONE');
        self::redis($old)->rawCommand('REPLICAOF', '127.0.0.1', '1');
        unlink("{$link->path}/master");
        symlink($new->socket, "{$link->path}/master");
    }

    private static function replicated(CacheServer $master, CacheServer $replica): void
    {
        $offset = static function (CacheServer $server): string {
            $about = self::redis($server)->rawCommand('INFO', 'replication');

            return preg_match('/^master_repl_offset:(\d+)/m', \is_string($about) ? $about : '', $found) === 1 ? $found[1] : '';
        };
        $deadline = hrtime(true) + self::TIMEOUT * 1_000_000_000;
        for ($reached = $offset($master); !str_contains((string) json_encode(self::redis($replica)->rawCommand('ROLE')), '"connected"') || (int) $offset($replica) < (int) $reached;) {
            self::assertLessThan($deadline, hrtime(true), 'It is not replicated.');
            usleep(10_000);
        }
    }

    /**
     * Once more, if the connection breaks.
     *
     * @template T
     *
     * @param \Closure(): T $ask
     *
     * @return T
     */
    private static function again(\Closure $ask): mixed
    {
        try {
            return $ask();
        } catch (StoreUnavailable) {
            return $ask();
        }
    }

    private static function redis(CacheServer $server): \Redis
    {
        $redis = new \Redis();
        $redis->connect($server->socket);

        return $redis;
    }
}
