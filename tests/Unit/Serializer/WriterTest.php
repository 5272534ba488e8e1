<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Serializer;

use Larder\Exception\Unstorable;
use Larder\Serializer\Form;
use Larder\Serializer\IgbinarySerializer;
use Larder\Serializer\Path;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Serializer\Refusal;
use Larder\Serializer\Step;
use Larder\Serializer\Writer;
use Larder\Tests\Contract\ToldContract;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Contract\Value\Sleeper;
use Larder\Tests\Contract\Value\Suit;
use Larder\Tests\Contract\Value\Teller;
use Larder\Tests\Contract\ValueContract;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversClass(Writer::class)]
#[CoversClass(Form::class)]
#[CoversClass(Step::class)]
#[CoversClass(Path::class)]
#[CoversClass(Refusal::class)]
final class WriterTest extends TestCase
{
    /** @return iterable<string, array{\Closure(): mixed}> */
    public static function values(): iterable
    {
        yield from ValueContract::values();
        foreach (ToldContract::told() as $name => [$make]) {
            yield "told: {$name}" => [static fn(): mixed => $make(new \ArrayObject())];
        }
        yield 'an exception' => [static fn(): mixed => new \DomainException('a', 1, new \RuntimeException('b'))];
        yield 'an interval and a zone' => [static fn(): mixed => [new \DateInterval('P1D'), new \DateTimeZone('UTC')]];
    }

    /** @param \Closure(): mixed $make */
    #[DataProvider('values')]
    public function testItWritesWhatPhpWould(\Closure $make): void
    {
        $value = $make();
        self::assertSame(serialize($value), Writer::write('key', $value));
        $reference = $make();
        $many = ['first' => $value, 7 => [$reference, &$reference, $value], 'last' => &$reference];
        self::assertSame(serialize($many), Writer::write('key', $many));
    }

    public function testItWritesWhatPhpWouldWhateverHoldsWhatever(): void
    {
        $seed = random_int(0, \PHP_INT_MAX);
        mt_srand($seed);
        for ($round = 0; $round < 300; $round++) {
            $parts = [null, 1, 'text', Suit::Hearts];
            for ($i = 0; $i < 12; $i++) {
                $parts[] = $this->made($parts);
            }
            self::assertSame(serialize($parts), Writer::write('key', $parts), "seed {$seed}, round {$round}");
        }
    }

    public function testANameThatIsNoPropertyIsPassedOverWithAWarning(): void
    {
        $warnings = [];
        set_error_handler(static function (int $level, string $message) use (&$warnings): bool {
            $warnings[] = $message;

            return true;
        });
        try {
            $written = Writer::write('key', new Sleeper(null, ['kept', 'nothing', 'unset']));
        } finally {
            restore_error_handler();
        }
        self::assertSame(['"nothing" returned as member variable from __sleep() but does not exist'], $warnings);
        self::assertStringEndsWith(':1:{s:4:"kept";N;}', $written);
    }

    public function testAPathThatIsTooLongIsCutOff(): void
    {
        $deep = new Teller('a', static fn(): array => [fopen('php://memory', 'r')]);
        for ($i = 0; $i < 1_000; $i++) {
            $deep = ["step {$i}" => $deep];
        }
        try {
            Writer::write('key', $deep);
            self::fail('A resource was written.');
        } catch (Unstorable $mistake) {
            self::assertStringContainsString("\$value['step 999']['step 998']", $mistake->getMessage());
            self::assertLessThan(600, \strlen($mistake->getMessage()));
        }
    }

    public function testWhatObjectsToldIsReadWhateverTheSerializer(): void
    {
        $php = new Payload(new PhpSerializer());
        $igbinary = new Payload(new IgbinarySerializer());
        $bytes = $igbinary->encode('key', ['x' => new Teller('a', static fn(): array => [new Product('p')])]);
        self::assertSame('T', $bytes[0]);
        foreach ([$php, $igbinary] as $payload) {
            self::assertEquals($igbinary->decode($bytes, 'foreign'), $payload->decode($bytes, 'foreign'));
            self::assertNotSame('foreign', $payload->decode($bytes, 'foreign'));
            for ($length = 1; $length < \strlen($bytes); $length++) {
                self::assertSame('foreign', $payload->decode(substr($bytes, 0, $length), 'foreign'), "{$length} bytes");
            }
        }
    }

    public function testWhatObjectsToldIsLimitedToTheAllowedClasses(): void
    {
        $value = [new Teller('a', static fn(): array => [new Product('p')])];
        $some = new Payload(new PhpSerializer([Teller::class]));
        self::assertSame('foreign', $some->decode((new Payload(new PhpSerializer()))->encode('key', $value), 'foreign'));
        $this->expectException(Unstorable::class);
        $this->expectExceptionMessage('the class ' . Product::class . ' is not among the allowed ones');
        $some->encode('key', $value);
    }

    /** @param non-empty-list<mixed> $parts */
    private function made(array &$parts): mixed
    {
        $one = &$parts[mt_rand(0, \count($parts) - 1)];
        $other = $parts[mt_rand(0, \count($parts) - 1)];
        switch (mt_rand(0, 7)) {
            case 0:
                return ['a' => $one, $other];
            case 1:
                return [&$one, 'b' => $other];
            case 2:
                return (object) ['p' => $one, '7' => $other];
            case 3:
                $object = new Product('p');
                $object->note = &$one;

                return $object;
            case 4:
                return (new Sleeper())->change([$one, $other]);
            case 5:
                return new \ArrayObject([$one, $other]);
            case 6:
                return $other;
            default:
                return new Teller('t', static fn(): array => [$one, $other]);
        }
    }
}
