<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Serializer;

use Larder\Exception\Unstorable;
use Larder\Serializer;
use Larder\Serializer\Contents;
use Larder\Serializer\IgbinarySerializer;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Tests\Contract\StoreContract;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Contract\Value\Sleepless;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversClass(Payload::class)]
#[CoversClass(PhpSerializer::class)]
#[CoversClass(IgbinarySerializer::class)]
#[CoversClass(Contents::class)]
final class PayloadTest extends TestCase
{
    /** @return iterable<string, array{Serializer, \Closure(): mixed}> */
    public static function values(): iterable
    {
        foreach (['php' => new PhpSerializer(), 'igbinary' => new IgbinarySerializer()] as $name => $serializer) {
            foreach (StoreContract::values() as $value => [$make]) {
                yield "{$value}, by {$name}" => [$serializer, $make];
            }
        }
    }

    /** @param \Closure(): mixed $make */
    #[DataProvider('values')]
    public function testAValueComesBack(Serializer $serializer, \Closure $make): void
    {
        $payload = new Payload($serializer);
        $value = $make();
        self::assertSame(serialize($value), serialize($payload->decode($payload->encode('key', $value), 'foreign')));
    }

    public function testIntsAreTheirDigits(): void
    {
        $payload = new Payload(new PhpSerializer());
        self::assertSame('-42', $payload->encode('key', -42));
        self::assertSame(\PHP_INT_MIN, $payload->decode((string) \PHP_INT_MIN, 'foreign'));
        foreach (['042', '+42', ' 42', '42 ', '-0', '--1', '9223372036854775808', '4.2', '1e3', '-'] as $notOurs) {
            self::assertSame('foreign', $payload->decode($notOurs, 'foreign'), $notOurs);
        }
    }

    public function testWhatAnotherSettingWroteIsForeign(): void
    {
        $php = new Payload(new PhpSerializer());
        $igbinary = new Payload(new IgbinarySerializer());
        self::assertSame('foreign', $php->decode($igbinary->encode('key', [1]), 'foreign'));
        self::assertSame('foreign', $igbinary->decode($php->encode('key', [1]), 'foreign'));
        self::assertSame('same', $php->decode($igbinary->encode('key', 'same'), 'foreign'));
    }

    /** @return iterable<string, array{string}> */
    public static function damage(): iterable
    {
        yield 'nothing' => [''];
        yield 'another mark' => ['Xb:1;'];
        yield 'a mark alone' => ['P'];
        yield 'the other mark alone' => ['I'];
        yield 'truncated' => ['Pa:2:{i:0;s:10:"trunc'];
        yield 'garbage' => ["I\0\0\0\2garbage"];
        yield 'a class that is gone, with a form of its own' => ['PC:10:"NoSuchClas":1:{x}'];
        yield 'a class that is gone' => ['Pa:1:{i:0;O:10:"NoSuchClas":0:{}}'];
        yield 'a class that is gone, by igbinary' => ['I' . str_replace('stdClass', 'noSClass', (string) igbinary_serialize([new \stdClass()]))];
        yield 'a property of another type' => ['PO:39:"Larder\Tests\Contract\Value\Product":1:{s:4:"name";a:0:{}}'];
        yield 'serialised, without a mark' => ['a:0:{}'];
        yield 'a line of HTML' => ['<html>'];
    }

    #[DataProvider('damage')]
    public function testDamageIsForeignAndNeverAnError(string $bytes): void
    {
        self::assertSame('foreign', (new Payload(new PhpSerializer()))->decode($bytes, 'foreign'));
        self::assertSame('foreign', (new Payload(new IgbinarySerializer()))->decode($bytes, 'foreign'));
    }

    public function testEveryTruncationIsForeign(): void
    {
        foreach ([new PhpSerializer(), new IgbinarySerializer()] as $serializer) {
            $payload = new Payload($serializer);
            $bytes = $payload->encode('key', ['a' => [1.5, true, new Product('x')], 'b' => 'text']);
            for ($length = 1; $length < \strlen($bytes); $length++) {
                self::assertSame('foreign', $payload->decode(substr($bytes, 0, $length), 'foreign'), "{$length} bytes");
            }
        }
    }

    public function testAnExceptionWhileSerialisingIsUnstorable(): void
    {
        try {
            (new Payload(new PhpSerializer()))->encode('key', [new Sleepless()]);
            self::fail('It was serialised.');
        } catch (Unstorable $mistake) {
            self::assertStringContainsString('not now', $mistake->getMessage());
            self::assertInstanceOf(\DomainException::class, $mistake->getPrevious());
        }
    }

    public function testAnAnonymousClassIsUnstorableWithItsPath(): void
    {
        $this->expectException(Unstorable::class);
        $this->expectExceptionMessage("['a'][1]");
        (new Payload(new IgbinarySerializer()))->encode('key', ['a' => [1, new class {}]]);
    }

    public function testTheCallersOwnCallbackForMissingClassesIsKept(): void
    {
        $payload = new Payload(new PhpSerializer());
        $before = ini_set('unserialize_callback_func', 'trim');
        try {
            $payload->decode($payload->encode('key', [1]), 'foreign');
            $payload->decode('Pnonsense', 'foreign');
            self::assertSame('trim', \ini_get('unserialize_callback_func'));
        } finally {
            ini_set('unserialize_callback_func', (string) $before);
        }
    }

    public function testPlainValuesAreThoseThatCopyOnWriteKeepsApart(): void
    {
        $referenced = 1;
        self::assertTrue(Contents::isPlain(null));
        self::assertTrue(Contents::isPlain(['a' => [1, ['x', 2.5, null]]]));
        self::assertFalse(Contents::isPlain(new \stdClass()));
        self::assertFalse(Contents::isPlain([[new \stdClass()]]));
        self::assertFalse(Contents::isPlain(['a' => [&$referenced]]));
    }
}
