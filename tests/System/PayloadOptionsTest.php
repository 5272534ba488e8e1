<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Exception;
use Larder\Exception\Unstorable;
use Larder\Serializer\Payload;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Contract\Value\Suit;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** Secrets, classes and compression on every store that keeps bytes, and that the others know no such options. */
#[CoversClass(Payload::class)]
final class PayloadOptionsTest extends TestCase
{
    /** Its mark and its bytes, which lie before what is signed. */
    private const SIGNATURE = 33;

    public static function tearDownAfterClass(): void
    {
        Place::stop();
    }

    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        $kinds = [
            'SQLite', 'an array in front of SQLite', 'files', 'phpredis', 'Predis', 'a cluster by phpredis', 'a cluster by Predis',
            'Memcached', 'three Memcacheds',
        ];
        foreach ($kinds as $kind) {
            yield $kind => [$kind];
        }
    }

    /** @return iterable<string, array{string}> also where what was read before, with whichever options, is still near until it is forgotten */
    public static function inTiers(): iterable
    {
        yield from self::kinds();
        yield from self::shared();
    }

    /** @return iterable<string, array{string}> what keeps values near, for several processes */
    public static function shared(): iterable
    {
        foreach (['APCu in front of SQLite', 'shared memory in front of SQLite', 'three tiers'] as $kind) {
            yield $kind => [$kind];
        }
    }

    /** @return iterable<string, array{string}> also those whose directory is secret enough */
    public static function limited(): iterable
    {
        yield from self::inTiers();
        yield 'PHP files' => ['PHP files'];
    }

    /** @return iterable<string, array{string, list<string>}> a DSN and the options that would mean nothing in it */
    public static function withoutBytes(): iterable
    {
        $options = ['serializer=php', 'classes=none', 'compression=zlib', 'compress_above=1K', 'secret=0123456789abcdef'];
        foreach (['array:', 'apcu:', 'shm:nobody'] as $dsn) {
            yield $dsn => ["{$dsn}?OPTION", $options];
            yield "{$dsn} in front of another" => ["{$dsn}?OPTION > sqlite:" . sys_get_temp_dir() . '/never-made/x.db', $options];
        }
        yield 'php:' => ['php:' . sys_get_temp_dir() . '/never-made?OPTION', \array_slice($options, 2)];
    }

    /** @param list<string> $options */
    #[DataProvider('withoutBytes')]
    public function testAStoreThatWouldNotDoWhatAnOptionSaysRefusesIt(string $dsn, array $options): void
    {
        foreach ($options as $option) {
            try {
                Cache::open(str_replace('OPTION', $option, $dsn));
                self::fail("\"{$option}\" was taken.");
            } catch (Exception $mistake) {
                self::assertStringContainsString('"' . explode('=', $option)[0] . '"', $mistake->getMessage());
                self::assertStringNotContainsString('0123456789abcdef', $mistake->getMessage());
            }
        }
    }

    #[DataProvider('kinds')]
    public function testWhatIsNotSignedIsAMissAndNeverUnserialised(string $kind): void
    {
        $place = new Place($kind);
        $plain = $this->cache($place, 'serializer=php');
        $signed = $this->cache($place, 'serializer=php&secret=0123456789abcdef');
        $before = Trap::sprung();
        $plain->setMany(['object' => [new Trap()], 'text' => 'x', 'n' => 5]);
        self::assertSame(['n' => 5], $signed->getMany(['object', 'text', 'n']), 'A counter is never unserialised.');
        self::assertSame($before, Trap::sprung());
        // In another request, in which nothing was missed yet, so that all are writes.
        $signed->refresh();
        $values = ['object' => new Product('x'), 'text' => 'x', 'n' => 6, 'large' => str_repeat('x', 3_000_000), 'list' => range(0, 30_000)];
        self::assertTrue($signed->setMany($values));
        self::assertEquals($values, $signed->getMany(array_keys($values)));
        self::assertSame(['n' => 6], $plain->getMany(array_keys($values)));
        $other = $this->cache($place, 'serializer=php&secret=another-secret-of-enough-bytes');
        self::assertSame(['n' => 6], $other->getMany(array_keys($values)));
        self::assertSame(7, $signed->increment('n'));
    }

    #[DataProvider('inTiers')]
    public function testWhatIsSignedAndThenTruncatedOrForgedIsAMissAndNeverUnserialised(string $kind): void
    {
        $place = new Place($kind);
        $signed = 'serializer=php&secret=0123456789abcdef';
        $read = function () use ($place, $signed): array {
            $cache = $this->cache($place, $signed);
            $cache->refresh();

            return $cache->getMany(['trap']);
        };
        self::assertTrue($this->cache($place, $signed)->set('trap', [new Trap()], 1_000));
        self::assertCount(1, $read());
        $before = Trap::sprung();
        $original = '';
        $place->forge('trap', static function (string $bytes) use (&$original): string {
            return $original = $bytes;
        });
        // Before that is what a store knows of an item.
        $from = (int) strpos($original, 'Pa:1:{');
        self::assertGreaterThan(0, $from);
        $forgeries = ['with more behind' => "{$original}x"];
        for ($i = $from - self::SIGNATURE; $i < \strlen($original); $i++) {
            $forgeries["cut after {$i}"] = substr($original, 0, $i);
            $forgeries["byte {$i} changed"] = substr_replace($original, \chr(\ord($original[$i]) ^ 1), $i, 1);
        }
        foreach ($forgeries as $name => $forgery) {
            $place->forge('trap', static fn(): string => $forgery);
            self::assertSame([], $read(), $name);
        }
        self::assertSame($before, Trap::sprung(), 'It was unserialised.');
        $place->forge('trap', static fn(): string => $original);
        self::assertCount(1, $read());
    }

    #[DataProvider('limited')]
    public function testAForeignClassIsAMissAndNeverMade(string $kind): void
    {
        $place = new Place($kind);
        $all = $this->cache($place, 'serializer=php');
        $some = $this->cache($place, 'classes=' . rawurlencode(Product::class) . ',' . rawurlencode(Suit::class));
        $before = Trap::sprung();
        $all->setMany(['trap' => [new Trap()], 'product' => new Product('x'), 'array' => ['x']]);
        $place->forget();
        self::assertEquals(['product' => new Product('x'), 'array' => ['x']], $some->getMany(['trap', 'product', 'array']));
        self::assertSame($before, Trap::sprung());
        $this->expectException(Unstorable::class);
        $this->expectExceptionMessage('is not among the allowed ones');
        $some->set('date', new \DateTimeImmutable());
    }

    #[DataProvider('kinds')]
    public function testWhatIsCompressedComesBackAndIsAMissForOthers(string $kind): void
    {
        $place = new Place($kind);
        $compressed = $this->cache($place, 'serializer=php&compression=zlib&compress_above=1K');
        $values = ['array' => array_fill(0, 2_000, 'text'), 'text' => str_repeat('text', 2_000), 'small' => 'x', 'noise' => random_bytes(5_000)];
        self::assertTrue($compressed->setMany($values, 100, []));
        self::assertSame($values, $compressed->getMany(array_keys($values)));
        self::assertTrue($compressed->touch('text', 200));
        self::assertSame($values['text'], $compressed->get('text'));
        $plain = $this->cache($place, 'serializer=php');
        self::assertSame(['small' => 'x', 'noise' => $values['noise']], $plain->getMany(array_keys($values)));
    }

    #[DataProvider('shared')]
    public function testWhatIsNearIsServedUntilItIsForgottenWhateverIsSaidOfBytes(string $kind): void
    {
        $place = new Place($kind);
        self::assertTrue($this->cache($place, 'serializer=php')->set('key', [new Product('x')], 1_000));
        self::assertEquals([new Product('x')], $this->cache($place, 'serializer=php')->get('key'));
        $signed = 'serializer=php&secret=0123456789abcdef';
        self::assertEquals([new Product('x')], $this->cache($place, $signed)->get('key'));
        $place->forget();
        self::assertNull($this->cache($place, $signed)->get('key'));
        self::assertTrue($this->cache($place, $signed)->set('key', [new Product('y')], 1_000));
        self::assertEquals([new Product('y')], $this->cache($place, $signed)->get('key'));
    }

    /** @return iterable<string, array{string, string}> how another process has written, and how we read */
    public static function changes(): iterable
    {
        yield 'a secret' => ['serializer=php', 'serializer=php&secret=0123456789abcdef'];
        yield 'no secret' => ['serializer=php&secret=0123456789abcdef', 'serializer=php'];
        yield 'another secret' => ['serializer=php&secret=0123456789abcdef', 'serializer=php&secret=another-secret-of-enough-bytes'];
        yield 'no compression' => ['serializer=php&compression=zlib&compress_above=1', 'serializer=php'];
        yield 'another serializer' => ['serializer=igbinary', 'serializer=php'];
        yield 'fewer classes' => ['serializer=php', 'classes=none'];
    }

    #[DataProvider('changes')]
    public function testWhatAnotherSettingHasWrittenIsNotInTheWayOfAnAdd(string $theirs, string $ours): void
    {
        foreach (self::kinds() as $kind => [$name]) {
            $place = new Place($name);
            self::assertTrue($this->cache($place, $theirs)->set('key', [new Product(str_repeat('x', 100))], 1_000), $kind);
            $cache = $this->cache($place, $ours);
            self::assertNull($cache->get('key'), $kind);
            self::assertTrue($cache->add('key', 'ours', 1_000), $kind);
            self::assertSame('ours', $cache->get('key'), $kind);
            self::assertFalse($cache->add('key', 'ours again', 1_000), $kind);
            self::assertTrue($this->cache($place, $theirs)->set('key', [new Product(str_repeat('x', 100))], 1_000), $kind);
            $cache->refresh();
            self::assertTrue($cache->add('key', 'unread', 1_000), $kind);
        }
    }

    private function cache(Place $place, string $options): Cache
    {
        return Cache::open($place->dsn . (str_contains($place->dsn, '?') ? '&' : '?') . $options, strict: true);
    }
}
