<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Serializer;

use Larder\Exception;
use Larder\Exception\Unstorable;
use Larder\Item;
use Larder\Serializer;
use Larder\Serializer\ClassNames;
use Larder\Serializer\Compression;
use Larder\Serializer\Contents;
use Larder\Serializer\IgbinarySerializer;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Serializer\Signature;
use Larder\Store;
use Larder\Stores;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Contract\Value\Sleepless;
use Larder\Tests\Contract\Value\Suit;
use Larder\Tests\Contract\Value\Wakeful;
use Larder\Tests\Contract\ValueContract;
use Larder\Tests\Scratch;
use Larder\Tests\System\Trap;
use Larder\Ttl;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

#[CoversClass(Payload::class)]
#[CoversClass(Compression::class)]
#[CoversClass(Signature::class)]
#[CoversClass(ClassNames::class)]
#[CoversClass(PhpSerializer::class)]
#[CoversClass(IgbinarySerializer::class)]
#[CoversClass(Contents::class)]
final class PayloadTest extends TestCase
{
    /** @return iterable<string, array{Serializer, \Closure(): mixed}> */
    public static function values(): iterable
    {
        foreach (['php' => new PhpSerializer(), 'igbinary' => new IgbinarySerializer()] as $name => $serializer) {
            foreach (ValueContract::values() as $value => [$make]) {
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

    public function testABatchIsReadAsEachOfItAlone(): void
    {
        $written = array_map(static fn(array $damage): string => $damage[0], [...self::damage()]);
        $payloads = [
            new Payload(new PhpSerializer()),
            new Payload(new IgbinarySerializer()),
            new Payload(new PhpSerializer(), new Compression(10), new Signature('a secret of this test', 'test')),
        ];
        foreach ($payloads as $i => $payload) {
            foreach (ValueContract::values() as $name => [$make]) {
                $written["{$i} {$name}"] = $payload->encode("{$i} {$name}", $make());
            }
            $written[$i] = $payload->encode((string) $i, "a value with the key {$i}");
        }
        $all = $elsewhere = [];
        foreach ($written as $key => $bytes) {
            $length = \count($all) % 3 === 0 ? \count($all) : 24;
            $all[$key] = str_repeat("\2", $length) . $bytes;
            if ($length !== 24) {
                $elsewhere[$key] = $length;
            }
        }
        $before = ini_set('unserialize_callback_func', 'trim');
        try {
            foreach ($payloads as $payload) {
                $alone = [];
                foreach ($all as $key => $bytes) {
                    $alone[$key] = $payload->decode($bytes, $this, (string) $key, $elsewhere[$key] ?? 24);
                }
                $alone = array_filter($alone, fn(mixed $value): bool => $value !== $this);
                self::assertGreaterThan(\count(iterator_to_array(ValueContract::values())), \count($alone));
                self::assertSame(serialize($alone), serialize($payload->decodeAll($all, 24, $elsewhere)));
                self::assertSame('trim', \ini_get('unserialize_callback_func'));
            }
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

    public function testWhatIsLargeIsCompressedIfThatHelps(): void
    {
        $payload = new Payload(new PhpSerializer(), new Compression(1_000));
        foreach ([str_repeat('text ', 1_000), array_fill(0, 500, 'text'), new Product(str_repeat('x', 5_000))] as $value) {
            $bytes = $payload->encode('key', $value);
            self::assertSame('G', $bytes[0]);
            self::assertLessThan(\strlen(serialize($value)) / 3, \strlen($bytes));
            self::assertEquals($value, $payload->decode($bytes, 'foreign'));
            self::assertSame('foreign', $payload->decode(substr($bytes, 0, -1), 'foreign'), 'truncated');
            self::assertSame('foreign', $payload->decode(substr_replace($bytes, "\xff\xff", 5, 2), 'foreign'), 'damaged');
        }
        $noise = random_bytes(2_000);
        foreach (['S' . $noise => $noise, 'Sshort' => 'short', 'Pa:0:{}' => [], '7' => 7] as $bytes => $value) {
            self::assertSame((string) $bytes, $payload->encode('key', $value));
            self::assertSame($value, $payload->decode((string) $bytes, 'foreign'));
        }
    }

    public function testAThresholdSaysFromWhereOn(): void
    {
        $payload = new Payload(new PhpSerializer(), new Compression(101));
        self::assertSame('S', $payload->encode('key', str_repeat('x', 99))[0]);
        self::assertSame('G', $payload->encode('key', str_repeat('x', 100))[0]);
    }

    public function testASmallPayloadNeverExpandsBeyondTheLongestThatIsCompressed(): void
    {
        $payload = new Payload(new PhpSerializer(), new Compression(0));
        $longest = str_repeat('x', Compression::LONGEST - 1);
        $bytes = $payload->encode('key', $longest);
        self::assertLessThan(1 << 20, \strlen($bytes));
        self::assertTrue($longest === $payload->decode($bytes, 'foreign'));
        self::assertSame('S', $payload->encode('key', "{$longest}x")[0], 'What is longer is left as it is.');
        $zeros = str_repeat("\0", 1 << 20);
        foreach ([1, 1 << 10] as $more) {
            $deflate = deflate_init(\ZLIB_ENCODING_DEFLATE, ['level' => 9]);
            self::assertNotFalse($deflate);
            $bomb = 'G' . deflate_add($deflate, "S{$longest}", \ZLIB_NO_FLUSH);
            for ($i = 0; $i < $more; $i++) {
                $bomb .= deflate_add($deflate, $zeros, $i + 1 < $more ? \ZLIB_NO_FLUSH : \ZLIB_FINISH);
            }
            self::assertLessThan(2 << 20, \strlen($bomb));
            memory_reset_peak_usage();
            $before = memory_get_usage();
            self::assertSame('foreign', $payload->decode($bomb, 'foreign'));
            self::assertLessThan($before + 3 * Compression::LONGEST, memory_get_peak_usage());
        }
    }

    public function testASignedPayloadIsForItsKeyInItsNamespaceUnderItsSecret(): void
    {
        $signed = self::signed('a secret of 16 b', 'shop');
        foreach (['text', ['array'], new Product('x'), null] as $value) {
            $bytes = $signed->encode('key', $value);
            self::assertEquals($value, $signed->decode($bytes, 'foreign', 'key'));
            self::assertSame('foreign', $signed->decode($bytes, 'foreign', 'other key'));
            self::assertSame('foreign', $signed->decode($bytes, 'foreign'));
            self::assertSame('foreign', self::signed('another secret...', 'shop')->decode($bytes, 'foreign', 'key'));
            self::assertSame('foreign', self::signed('a secret of 16 b', 'blog')->decode($bytes, 'foreign', 'key'));
            for ($i = 0; $i < \strlen($bytes); $i++) {
                self::assertSame('foreign', $signed->decode(substr_replace($bytes, \chr(\ord($bytes[$i]) ^ 1), $i, 1), 'foreign', 'key'), "byte {$i} changed");
                self::assertSame('foreign', $signed->decode(substr($bytes, 0, $i), 'foreign', 'key'), "cut after {$i} bytes");
            }
        }
        // No part can be taken for the end or the beginning of another.
        $bytes = self::signed('a secret of 16 b', 'sho')->encode('pkey', 'text');
        self::assertSame('foreign', $signed->decode($bytes, 'foreign', 'key'));
    }

    public function testASignatureIsKeyedBlake2bOfTheNamespaceTheKeyAndThePayload(): void
    {
        foreach ([16 => null, 64 => null, 65 => 'sha512', 200 => 'sha512'] as $length => $hash) {
            $secret = str_repeat('s', $length - 1) . '!';
            $signed = pack('NN', 4, 3) . 'shopkeypayload';
            $expected = 'B' . sodium_crypto_generichash($signed, $hash === null ? $secret : hash($hash, $secret, true), 32) . 'payload';
            self::assertSame($expected, (new Signature($secret, 'shop'))->sign('key', 'payload'));
        }
    }

    /** Where OpenSSL is faster. A process without it reads it too, and the other way round. */
    public function testALargePayloadIsSignedByHmacWithSha256WhateverTheLengths(): void
    {
        foreach ([16, 63, 64, 65, 200] as $secretLength) {
            $secret = str_repeat('s', $secretLength - 1) . '!';
            $signature = new Signature($secret, 'shop');
            foreach ([0, 1, 200, 240, 247, 248, 249, 300, 4_095, 4_096, 5_000] as $length) {
                $text = str_repeat('x', $length);
                $expected = 'H' . hash_hmac('sha256', pack('NN', 4, 3) . 'shopkey' . $text, $secret, true) . $text;
                self::assertSame($length < 4_096 ? 'B' : 'H', $signature->sign('key', $text)[0]);
                self::assertSame($text, $signature->verified('key', $signature->sign('key', $text)));
                self::assertSame($text, $signature->verified('key', $expected));
                self::assertNull($signature->verified('key', $expected . 'x'));
                if ($length >= 4_096) {
                    self::assertSame($expected, $signature->sign('key', $text));
                }
            }
        }
    }

    /** A process without sodium has written it, or an earlier version. */
    public function testASignatureByHmacIsReadToo(): void
    {
        $secret = 'a secret of 16 b';
        $hmac = hash_hmac('sha256', pack('NN', 4, 3) . 'shopkeypayload', $secret, true);
        $signature = new Signature($secret, 'shop');
        self::assertSame('payload', $signature->verified('key', "H{$hmac}payload"));
        self::assertNull($signature->verified('other key', "H{$hmac}payload"));
        self::assertNull($signature->verified('key', "B{$hmac}payload"));
        self::assertNull($signature->verified('key', 'H' . substr($signature->sign('key', 'payload'), 1)));
    }

    public function testWhatAProcessWithoutExtensionsHasSignedIsReadByOneWithThem(): void
    {
        $autoload = var_export(\dirname(__DIR__, 3) . '/vendor/autoload.php', true);
        $code = "require {$autoload}; echo (new Larder\\Serializer\\Signature('a secret of 16 b', 'shop'))->sign('key', 'payload'), extension_loaded('sodium') ? 'B' : 'H';";
        $process = new Process([PHP_BINARY, '-n', '-r', $code], timeout: 300.0);
        self::assertSame(0, $process->run(), $process->getOutput() . $process->getErrorOutput());
        $signed = substr($process->getOutput(), 0, -1);
        self::assertSame(substr($process->getOutput(), -1), $signed[0]);
        self::assertSame('payload', (new Signature('a secret of 16 b', 'shop'))->verified('key', $signed));
    }

    public function testWhatIsNotSignedIsNeverUnserialised(): void
    {
        $signed = self::signed('a secret of 16 b', 'shop');
        $plain = new Payload(new PhpSerializer());
        $before = Trap::sprung();
        foreach ([[new Trap()], 'text'] as $value) {
            self::assertSame('foreign', $signed->decode($plain->encode('key', $value), 'foreign', 'key'));
            self::assertSame('foreign', $plain->decode($signed->encode('key', $value), 'foreign', 'key'));
        }
        foreach (['H', 'B', 'C'] as $mark) {
            $forged = $mark . str_repeat("\0", 32) . $plain->encode('key', [new Trap()]);
            self::assertSame('foreign', $signed->decode($forged, 'foreign', 'key'));
        }
        self::assertSame($before, Trap::sprung());
        self::assertSame(5, $signed->decode($signed->encode('n', 5), 'foreign', 'n'), 'A counter is for the server to count with.');
    }

    public function testOnlyTheAllowedClassesAreStoredAndMadeAgain(): void
    {
        $all = new Payload(new PhpSerializer());
        $some = new Payload(new PhpSerializer(['\\' . strtolower(Product::class), Suit::class, \stdClass::class]));
        $none = new Payload(new PhpSerializer([]));
        $allowed = [new Product('x', new Product('y')), [(object) ['a' => new Product('O:8:"NoSuch":0:{}')]]];
        foreach ($allowed as $value) {
            self::assertEquals($value, $some->decode($some->encode('key', $value), 'foreign'));
            self::assertSame('foreign', $none->decode($all->encode('key', $value), 'foreign'));
        }
        $before = Trap::sprung();
        foreach ([new \ArrayObject([1]), [1, ['x' => new \DateTimeImmutable()]], Ttl::Forever, (object) ['a' => Ttl::Forever], [new Product('p'), new Trap()], new Trap()] as $value) {
            self::assertSame('foreign', $some->decode($all->encode('key', $value), 'foreign'));
            try {
                $some->encode('key', $value);
                self::fail('A class that is not allowed was stored.');
            } catch (Unstorable $mistake) {
                self::assertStringContainsString('is not among the allowed ones', $mistake->getMessage());
            }
        }
        self::assertSame($before, Trap::sprung());
        foreach ([[1, 'O:8:"stdClass":0:{}', 2.5, ['E:1:"' => true, -1 => null]], 'C:1:"x"', [\NAN, -\INF, \PHP_INT_MIN]] as $value) {
            self::assertSame(serialize($value), serialize($none->decode($none->encode('key', $value), 'foreign')));
        }
    }

    public function testClassNamesAreReadFromEveryKindOfToken(): void
    {
        $shared = new Product('twin');
        $reference = 1;
        $value = [
            1, -1, 2.5, \NAN, true, null, 'a "string" with } and O:1:"x":0:{}', ['nested' => [[]]],
            $shared, $shared, &$reference, &$reference, Suit::Spades, new \ArrayObject(['in' => new Wakeful('x')]), new \SplObjectStorage(),
        ];
        $names = ClassNames::in(serialize($value));
        sort($names);
        self::assertSame(['ArrayObject', Product::class, Suit::class, Wakeful::class, 'SplObjectStorage'], $names);
        self::assertSame(['Custom', 'stdClass'], ClassNames::in('a:2:{i:0;C:6:"Custom":12:{O:1:"x":0:{}}i:1;O:8:"stdClass":0:{}}'));
        self::assertSame([], ClassNames::in('a:1:{i:0;s:3:"abc";}'));
        foreach (['a:1:{i:0;O:8:"stdClass"x', 'garbage O:8:"stdClass":0:{}', 'E:8:"Suit:One"', 'O:8:"stdClass":0:{}x'] as $garbage) {
            try {
                ClassNames::in($garbage);
                self::fail("Garbage was read: {$garbage}");
            } catch (\UnexpectedValueException) {
            }
        }
    }

    public function testAClassThatIsNotAllowedIsNotMadeInTheFormOfAnother(): void
    {
        $trap = serialize(new Trap());
        $forms = [
            'ArrayObject' => "x:i:0;a:1:{i:0;{$trap}};m:a:0:{}",
            'ArrayIterator' => "x:i:0;a:1:{i:0;{$trap}};m:a:0:{}",
            'SplObjectStorage' => "x:i:1;{$trap},i:1;;m:a:0:{}",
        ];
        foreach ($forms as $class => $form) {
            $bytes = \sprintf('C:%d:"%s":%d:{%s}', \strlen($class), $class, \strlen($form), $form);
            $sprung = Trap::sprung();
            unserialize($bytes);
            self::assertSame($sprung + 1, Trap::sprung(), 'It is made where all classes are allowed.');
            try {
                (new PhpSerializer([$class]))->unserialize($bytes);
                self::fail("{$class} was read.");
            } catch (\UnexpectedValueException $refusal) {
                self::assertStringContainsString($class, $refusal->getMessage());
            }
            self::assertSame($sprung + 1, Trap::sprung());
        }
        self::assertEquals(new \ArrayObject([1]), (new PhpSerializer(['arrayobject']))->unserialize(serialize(new \ArrayObject([1]))));
    }

    /** @return iterable<string, array{string, string}> */
    public static function wrongOptions(): iterable
    {
        yield 'an unknown compression' => ['compression=gzip', 'choose one of: none, zlib, zstd, lz4'];
        yield 'a negative threshold' => ['compression=zlib&compress_above=-1', 'bytes, such as "64M"'];
        yield 'a threshold that is no number where nothing is compressed' => ['compress_above=x', 'The DSN option "compress_above" is "x"; give bytes'];
        yield 'a short secret' => ['secret=hunter2', 'at least 16 bytes'];
        yield 'an unknown serializer' => ['serializer=json', 'choose one of: auto, igbinary, php'];
        yield 'classes for one that cannot be limited' => ['serializer=igbinary&classes=Foo', 'php, as no other can be limited to some classes'];
    }

    #[DataProvider('wrongOptions')]
    public function testAWrongOptionIsOneClearError(string $options, string $says): void
    {
        try {
            Stores::open("file:/tmp/never-made?{$options}");
            self::fail('A wrong option was taken.');
        } catch (Exception $mistake) {
            self::assertStringContainsString($says, $mistake->getMessage());
            self::assertStringNotContainsString('hunter2', $mistake->getMessage());
        }
    }

    public function testTheOptionsOfADsnAreThose(): void
    {
        $scratch = new Scratch();
        foreach (["file:{$scratch->path}", "sqlite:{$scratch->path}/cache.db"] as $place) {
            $this->checkOptions($place);
        }
    }

    private function checkOptions(string $place): void
    {
        $open = static fn(string $options): Store => Stores::open("{$place}?{$options}");
        $ways = ['serializer=php', 'serializer=igbinary', 'secret=0123456789abcdef', 'secret=another-secret-16', 'compression=zlib&compress_above=10', 'classes=none&secret=0123456789abcdef'];
        $value = ['text' => str_repeat('x', 1_000)];
        foreach ($ways as $written) {
            $open($written)->save([new Item('key', $value)]);
            self::assertSame($value, $open($written)->fetch(['key'])->items['key']->value ?? null, $written);
            foreach ($ways as $read) {
                // Whether another setting can read it or not: it is the value, or a miss.
                self::assertContains($open($read)->fetch(['key'])->items['key']->value ?? null, [$value, null], "{$written}, {$read}");
            }
            self::assertArrayNotHasKey('key', $open($written === 'serializer=php' ? 'serializer=igbinary' : 'serializer=php')->fetch(['key'])->items, $written);
        }
    }

    private static function signed(string $secret, string $namespace): Payload
    {
        return new Payload(new PhpSerializer(), null, new Signature($secret, $namespace));
    }
}
