<?php

declare(strict_types=1);

namespace Larder\Tests\Unit;

use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\InvalidDsn;
use Larder\Exception\InvalidOption;
use Larder\SharedMemory;
use Larder\Store;
use Larder\Store\AbsentStore;
use Larder\Store\ApcuStore;
use Larder\Store\ArrayStore;
use Larder\Store\FileStore;
use Larder\Store\MemcachedStore;
use Larder\Store\PhpFileStore;
use Larder\Store\RedisStore;
use Larder\Store\SqliteStore;
use Larder\Stores;
use Larder\Tests\Scratch;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

#[CoversClass(Dsn::class)]
#[CoversClass(Stores::class)]
#[CoversClass(InvalidDsn::class)]
final class DsnTest extends TestCase
{
    public function testTheParts(): void
    {
        $dsn = Dsn::parse('redis://us%3Aer:p%40ss@cache.internal:6380/2?prefix=shop&timeout=2.5&persistent=yes');
        self::assertSame(
            ['redis', 'us:er', 'p@ss', 'cache.internal', 6380, '2'],
            [$dsn->scheme, $dsn->user, $dsn->password, $dsn->host, $dsn->port, $dsn->path],
        );
        self::assertSame('shop', $dsn->text('prefix', 'x'));
        self::assertSame('x', $dsn->text('absent', 'x'));
        self::assertSame(2.5, $dsn->seconds('timeout', 1.0));
        self::assertSame(1.5, $dsn->seconds('absent', 1.5));
        self::assertTrue($dsn->switch('persistent', false));
        self::assertTrue($dsn->switch('absent', true));
        self::assertSame(7, $dsn->integer('absent', 7));
        self::assertNull($dsn->bytes('absent'));
    }

    public function testAPasswordNeedsNoUser(): void
    {
        $dsn = Dsn::parse('rediss://:secret@[::1]');
        self::assertSame([null, 'secret', '::1', null, ''], [$dsn->user, $dsn->password, $dsn->host, $dsn->port, $dsn->path]);
    }

    public function testASocketMayHaveAUserAndAPassword(): void
    {
        $dsn = Dsn::parse('redis+unix://us%3Aer:p%40ss%2F@/run/redis.sock?database=2');
        self::assertSame(['us:er', 'p@ss/', '/run/redis.sock'], [$dsn->user, $dsn->password, $dsn->absolutePath()]);
        $dsn = Dsn::parse('redis+unix://:secret@/run/a@b:c.sock');
        self::assertSame([null, 'secret', '/run/a@b:c.sock'], [$dsn->user, $dsn->password, $dsn->absolutePath()]);
        foreach (['redis+unix:/run/a@b:c.sock', 'redis+unix:///run/a@b:c.sock', 'redis+unix:////run/a@b:c.sock'] as $without) {
            self::assertSame([null, null], [Dsn::parse($without)->user, Dsn::parse($without)->password], $without);
        }
        self::assertSame('/run/a@b:c.sock', Dsn::parse('redis+unix:///run/a@b:c.sock')->absolutePath());
    }

    /** @return iterable<string, array{string, string}> */
    public static function valkeys(): iterable
    {
        yield 'one server' => ['valkey://user:password@localhost:6380/2', 'redis'];
        yield 'with TLS' => ['valkeys://localhost', 'rediss'];
        yield 'a socket' => ['valkey+unix://:password@/run/valkey.sock', 'redis+unix'];
        yield 'sentinels' => ['valkey+sentinel://s1?service=shop', 'redis+sentinel'];
        yield 'sentinels with TLS' => ['valkeys+sentinel://s1?service=shop', 'rediss+sentinel'];
        yield 'a cluster' => ['Valkey+Cluster://n1,n2', 'redis+cluster'];
        yield 'a cluster with TLS' => ['valkeys+cluster://n1', 'rediss+cluster'];
    }

    #[DataProvider('valkeys')]
    public function testValkeyIsAnotherNameOfRedis(string $dsn, string $scheme): void
    {
        self::assertSame($scheme, Dsn::parse($dsn)->scheme);
        self::assertInstanceOf(RedisStore::class, Stores::open($dsn));
    }

    public function testASchemeThatIsLikeNoneGetsNoGuess(): void
    {
        foreach (['mongodb://localhost', 'dragonfly://localhost', 'valley+rally://localhost', 'foo:'] as $dsn) {
            try {
                Dsn::parse($dsn);
                self::fail("\"{$dsn}\" was taken.");
            } catch (InvalidDsn $mistake) {
                self::assertStringContainsString('is unknown; use one of: shm, array, ', $mistake->getMessage());
                self::assertStringNotContainsString('did you mean', $mistake->getMessage());
            }
        }
    }

    /** @return iterable<string, array{string, string}> */
    public static function paths(): iterable
    {
        yield 'a path' => ['sqlite:/var/cache/site.db', '/var/cache/site.db'];
        yield 'a path with an empty host' => ['sqlite:///var/cache/site.db', '/var/cache/site.db'];
        yield 'a path with an option' => ['sqlite:/var/cache/site.db?timeout=1', '/var/cache/site.db'];
        yield 'an encoded path' => ['file:/var/my%20cache%3F', '/var/my cache?'];
        yield 'a socket' => ['redis+unix:/run/redis.sock?database=2', '/run/redis.sock'];
    }

    #[DataProvider('paths')]
    public function testAbsolutePaths(string $dsn, string $path): void
    {
        self::assertSame($path, Dsn::parse($dsn)->absolutePath());
    }

    public function testSeveralServersAndPaths(): void
    {
        self::assertSame([['one', null], ['two', 5], ['::1', 6]], Dsn::parse('memcached://one,two:5,[::1]:6')->hosts);
        self::assertSame(['/a,b', '/c'], Dsn::parse('memcached+unix:/a%2cb,///c')->absolutePaths());
    }

    public function testSizesHaveUnits(): void
    {
        foreach (['1000' => 1_000, '4k' => 4_096, '64M' => 67_108_864, '2GB' => 2_147_483_648] as $text => $bytes) {
            self::assertSame($bytes, Dsn::parse("shm:?size={$text}")->bytes('size'));
        }
    }

    /** Those but for pools, which would be made. */
    public function testTheExamplesInItsDescriptionAreRight(): void
    {
        $about = (string) (new \ReflectionClass(Dsn::class))->getDocComment();
        preg_match_all('/(?<=  )(?:array|apcu|sqlite|file|memcached|rediss?(?:\+\w+)?):\S*(?: > \w+:\S*)*/', $about, $examples);
        $examples = array_filter($examples[0], static fn(string $example): bool => !str_contains($example, 'shm:'));
        self::assertGreaterThan(9, \count($examples));
        $scratch = new Scratch();
        foreach ($examples as $example) {
            $store = Stores::open(str_replace('/var/cache', $scratch->path, $example));
            self::assertSame([], $store->fetch([])->items, $example);
        }
    }

    /** @return iterable<string, array{string, class-string<Store>}> */
    public static function stores(): iterable
    {
        yield 'array' => ['array:', ArrayStore::class];
        yield 'absent' => ['absent:', AbsentStore::class];
        yield 'array, in capitals' => [' ARRAY:?items=10 ', ArrayStore::class];
        yield 'apcu' => ['apcu:?prefix=x', ApcuStore::class];
        yield 'sqlite' => ['sqlite:' . sys_get_temp_dir() . '/never-made/x.db?prefix=x&serializer=php&timeout=2&size=64M&evict=no', SqliteStore::class];
        yield 'php' => ['php:' . sys_get_temp_dir() . '/never-made?serializer=php&size=64M&files=1000&evict=no&classes=none&timeout=2', PhpFileStore::class];
        yield 'tiers' => ['apcu:?prefix=x&grace=5 > sqlite:' . sys_get_temp_dir() . '/never-made/x.db', TieredStore::class];
        yield 'three tiers' => ['array:?items=5   >  apcu: > sqlite:' . sys_get_temp_dir() . '/never-made/x.db?prefix=x', TieredStore::class];
        yield 'file' => ['file:' . sys_get_temp_dir() . '/never-made?serializer=igbinary', FileStore::class];
        yield 'redis' => ['redis://127.0.0.1:1/5?client=phpredis&retry_after=0&read_timeout=1&timeout=1&persistent=off', RedisStore::class];
        yield 'redis by Predis' => ['redis://127.0.0.1?client=predis', RedisStore::class];
        yield 'rediss' => ['rediss://user:password@localhost', RedisStore::class];
        yield 'redis on a socket' => ['redis+unix:/run/nobody.sock', RedisStore::class];
        yield 'redis on a socket with a user' => ['redis+unix://user:password@/run/nobody.sock?database=1', RedisStore::class];
        yield 'redis behind sentinels' => ['redis+sentinel://:secret@s1,s2:26380,[::1]/2?service=shop&sentinel_user=u&sentinel_password=p', RedisStore::class];
        yield 'redis behind sentinels with TLS' => ['rediss+sentinel://s1?service=shop&tls_ca=/etc/passwd&tls_name=x', RedisStore::class];
        yield 'redis cluster' => ['redis+cluster://n1,n2:7001?shards=8&client=predis', RedisStore::class];
        yield 'redis cluster with TLS' => ['rediss+cluster://n1?tls_verify=no', RedisStore::class];
        yield 'several memcacheds' => ['memcached://one,two:11212,[::1]:11213?prefix=x', MemcachedStore::class];
        yield 'several sockets' => ['memcached+unix:/run/a.sock,/run/b.sock', MemcachedStore::class];
        yield 'memcached' => ['memcached://127.0.0.1:1', MemcachedStore::class];
        yield 'memcached on a socket' => ['memcached+unix:/run/nobody.sock?persistent=1', MemcachedStore::class];
    }

    /** @param class-string<Store> $class */
    #[DataProvider('stores')]
    public function testADsnOpensItsStoreWithoutAskingIt(string $dsn, string $class): void
    {
        self::assertInstanceOf($class, Stores::open($dsn));
    }

    /** @return iterable<string, array{string, string}> a DSN and what the message says */
    public static function mistakes(): iterable
    {
        yield 'nothing' => ['', 'has no scheme'];
        yield 'no scheme' => ['/var/cache', 'has no scheme'];
        yield 'an unknown scheme' => ['foo:', 'The DSN scheme "foo" is unknown'];
        yield 'a scheme with two letters exchanged' => ['smh:site', 'The DSN scheme "smh" is unknown; did you mean "shm"?'];
        yield 'a scheme without its colon' => ['apcu', 'The DSN "apcu" has no scheme; begin it with one, such as "apcu:".'];
        yield 'a path alone' => ['/var/cache/site.db', 'has no scheme; begin it with one, such as "shm:"'];
        yield 'a pool with the slashes of a URL' => ['shm://site', 'The DSN "shm://site" names no pool; write it as "shm:site".'];
        yield 'a pool with a path' => ['shm:/tmp/pool', 'names no pool; give 1 to 64 letters'];
        yield 'a near pool with the slashes of a URL' => ['shm://site > sqlite:/tmp/never-made/x.db', 'write it as "shm:site"'];
        yield 'a misspelt scheme' => ['memcache://localhost', 'did you mean "memcached"?'];
        yield 'a misspelt scheme of Valkey' => ['valky://localhost', 'did you mean "valkey"?'];
        yield 'another misspelt scheme' => ['sqlite3:/x.db', 'did you mean "sqlite"?'];
        yield 'a misspelt option' => ['redis://localhost?read-timeout=1', 'did you mean "read_timeout"?'];
        yield 'an option of another store' => ['apcu:?size=1M', 'use one of: prefix.'];
        yield 'an option without a value' => ['array:?items', 'name=value'];
        yield 'two stores the wrong way round' => ['redis://cache.internal > array:', 'The store "redis:" cannot stand in front of another; put one of array, apcu and shm'];
        yield 'a near store that is none' => ['file:/tmp/x > sqlite:/tmp/never-made/x.db', 'cannot stand in front of another; put one of array, apcu and shm'];
        yield 'a far store without a log' => ['apcu: > file:/tmp/never-made', 'The store "file:" has no log that a near store could follow'];
        yield 'what makes one legal' => ['array: > memcached://localhost', 'or let reads be 5 seconds old by "array:?staleness=5"'];
        yield 'a staleness that is none' => ['array:?staleness=long > redis://localhost', 'give seconds, such as "2.5", or milliseconds, such as "250ms"'];
        yield 'a staleness of more than a day' => ['array:?staleness=86401 > redis://localhost', 'it must be 0 seconds to a day'];
        foreach (['shm:>redis://:hunter2@host', 'shm:shop >redis://:hunter2@host', 'array:> redis://:hunter2@host', 'apcu:?prefix=x>redis://:hunter2@host'] as $tiers) {
            yield "no space in {$tiers}" => [$tiers, 'has a ">" without a space on each side; write tiers as "near > far"'];
        }
        yield 'nothing behind a near store' => ['apcu: >', 'has no scheme'];
        yield 'nothing in front of a far store' => [' > sqlite:/tmp/never-made/x.db', 'has no scheme'];
        yield 'a mistake behind a near store' => ['apcu: > foo:', 'The DSN scheme "foo" is unknown'];
        yield 'an option of a near store that is none' => ['array:?graze=5 > sqlite:/tmp/never-made/x.db', 'did you mean "grace"?'];
        yield 'a grace below zero' => ['array:?grace=-1 > sqlite:/tmp/never-made/x.db', 'must be 0 seconds or more'];
        yield 'two shared stores in front of a third' => ['apcu: > shm: > sqlite:/tmp/never-made/x.db', 'must be an ArrayStore, as in "array: > shm: > redis://…"'];
        yield 'no server' => ['redis:', 'names no server; write it as "redis://host:port"'];
        yield 'a socket of Redis' => ['redis:/run/redis.sock', 'names no server; write it as "redis+unix:/path"'];
        yield 'a socket of Memcached' => ['memcached:/run/memcached.sock', 'names no server; write it as "memcached+unix:/path"'];
        yield 'a socket with encryption' => ['rediss:/run/redis.sock', 'names no server; write it as "rediss://host:port"'];
        foreach (['valkey' => 'valkey:', 'valkeys' => 'valkeys:localhost', 'valkey+cluster' => 'Valkey+Cluster:a,b'] as $scheme => $written) {
            yield "no server of {$written}" => [$written, "names no server; write it as \"{$scheme}://host:port\""];
        }
        yield 'a host that is none, of Valkey' => ['valkey://[one', 'names no server; write it as "valkey://host:port"'];
        yield 'a socket of Valkey' => ['valkey:/run/valkey.sock', 'names no server; write it as "valkey+unix:/path"'];
        yield 'a socket of Valkey in capitals' => ['Valkey:/run/valkey.sock', 'names no server; write it as "valkey+unix:/path"'];
        yield 'a socket of Valkey without a path' => ['valkey+unix:run', 'The DSN "valkey+unix:run" has no absolute path; write it as "valkey+unix:/path"'];
        yield 'a database of Valkey that is no number' => ['valkey://localhost/one', 'The DSN "valkey://localhost/one" has no number for its database; write it as "valkey://host:port/0"'];
        yield 'a cluster of Valkey with a database' => ['valkeys+cluster://n1/2', 'write it as "valkeys+cluster://host:port,host:port"'];
        yield 'an option that Valkey has not' => ['valkey://s1?service=x', 'The option "service" of the "valkey" DSN is unknown'];
        yield 'sentinels of Valkey without a master' => ['valkey+sentinel://s1', 'The DSN "valkey+sentinel://s1" does not say'];
        yield 'Valkey the wrong way round' => ['valkey://cache.internal > array:', 'The store "valkey:" cannot stand in front'];
        yield 'a server without slashes' => ['memcached:localhost', 'names no server'];
        yield 'a port that is none' => ['redis://localhost:0', 'has a port that does not exist'];
        yield 'a port that is too large' => ['redis://localhost:65536', 'has a port that does not exist'];
        yield 'several servers where one is' => ['redis://one,two', 'names several servers; name one'];
        yield 'a server without a name' => ['memcached://one,,two', 'names no server'];
        yield 'a second port that does not exist' => ['redis+cluster://one:1,two:0', 'has a port that does not exist'];
        yield 'a second path that is relative' => ['memcached+unix:/run/a.sock,b.sock', 'has no absolute path'];
        yield 'sentinels of no master' => ['redis+sentinel://s1', 'add the name that the sentinels have for it'];
        yield 'a misspelt service' => ['redis+sentinel://s1?servce=x', 'did you mean "service"?'];
        yield 'a service without sentinels' => ['redis://s1?service=x', 'The option "service" of the "redis" DSN is unknown'];
        yield 'TLS options without TLS' => ['redis://s1?tls_ca=/etc/passwd', 'The option "tls_ca" of the "redis" DSN is unknown'];
        yield 'a misspelt option of TLS' => ['rediss://s1?tls_cafile=/x', 'did you mean "tls_ca"?'];
        yield 'an authority that is not there' => ['rediss://s1?tls_ca=/nowhere/ca.crt', 'give a file that can be read'];
        yield 'a cluster with a database' => ['redis+cluster://n1/2', 'a cluster has only one'];
        yield 'a cluster with another option for a database' => ['redis+cluster://n1?database=2', 'The option "database"'];
        yield 'too few shards' => ['redis+cluster://n1?shards=0', 'it must be from 1 to 1024'];
        yield 'too many shards' => ['redis+cluster://n1?shards=1025', 'it must be from 1 to 1024'];
        yield 'a database that is no number' => ['redis://localhost/one', 'has no number for its database'];
        yield 'a negative database' => ['redis://localhost?database=-1', 'must be 0 or more'];
        yield 'a relative path' => ['sqlite:cache.db', 'has no absolute path; write it as "sqlite:/path"'];
        yield 'a socket without a path' => ['redis+unix://user:password@', 'has no absolute path; write it as "redis+unix:/path"'];
        yield 'a host where a socket is' => ['redis+unix://localhost/run/redis.sock', 'has no absolute path'];
        yield 'a user of a database file' => ['sqlite://user@/tmp/x.db', 'has no absolute path'];
        yield 'no path' => ['file:', 'has no absolute path'];
        yield 'a path with NUL' => ['file:/tmp/a%00b', 'has no absolute path'];
        yield 'a path where none is' => ['array:/tmp', 'has a path, but its store has none'];
        yield 'a number that is none' => ['array:?items=many', 'give an integer'];
        yield 'a number out of range' => ['array:?items=0', 'it must be at least 1'];
        yield 'a database too small for anything' => ['sqlite:/tmp/never-made/x.db?size=100K', 'it must be at least 1M'];
        yield 'a duration that is none' => ['sqlite:/tmp/never-made/x.db?timeout=soon', 'give seconds'];
        yield 'a negative duration' => ['sqlite:/tmp/never-made/x.db?timeout=-1', 'give seconds'];
        yield 'a switch that is none' => ['redis://localhost?persistent=maybe', 'give yes or no'];
        yield 'a serializer that is none' => ['file:/tmp/x?serializer=json', 'choose one of: auto, igbinary, php'];
        yield 'a client that cannot keep connections' => ['redis://localhost?client=predis&persistent=yes', 'is not supported by the client "predis"'];
        yield 'a client that is none' => ['redis://localhost?client=relay', 'choose one of: auto, phpredis, predis'];
        yield 'a prefix that is none' => ['apcu:?prefix=a:b', 'cannot be used'];
        yield 'an empty prefix' => ['apcu:?prefix=', 'cannot be used'];
        yield 'a directory where the database should be' => ['sqlite:/tmp', 'name a file in it'];
        yield 'the root as a cache' => ['file:/', 'name a directory of its own'];
        yield 'a file where a directory should be' => ['file:/etc/passwd', 'is a file; name a directory'];
        yield 'an absent store with a path' => ['absent:shop', 'has a path, but its store has none'];
        yield 'an absent store with an option' => ['absent:?size=1M', 'a DSN of the scheme "absent" has no options; remove it'];
        yield 'an absent store in front of another' => ['absent: > sqlite:/tmp/never-made/x.db', 'cannot stand in front of another'];
        yield 'an absent store behind another' => ['array: > absent:', 'has no log that a near store could follow'];
        yield 'a scheme by its other name' => ['valkey+tls://localhost', '"valkey+tls" is unknown; did you mean "valkeys"'];
        yield 'a Memcached with a path' => ['memcached://localhost/1', 'has a user or a path'];
    }

    #[DataProvider('mistakes')]
    public function testAMistakeFailsAtOnceAndSaysWhatToDo(string $dsn, string $message): void
    {
        try {
            Stores::open($dsn);
            self::fail('A wrong DSN was opened.');
        } catch (InvalidDsn|InvalidOption $mistake) {
            self::assertStringContainsString($message, $mistake->getMessage());
            self::assertStringEndsWith('.', $mistake->getMessage());
        }
    }

    #[TestWith(['shm: > shm:%s > redis://127.0.0.1:1'])]
    #[TestWith(['shm:%s?grace=-1 > redis://127.0.0.1:1'])]
    public function testATierThatIsRefusedHasMadeNoPool(string $dsn): void
    {
        $name = 'test-' . bin2hex(random_bytes(4));
        try {
            Stores::open(sprintf($dsn, $name));
            self::fail('A wrong DSN was opened.');
        } catch (InvalidOption) {
            self::assertSame([], array_filter(SharedMemory::names(), static fn(string $pool): bool => str_starts_with($pool, $name)));
        }
    }

    /** @return iterable<string, array{string, string}> a DSN with options, and what follows it */
    public static function schemes(): iterable
    {
        $directory = sys_get_temp_dir();
        foreach ([
            'shm:?', 'array:?', 'apcu:?', "sqlite:{$directory}/never-made/x.db?", "file:{$directory}/never-made?", "php:{$directory}/never-made?",
            'redis://localhost?', 'rediss://localhost?', 'redis+unix:/run/nobody.sock?', 'redis+sentinel://one?service=shop&', 'rediss+sentinel://one?service=shop&',
            'redis+cluster://one?', 'rediss+cluster://one?', 'memcached://localhost?', 'memcached+unix:/run/nobody.sock?',
        ] as $dsn) {
            yield $dsn => [$dsn, ''];
        }
        foreach (['array:?', 'apcu:?', 'shm:?'] as $near) {
            yield "{$near} in front" => [$near, " > sqlite:{$directory}/never-made/x.db"];
            yield "behind {$near}" => [rtrim($near, '?') . " > sqlite:{$directory}/never-made/x.db?", ''];
        }
    }

    #[DataProvider('schemes')]
    public function testAnUnknownOptionNamesTheKnownOneThatIsNear(string $dsn, string $rest): void
    {
        $said = static function (string $option) use ($dsn, $rest): string {
            try {
                Stores::open("{$dsn}{$option}=1{$rest}");
            } catch (InvalidDsn $mistake) {
                return $mistake->getMessage();
            }
            self::fail("The option {$option} was taken.");
        };
        self::assertSame(1, preg_match('/^The option "nonsense" of the ".+" DSN is unknown; use one of: (.+)\.$/D', $said('nonsense'), $match));
        $known = explode(', ', $match[1] ?? '');
        foreach ($known as $option) {
            foreach (["{$option}x", strtoupper($option)] as $misspelt) {
                self::assertStringContainsString("The option \"{$misspelt}\" of the ", $said($misspelt));
                self::assertStringContainsString("did you mean \"{$option}\"?", $said($misspelt));
            }
        }
        self::assertStringContainsString('The option "7" of the', $said('7'), 'PHP makes such a name an int.');
    }

    public function testASizeThatIsNoneIsRefused(): void
    {
        $this->expectExceptionMessage('give bytes, such as "64M"');
        $this->expectException(InvalidDsn::class);
        Dsn::parse('shm:?size=-1')->bytes('size');
    }

    public function testAPasswordIsNeverInAMessage(): void
    {
        foreach (['redis://user:hunter2@localhost:0', 'redis://:hunter2@', 'redis://:hunter2@one,two', 'redis+cluster://:hunter2@one,:', 'redis+sentinel://:hunter2@one', 'apcu:?grace=x > redis://user:hunter2@localhost', 'apcu: > memcached://user:hunter2@localhost', '//user:hunter2@localhost', 'rediss+cluster://hunter2@one,:', 'redis+unix://p@hunter2@run/redis.sock'] as $dsn) {
            try {
                Stores::open($dsn);
                self::fail('A wrong DSN was opened.');
            } catch (Exception $mistake) {
                self::assertStringNotContainsString('hunter2', (string) $mistake);
            }
        }
    }

    /** It should have been percent-encoded, which is what the user has to find out now. */
    public function testNorIsAnyPartOfAPasswordThatMeansSomethingElseInADsn(): void
    {
        $arguments = ini_set('zend.exception_ignore_args', '0');
        foreach (['p@hunter2', 'hunter2@p', 'p@q@hunter2', 'p/hunter2', '12/hunter2', 'p?hunter2', 'p?a=hunter2', 'p&hunter2', 'p#hunter2', 'p:hunter2', 'hunter2:p', 'p hunter2', 'hunter2/', '//hunter2'] as $password) {
            foreach (["redis://user:{$password}@localhost:0", "redis://:{$password}@localhost/0x", "rediss://us/er:{$password}@localhost", "redis+cluster://:{$password}@one,:", "memcached://user:{$password}@localhost", "//user:{$password}@localhost", "array:?grace=x > redis://user:{$password}@localhost"] as $dsn) {
                try {
                    Stores::open($dsn);
                    self::fail("A wrong DSN was opened: {$dsn}");
                } catch (Exception $mistake) {
                    self::assertStringNotContainsString('hunter2', (string) $mistake, $dsn);
                }
            }
        }
        foreach (['p@hunter2', 'p@q@hunter2', 'p/hunter2', 'p/@hunter2', '12/hunter2', 'p?hunter2', 'p?a=hunter2', 'p&hunter2', 'p#hunter2', 'p:hunter2', 'p hunter2', 'hunter2/', '/hunter2', '//hunter2', '/hunter2/'] as $password) {
            foreach (["redis+unix://user:{$password}@run/redis.sock", "redis+unix://user:{$password}@/run/redis.sock?a=b", "valkey+unix://user:{$password}@", "memcached+unix://user:{$password}@/run/m.sock", "sqlite://user:{$password}@/tmp/never-made/x.db"] as $dsn) {
                try {
                    Stores::open($dsn);
                    self::fail("A wrong DSN was opened: {$dsn}");
                } catch (Exception $mistake) {
                    self::assertStringNotContainsString('hunter2', (string) $mistake, $dsn);
                }
            }
        }
        foreach (['redis://user:hunter2', 'redis+unix://:hunter2', 'redis://one,two?secret=hunter2', 'redis+cluster://one?hunter2@two', 'redis+sentinel://one:x?service=shop&sentinel_password=hunter2', 'memcached://one:x,two?secret=hunter2'] as $dsn) {
            try {
                Stores::open($dsn);
                self::fail("A wrong DSN was opened: {$dsn}");
            } catch (Exception $mistake) {
                self::assertStringNotContainsString('hunter2', (string) $mistake, $dsn);
            }
        }
        ini_set('zend.exception_ignore_args', (string) $arguments);
    }

    public function testNorIsAPasswordAfterAUserWithoutSlashesBeforeIt(): void
    {
        foreach (['user:hunter2', ':hunter2', 'hunter2', 'user:p//hunter2', 'user:p@hunter2'] as $user) {
            foreach (["redis:{$user}@host:6379", "redis:/{$user}@host", "redis/{$user}@host", "rediss {$user}@host", "valkey+cluster:{$user}@one,two", "memcached:{$user}@host", "redis+unix:{$user}@/run/redis.sock", "sqlite:{$user}@host", "apcu:{$user}@host", "apcu:?prefix=x > redis:{$user}@host", "shm:{$user}@host", "shm://{$user}@host:6379/0", "shm:///{$user}@host > redis://host", ":{$user}@host"] as $dsn) {
                try {
                    Stores::open($dsn);
                    self::fail("A wrong DSN was opened: {$dsn}");
                } catch (Exception $mistake) {
                    self::assertStringNotContainsString('hunter2', $mistake->getMessage(), $dsn);
                }
            }
        }
        foreach (['redis:user:hunter2', 'rediss:/user:hunter2', 'Valkey::hunter2', 'memcached:user:hunter2/x'] as $dsn) {
            try {
                Stores::open($dsn);
                self::fail("A wrong DSN was opened: {$dsn}");
            } catch (Exception $mistake) {
                self::assertStringNotContainsString('hunter2', $mistake->getMessage(), $dsn);
            }
        }
        $this->expectExceptionMessage('The DSN "redis/…@host" has no scheme; begin it with one, such as "redis:".');
        Stores::open('redis/user:hunter2@host');
    }

    public function testAHostWithAWrongPortIsShownWithIt(): void
    {
        $this->expectExceptionMessage('The DSN "redis://localhost:99999/0?timeout=1" has a port that does not exist');
        Dsn::parse('redis://localhost:99999/0?timeout=1');
    }

    public function testADirectoryThatEveryoneMayWriteToIsRefused(): void
    {
        $scratch = new Scratch();
        chmod($scratch->path, 0o777);
        $this->expectException(InvalidOption::class);
        $this->expectExceptionMessage('may be written to by everyone');
        Stores::open("file:{$scratch->path}");
    }
}
