<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Exception\Unstorable;
use Larder\Serializer\Payload;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Contract\Value\Suit;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** Secrets, classes and compression on every store that keeps bytes. */
#[CoversClass(Payload::class)]
final class PayloadOptionsTest extends TestCase
{
    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        foreach (['SQLite', 'files', 'phpredis', 'Predis', 'Memcached'] as $kind) {
            yield $kind => [$kind];
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
        $values = ['object' => new Product('x'), 'text' => 'x', 'n' => 6, 'large' => str_repeat('x', 3_000_000)];
        self::assertTrue($signed->setMany($values));
        self::assertEquals($values, $signed->getMany(array_keys($values)));
        self::assertSame(['n' => 6], $plain->getMany(array_keys($values)));
        $other = $this->cache($place, 'serializer=php&secret=another-secret-of-enough-bytes');
        self::assertSame(['n' => 6], $other->getMany(array_keys($values)));
        self::assertSame(7, $signed->increment('n'));
    }

    #[DataProvider('kinds')]
    public function testAForeignClassIsAMissAndNeverMade(string $kind): void
    {
        $place = new Place($kind);
        $all = $this->cache($place, 'serializer=php');
        $some = $this->cache($place, 'classes=' . rawurlencode(Product::class) . ',' . rawurlencode(Suit::class));
        $before = Trap::sprung();
        $all->setMany(['trap' => [new Trap()], 'product' => new Product('x'), 'array' => ['x']]);
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

    private function cache(Place $place, string $options): Cache
    {
        return Cache::open($place->dsn . (str_contains($place->dsn, '?') ? '&' : '?') . $options, strict: true);
    }
}
