<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Subject;

use Larder\Bench\Subject\Operation;
use Larder\Bench\Subject\ShapedValues;
use Larder\SharedMemory;
use PHPUnit\Framework\TestCase;

final class ShapedValuesTest extends TestCase
{
    public function testEveryShapeComesBackFromAPoolAsFromPhpsSerialiser(): void
    {
        $name = 'test-' . bin2hex(random_bytes(6));
        $pool = SharedMemory::open($name, 16 << 20);
        try {
            foreach (ShapedValues::all() as $value) {
                self::assertTrue($pool->set($value->name, $value->make(3)), $value->title);
                $read = $pool->get($value->name);
                $unserialised = unserialize(serialize($value->make(3)));
                self::assertEquals($unserialised, $read, $value->title);
                self::assertSame(serialize($unserialised), serialize($read), $value->title);
                self::assertNotSame(serialize($value->make(4)), serialize($read), "{$value->title}: values of different numbers differ");
            }
        } finally {
            SharedMemory::remove($name);
        }
    }

    public function testTheOneThatIsChangedIsChanged(): void
    {
        $found = ShapedValues::all()[ShapedValues::CHANGED];
        $value = $found->make(0);
        eval($found->code(Operation::Modify));

        self::assertNotEquals($found->make(0), $value);
    }
}
