<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Serializer;

use Larder\Exception\InvalidOption;
use Larder\Item;
use Larder\Serializer\Codec;
use Larder\Serializer\Compression;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Serializer\ZstdFrame;
use Larder\Stores;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** With zlib and, by the PHP extensions or the C libraries that these use, with Zstandard and LZ4. */
#[CoversClass(Codec::class)]
#[CoversClass(Compression::class)]
#[CoversClass(ZstdFrame::class)]
final class CompressionTest extends TestCase
{
    private const BLOCK = 128 << 10;

    public static function setUpBeforeClass(): void
    {
        require_once __DIR__ . '/codecs.inc';
    }

    /** @return iterable<string, array{Codec}> */
    public static function codecs(): iterable
    {
        foreach (Codec::cases() as $codec) {
            yield $codec->value => [$codec];
        }
    }

    #[DataProvider('codecs')]
    public function testWhatIsLargeIsCompressedIfThatHelps(Codec $codec): void
    {
        $payload = self::payload($codec, 1_000);
        foreach ([str_repeat('text ', 1_000), array_fill(0, 500, 'text'), new Product(str_repeat('x', 5_000)), str_repeat("\0", 5_000_000)] as $value) {
            $bytes = $payload->encode('key', $value);
            self::assertSame($codec->mark(), $bytes[0]);
            self::assertLessThan(\strlen(serialize($value)) / 3, \strlen($bytes));
            self::assertEquals($value, $payload->decode($bytes, 'foreign'));
            for ($end = min(40, \strlen($bytes) - 1); $end > 0; $end--) {
                self::assertSame('foreign', $payload->decode(substr($bytes, 0, $end), 'foreign'), "truncated after {$end}");
            }
            self::assertSame('foreign', $payload->decode(substr($bytes, 0, -1), 'foreign'), 'truncated');
            self::assertSame('foreign', $payload->decode(substr_replace($bytes, "\xff\xff", 5, 2), 'foreign'), 'damaged');
        }
        $noise = random_bytes(2_000);
        foreach (['S' . $noise => $noise, 'Sshort' => 'short', 'Pa:0:{}' => [], '7' => 7] as $bytes => $value) {
            self::assertSame((string) $bytes, $payload->encode('key', $value));
            self::assertSame($value, $payload->decode((string) $bytes, 'foreign'));
        }
    }

    #[DataProvider('codecs')]
    public function testEveryLengthComesBack(Codec $codec): void
    {
        $payload = self::payload($codec, 0);
        $text = random_bytes(300) . str_repeat('text of no use ', 1_000) . random_bytes(70_000);
        foreach ([1, 2, 12, 13, 14, 50, 254, 255, 256, 257, 1_000, 14_000, 65_535, 65_536, 65_790, 65_791, 65_792] as $length) {
            foreach ([str_repeat('x', $length), substr($text, 0, $length)] as $value) {
                self::assertSame($value, $payload->decode($payload->encode('key', $value), 'foreign'), "{$length} bytes");
            }
        }
        foreach ([self::BLOCK - 2, self::BLOCK - 1, self::BLOCK, 3 * self::BLOCK, 8_000_000] as $length) {
            $value = substr(str_repeat($text, (int) ceil($length / \strlen($text))), 0, $length);
            $bytes = $payload->encode('key', $value);
            self::assertSame($codec->mark(), $bytes[0], "{$length} bytes");
            self::assertTrue($value === $payload->decode($bytes, 'foreign'), "{$length} bytes");
        }
        $value = substr(str_repeat($text, 250), 0, 20_000_000);
        self::assertTrue($value === $payload->decode($payload->encode('key', $value), 'foreign'));
    }

    #[DataProvider('codecs')]
    public function testTheLongestPayloadIsCompressedAndNoLonger(Codec $codec): void
    {
        $payload = self::payload($codec, 0);
        $longest = str_repeat('x', Compression::LONGEST - 1);
        $bytes = $payload->encode('key', $longest);
        self::assertSame($codec->mark(), $bytes[0]);
        self::assertLessThan(1 << 20, \strlen($bytes));
        self::assertTrue($longest === $payload->decode($bytes, 'foreign'));
        self::assertSame('S', $payload->encode('key', "{$longest}x")[0], 'A longer one is left as it is.');
    }

    #[DataProvider('codecs')]
    public function testNothingIsReadThatAnotherCodecWrote(Codec $codec): void
    {
        $bytes = self::payload($codec, 0)->encode('key', str_repeat('text', 1_000));
        foreach (Codec::cases() as $other) {
            $expected = $other === $codec ? str_repeat('text', 1_000) : 'foreign';
            self::assertSame($expected, self::payload($other, 0)->decode($bytes, 'foreign'), $other->value);
            if ($other !== $codec) {
                self::assertSame('foreign', self::payload($other, 0)->decode($other->mark() . substr($bytes, 1), 'foreign'), "{$other->value} with its mark");
            }
        }
        self::assertSame('foreign', (new Payload(new PhpSerializer()))->decode($bytes, 'foreign'));
    }

    #[DataProvider('codecs')]
    public function testADsnNamesIt(Codec $codec): void
    {
        $scratch = new Scratch();
        foreach (["file:{$scratch->path}/files", "sqlite:{$scratch->path}/cache.db"] as $dsn) {
            $store = Stores::open("{$dsn}?compression={$codec->value}&compress_above=10&secret=0123456789abcdef");
            $value = ['text' => str_repeat('x', 100_000)];
            $store->save([new Item('key', $value)]);
            self::assertSame($value, $store->fetch(['key'])->items['key']->value ?? null, $dsn);
        }
        self::assertLessThan(90_000, $scratch->bytes());
    }

    public function testAnUnknownOneIsAClearError(): void
    {
        $this->expectExceptionObject(InvalidOption::choice('compression', 'gzip', 'none', 'zlib', 'zstd', 'lz4'));
        Stores::open('file:/tmp/never-made?compression=gzip');
    }

    public function testAPhpWithoutTheExtensionIsAClearError(): void
    {
        foreach (['zstd', 'lz4'] as $name) {
            $script = 'require $argv[1]; try { new Larder\Serializer\Compression(codec: Larder\Serializer\Codec::from($argv[2])); } catch (Larder\Exception\ExtensionMissing $e) { echo $e->getMessage(); }';
            exec(implode(' ', array_map(escapeshellarg(...), [\PHP_BINARY, '-n', '-r', $script, __DIR__ . '/../../../vendor/autoload.php', $name])) . ' 2>&1', $said);
            self::assertSame(["The compression \"{$name}\" needs the PHP extension \"{$name}\", which is not loaded; install and enable it for this PHP (" . \PHP_VERSION . ', cli).'], $said);
            $said = [];
        }
    }

    public function testAFrameOfZstandardSaysHowLongItMayBecome(): void
    {
        foreach ([0, 1, 255, 256, 65_791, 65_792, self::BLOCK, self::BLOCK + 1, 1_000_000, 17_000_000] as $length) {
            foreach (['x', random_bytes(1_000)] as $part) {
                $value = substr(str_repeat($part, (int) ceil($length / \strlen($part))), 0, $length);
                $frame = 'at' . zstd_compress($value, 1);
                $longest = ZstdFrame::longest($frame, 2);
                self::assertNotNull($longest, "{$length} bytes");
                self::assertGreaterThanOrEqual($length, $longest);
                // Newer versions of the library end a block after each 32 KiB where that makes it smaller.
                self::assertLessThanOrEqual(4 * $length + self::BLOCK, $longest);
                self::assertNull(ZstdFrame::longest("{$frame}x", 2), 'with more behind it');
                self::assertNull(ZstdFrame::longest(substr($frame, 0, -1), 2), 'truncated');
            }
        }
        self::assertSame(1 << 50, ZstdFrame::longest("\x28\xB5\x2F\xFD\xE0" . pack('P', 1 << 50) . self::block(true, 0, 1) . 'x', 0), 'That much memory is taken first.');
        self::assertNull(ZstdFrame::longest('', 0));
        self::assertNull(ZstdFrame::longest('Z', 1));
    }

    /** @return iterable<string, array{string}> */
    public static function bombs(): iterable
    {
        require_once __DIR__ . '/codecs.inc';
        $magic = "\x28\xB5\x2F\xFD";
        $repeated = static fn(int $times): string => str_repeat(self::block(false, 1, self::BLOCK) . 'x', $times) . self::block(true, 1, self::BLOCK) . 'x';
        $zeros = (string) zstd_compress(str_repeat("\0", self::BLOCK), 1);
        $tight = substr($zeros, 9);
        self::assertSame(2, \ord($tight[0]) >> 1 & 0b11, 'It is a compressed block.');
        $tight = substr(self::block(false, 2, (\ord($tight[0]) | \ord($tight[1]) << 8) >> 3), 0, 3) . substr($tight, 3);
        yield 'repeated bytes that a short frame has' => ["{$magic}\x60\x00\x00" . $repeated(8_000)];
        yield 'repeated bytes that a frame without a length has' => ["{$magic}\x00\x58" . $repeated(8_000)];
        yield 'repeated bytes that are said' => ["{$magic}\xE0" . pack('P', 8_001 * self::BLOCK) . $repeated(8_000)];
        yield 'a length that no memory has' => ["{$magic}\xE0" . pack('P', 1 << 50) . self::block(true, 0, 1) . 'x'];
        yield 'a length below zero' => ["{$magic}\xE0" . pack('P', -1) . self::block(true, 0, 1) . 'x'];
        yield 'compressed blocks that a short frame has' => ["{$magic}\xA0" . pack('V', 1_000) . str_repeat($tight, 8_000) . self::block(true, 0, 0)];
        yield 'a second frame' => ["{$magic}\x20\x01" . self::block(true, 0, 1) . "x{$magic}\xE0" . pack('P', 8_001 * self::BLOCK) . $repeated(8_000)];
        yield 'a frame that is skipped first' => ["\x50\x2A\x4D\x18\x00\x00\x00\x00{$magic}\xE0" . pack('P', 8_001 * self::BLOCK) . $repeated(8_000)];
        yield 'a block too many' => ["{$magic}\xA0" . pack('V', Compression::LONGEST) . $repeated(Compression::LONGEST / self::BLOCK)];
        yield 'a block of a kind that is none' => ["{$magic}\x20\x01" . self::block(false, 3, 1) . 'x' . self::block(true, 0, 1) . 'x'];
    }

    #[DataProvider('bombs')]
    public function testASmallFrameOfZstandardNeverFillsTheMemory(string $frame): void
    {
        $payload = self::payload(Codec::Zstd, 0);
        memory_reset_peak_usage();
        $before = memory_get_usage();
        self::assertSame('foreign', $payload->decode("Z{$frame}", 'foreign'));
        self::assertLessThan($before + (1 << 20), memory_get_peak_usage());
    }

    public function testALengthOfLz4IsExactlyThat(): void
    {
        $payload = self::payload(Codec::Lz4, 0);
        $bytes = $payload->encode('key', str_repeat('text', 1_000));
        self::assertSame('L' . pack('V', 4_001), substr($bytes, 0, 5));
        memory_reset_peak_usage();
        $before = memory_get_usage();
        foreach ([0, 1, 4_000, 4_002, 100_000, Compression::LONGEST + 1, 0x7fffffff, 0x80000000, 0xffffffff] as $length) {
            self::assertSame('foreign', $payload->decode('L' . pack('V', $length) . substr($bytes, 5), 'foreign'), (string) $length);
        }
        self::assertLessThan($before + (1 << 20), memory_get_peak_usage());
    }

    private static function block(bool $last, int $type, int $size): string
    {
        return substr(pack('V', $size << 3 | $type << 1 | (int) $last), 0, 3);
    }

    private static function payload(Codec $codec, int $threshold): Payload
    {
        return new Payload(new PhpSerializer(), new Compression($threshold, $codec));
    }
}
