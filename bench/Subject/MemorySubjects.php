<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use ArrayObject;
use Larder\SharedMemory;

/** What keeps its items in the memory of the process or of the machine, without a server. */
final class MemorySubjects
{
    /** How many keys one getMany() of a pool asks for. */
    public const FEW = 20;
    /** A hit. The closure is there for all calls, as that of a loop of one's own would be. */
    public const REMEMBER = '$client->remember($key, $compute ??= static fn(): null => null, 300)';
    /** Bytes that are stored at once where memory is touched: less than a segment has. */
    private const TOUCHED = 60_000;

    public static function none(): Subject
    {
        return new Subject(
            name: 'none',
            title: 'nothing (the empty loop)',
            family: Family::Yardstick,
            open: static fn(): null => null,
            read: static fn(): string => '$key',
            write: static fn(): string => '',
            delete: static fn(): string => '',
            close: static function (): void {},
            exempt: static fn(Operation $operation): ?string => match ($operation) {
                Operation::Get, Operation::Set, Operation::Delete => null,
                default => 'there is nothing to use',
            },
        );
    }

    public static function array(): Subject
    {
        return new Subject(
            name: 'array',
            title: 'a PHP array',
            family: Family::Yardstick,
            open: static fn(): array => [],
            read: static fn(): string => '$client[$key]',
            write: static fn(): string => '$client[$key] = $value;',
            close: static function (): void {},
            exempt: self::handsOutTheSameObject(...),
        );
    }

    public static function arrayObject(): Subject
    {
        return new Subject(
            name: 'array-object',
            title: 'ArrayObject::offsetGet',
            family: Family::Yardstick,
            open: static fn(): ArrayObject => new ArrayObject(),
            read: static fn(): string => '$client->offsetGet($key)',
            write: static fn(): string => '$client->offsetSet($key, $value);',
            close: static function (): void {},
            exempt: self::handsOutTheSameObject(...),
        );
    }

    public static function sharedMemory(bool $zeroCopy): Subject
    {
        return new Subject(
            name: $zeroCopy ? 'shared-memory' : 'shared-memory-copy',
            title: $zeroCopy ? 'Larder shared memory' : 'Larder shared memory, copying',
            family: Family::Memory,
            open: static fn(Place $place): SharedMemory => self::pool($place, $zeroCopy ? 'zero-copy' : 'copy'),
            read: static fn(): string => '$client->get($key)',
            write: static fn(): string => '$client->set($key, $value);',
            close: static function (mixed $client, Place $place): void {
                SharedMemory::remove($place->name);
            },
            connect: static fn(): string => '$fresh = \Larder\SharedMemory::open($place->name, $place->bytes);'
                . ' $value = $fresh->get($key); unset($fresh);',
            missing: static fn(): ?string => Extension::missing('larder', 'it with `make ext`'),
            settings: ['larder.zero_copy' => $zeroCopy ? 'on' : 'off'],
            warm: self::touchPool(...),
            delete: static fn(): string => '$client->delete($key);',
        );
    }

    /** What LibrarySubjects::remembering() has above it. */
    public static function remembering(): Subject
    {
        return self::calling('remember', 'its remember() on a hit', self::REMEMBER);
    }

    /** As many keys at once as LibrarySubjects::sharedMemoryMany() takes. */
    public static function many(): Subject
    {
        return self::calling('many', self::FEW . ' keys a getMany', '$client->getMany($keys)', self::FEW);
    }

    /** A subject that reads by another call of the pool. */
    private static function calling(string $name, string $title, string $read, int $batch = 1): Subject
    {
        return new Subject(
            name: "shared-memory-{$name}",
            title: "Larder shared memory, {$title}",
            family: Family::Memory,
            open: static fn(Place $place): SharedMemory => self::pool($place, 'zero-copy'),
            read: static fn(): string => $read,
            write: static fn(): string => '$client->set($key, $value, 300);',
            close: static function (mixed $client, Place $place): void {
                SharedMemory::remove($place->name);
            },
            missing: static fn(): ?string => Extension::missing('larder', 'it with `make ext`'),
            exempt: self::exceptReadsOfAString(...),
            settings: ['larder.zero_copy' => 'on'],
            warm: self::touchPool(...),
            batch: $batch,
        );
    }

    public static function exceptReadsOfAString(Operation $operation, Value $value): ?string
    {
        return $operation === Operation::Get ? self::exceptAString($operation, $value) : 'it is there for one comparison';
    }

    public static function exceptAString(Operation $operation, Value $value): ?string
    {
        return in_array($operation, [Operation::Get, Operation::Set, Operation::Delete], true) && $value->name === 'string-20' ? null : 'it is there for one comparison';
    }

    /** Each item carries a hundred tags, none of which was invalidated since. */
    public static function sharedMemoryWithTags(): Subject
    {
        return new Subject(
            name: 'shared-memory-tags',
            title: 'Larder shared memory, 100 tags an item',
            family: Family::Memory,
            open: static fn(Place $place): SharedMemory => self::pool($place, 'zero-copy'),
            read: static fn(): string => '$client->get($key)',
            write: static fn(): string => '$client->set($key, $value, null, \Larder\Bench\Subject\MemorySubjects::tags());',
            close: static function (mixed $client, Place $place): void {
                SharedMemory::remove($place->name);
            },
            missing: static fn(): ?string => Extension::missing('larder', 'it with `make ext`'),
            exempt: static fn(Operation $operation): ?string => match ($operation) {
                Operation::Get => null,
                default => 'it is there for its reads',
            },
            settings: ['larder.zero_copy' => 'on'],
            warm: self::touchPool(...),
        );
    }

    /** @return list<string> */
    public static function tags(): array
    {
        return array_map(static fn(int $number): string => "tag_{$number}", range(1, 100));
    }

    /** @param 'default'|'php'|'igbinary' $serializer APCu's `apc.serializer`; `default` copies arrays without serialising */
    public static function apcu(string $serializer): Subject
    {
        return new Subject(
            name: "apcu-{$serializer}",
            title: match ($serializer) {
                'default' => 'APCu, its own copying',
                'php' => 'APCu, serialize',
                'igbinary' => 'APCu, igbinary',
            },
            family: Family::Memory,
            open: static fn(): null => null,
            read: static fn(): string => 'apcu_fetch($key)',
            write: static fn(): string => 'apcu_store($key, $value);',
            close: static function (): void {
                apcu_clear_cache();
            },
            missing: static fn(): ?string => Extension::missing('apcu', 'php-apcu')
                ?? ($serializer === 'igbinary' ? Extension::missing('igbinary', 'php-igbinary') : null),
            settings: ['apc.serializer' => $serializer],
            warm: self::touchApcu(...),
            staysWarm: true,
        );
    }

    /** Goes once through all segments of the place's pool, and leaves it empty. */
    public static function touchPool(mixed $client, Place $place): void
    {
        $pool = SharedMemory::open($place->name, $place->bytes);
        $block = str_repeat('x', self::TOUCHED);
        for ($i = 0; $i * self::TOUCHED < 1.25 * $place->bytes; $i++) {
            $pool->set("touched {$i}", $block);
        }
        $pool->clear();
    }

    /** Goes once through APCu's memory, as far as it can without filling it, and leaves it empty. */
    public static function touchApcu(mixed $client, Place $place): void
    {
        $block = str_repeat('x', self::TOUCHED);
        for ($i = 0; $i * self::TOUCHED < 0.9 * $place->bytes; $i++) {
            apcu_store("touched {$i}", $block);
        }
        apcu_clear_cache();
    }

    /** A pool in the mode that the subject's name promises. */
    private static function pool(Place $place, string $mode): SharedMemory
    {
        $pool = SharedMemory::open($place->name, $place->bytes);
        $found = $pool->statistics()['mode'];

        return $found === $mode ? $pool : throw new \UnexpectedValueException("The pool works in the mode {$found}, not {$mode}: its address may be taken in this process.");
    }

    private static function handsOutTheSameObject(Operation $operation, Value $value): ?string
    {
        return $operation === Operation::Modify && is_object($value->make(0))
            ? 'an array hands out the very object that it holds, so that changing it changes the item'
            : null;
    }
}
