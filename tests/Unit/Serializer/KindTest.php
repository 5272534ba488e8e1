<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Serializer;

use Larder\Serializer\Form;
use Larder\Serializer\IgbinarySerializer;
use Larder\Serializer\Kind;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\SharedMemory;
use Larder\Tests\Contract\Value\Heap;
use Larder\Tests\Contract\Value\KeptHeap;
use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Contract\Value\Reader;
use Larder\Tests\Contract\Value\Specimens;
use Larder\Tests\Contract\Value\Suit;
use Larder\Tests\Contract\Value\Window;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversClass(Kind::class)]
#[CoversClass(Form::class)]
final class KindTest extends TestCase
{
    /** Beside those of the stores, which have PHP's own. */
    public function testIgbinaryGivesBackWhatPhpsSerializerDoes(): void
    {
        $wrong = [];
        foreach ([new IgbinarySerializer(), new PhpSerializer()] as $serializer) {
            $payload = new Payload($serializer);
            foreach (Specimens::all() as $name => $specimen) {
                array_push($wrong, ...Specimens::judge(
                    "{$serializer->mark()}: {$name}",
                    $specimen,
                    static fn(mixed $value): mixed => $payload->decode($payload->encode('key', $value), null),
                ));
            }
        }
        SharedMemory::remove('specimen');
        self::assertSame([], $wrong);
    }

    public function testTheExtensionHasTheSameListOfClassesThatAreNothingButTheirProperties(): void
    {
        $source = (string) file_get_contents(\dirname(__DIR__, 3) . '/ext/image/class.c');
        $list = explode('};', explode('plain[] = {', $source)[1] ?? '')[0];
        self::assertGreaterThan(0, preg_match_all('/"([^"]+)"/', $list, $names));
        self::assertSame(Kind::PLAIN, array_map(stripslashes(...), $names[1]));
    }

    /** @return iterable<string, array{object, bool, bool, bool}> whether it is refused, whether its class says of itself what it is made of, whether it is a user's */
    public static function objects(): iterable
    {
        yield 'of a class' => [new Product('shirt'), false, false, true];
        yield 'of none' => [new \stdClass(), false, false, false];
        yield 'a case' => [Suit::Hearts, false, false, true];
        yield 'an exception' => [new \LogicException(), false, false, false];
        yield 'a container' => [new \ArrayObject(), false, false, false];
        yield 'a heap' => [new \SplMinHeap(), true, false, false];
        yield 'a heap of a user\'s' => [new Heap(), true, false, true];
        yield 'a heap that says what is in it' => [new KeptHeap(), false, true, true];
        yield 'an iterator that passes on what it is asked, and wakes' => [new Window([1], 0, 1), false, false, true];
        yield 'an iterator that passes on what it is asked' => [new \IteratorIterator(new \ArrayIterator()), true, false, false];
        yield 'a connection that would say what it is' => [new Reader('sqlite::memory:'), true, true, true];
    }

    #[DataProvider('objects')]
    public function testAClassTellsWhetherItsObjectsCanBeStored(object $object, bool $isRefused, bool $asksUser, bool $isUsers): void
    {
        $kind = Kind::of($object);
        self::assertSame([$isRefused, $asksUser, $isUsers], [$kind->isRefused, $kind->asksUser, $kind->isUsers]);
    }

    public function testWhatAUserCanDoAboutARefusalIsSaidWhereThereIsSomething(): void
    {
        self::assertTrue(Kind::isUpToUser(new Heap()));
        self::assertFalse(Kind::isUpToUser(new \SplMinHeap()));
        self::assertFalse(Kind::isUpToUser(new Reader('sqlite::memory:')));
        self::assertFalse(Kind::isUpToUser(new class extends \SplMinHeap {}));
    }
}
