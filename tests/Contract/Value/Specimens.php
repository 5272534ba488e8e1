<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

use Larder\Exception\Unstorable;

/**
 * Objects of all classes that this PHP has, and what every store promises of them: it gives an object back as it was, or refuses it
 * with the path to it, and every store does the same.
 *
 * @phpstan-type Specimen array{\Closure(): mixed, ?\Closure(mixed): string}
 */
final class Specimens
{
    /** Classes of which no object can be made here: for want of a server or a device, or as what PHP makes for itself. */
    private const UNMADE = '/^(
        Dba\\\\.* | FTP\\\\Connection | EnchantDictionary | GdFont | Gearman.* | http\\\\QueryString | IMAP\\\\Connection | LDAP\\\\.* | Memcache.* | mysqli_.* |
        MongoDB\\\\(BSON\\\\(DBPointer|Symbol|Undefined) | Driver\\\\.*) | Odbc\\\\.* | PgSql\\\\.* | PSpell\\\\Dictionary | Shmop | Soap\\\\.* | SolrExtractRequest | StreamBucket |
        Sysv.* | Yac
    )$/x';

    private function __construct() {}

    /** @return iterable<string, Specimen> by a name that begins with the class */
    public static function all(): iterable
    {
        $named = [];
        /** @var \Closure(): iterable<string, array{0: \Closure(): mixed, 1?: \Closure(mixed): string}> $specimens */
        $specimens = require __DIR__ . '/specimens.inc';
        foreach ($specimens() as $name => $specimen) {
            $class = explode(',', $name)[0];
            $named[$class] = true;
            if (preg_match('/ /', $class) === 1 || class_exists($class)) {
                yield $name => [$specimen[0], $specimen[1] ?? null];
            }
        }
        foreach (get_declared_classes() as $class) {
            $reflection = new \ReflectionClass($class);
            $isOurs = $reflection->isInternal() && !$reflection->isAbstract() && !isset($named[$reflection->name]);
            $made = $isOurs ? self::of($reflection) : null;
            if ($made !== null) {
                yield $reflection->name => $made;
            }
        }
    }

    /** @return list<string> the classes of which there is none and should be one */
    public static function missing(): array
    {
        $missing = [];
        $there = array_flip(array_map(static fn(string $name): string => explode(',', $name)[0], array_keys(iterator_to_array(self::all()))));
        foreach (get_declared_classes() as $class) {
            $reflection = new \ReflectionClass($class);
            if ($reflection->isInternal() && !$reflection->isAbstract() && !isset($there[$reflection->name]) && preg_match(self::UNMADE, $reflection->name) !== 1) {
                $missing[] = $reflection->name;
            }
        }

        return $missing;
    }

    /**
     * What is not named is refused, but for exceptions and enums.
     *
     * @param \ReflectionClass<object> $class
     *
     * @return ?Specimen
     */
    private static function of(\ReflectionClass $class): ?array
    {
        if (preg_match(self::UNMADE, $class->name) === 1 && !$class->implementsInterface(\Throwable::class)) {
            return null;
        }
        if ($class->isEnum()) {
            return [static fn(): mixed => \constant($class->name . '::' . array_key_first($class->getConstants())), static fn(mixed $case): string => var_export($case, true)];
        }
        if ($class->implementsInterface(\Throwable::class)) {
            return [static function () use ($class): object {
                // Some may only be made by PHP itself.
                $error = unserialize(\sprintf('O:%d:"%s":0:{}', \strlen($class->name), $class->name));
                \assert($error instanceof \Throwable);
                $base = $error instanceof \Exception ? \Exception::class : \Error::class;
                foreach (['message' => 'a message', 'trace' => [['function' => 'work', 'args' => [1]]]] as $property => $value) {
                    (new \ReflectionProperty($base, $property))->setValue($error, $value);
                }

                return $error;
            }, static fn(mixed $error): string => $error instanceof \Throwable ? $error::class . $error->getMessage() . $error->getTraceAsString() . $error->getLine() : ''];
        }
        foreach ([$class->newInstance(...), $class->newInstanceWithoutConstructor(...)] as $make) {
            try {
                @$make();

                return [static fn(): object => @$make(), null];
            } catch (\Throwable) {
                continue;
            }
        }

        return null;
    }

    /**
     * @return array<string, array{\Closure(object): mixed, \Closure(mixed): mixed, string}> ways to have an object in a value: how to put
     *                                                                                      it there, how to get it, and the path to it
     */
    public static function nestings(): array
    {
        $in = static fn(\Closure $get): \Closure => static function (mixed $value) use ($get): mixed {
            try {
                return $get($value);
            } catch (\Error) {
                return null;
            }
        };

        return [
            'alone' => [static fn(object $object): mixed => $object, static fn(mixed $value): mixed => $value, ''],
            'in arrays' => [static fn(object $object): mixed => ['a' => 1, 'b' => [2, $object]], $in(static fn(array $value): mixed => \is_array($value['b']) ? $value['b'][1] : null), "['b'][1]"],
            'in an object' => [static function (object $object): mixed {
                $product = new Product('holder');
                $product->note = ['in' => $object];

                return $product;
            }, $in(static fn(Product $value): mixed => \is_array($value->note) ? $value->note['in'] : null), "->note['in']"],
            'in a property that no class has' => [static fn(object $object): mixed => (object) ['a' => $object], $in(static fn(\stdClass $value): mixed => $value->a), '->a'],
            'as a key of an SplObjectStorage' => [static function (object $object): mixed {
                $storage = new \SplObjectStorage();
                $storage[$object] = 'what goes with it';

                return $storage;
            }, $in(static function (\SplObjectStorage $value): mixed {
                $value->rewind();

                return $value->getInfo() === 'what goes with it' ? $value->current() : null;
            }), "->storage[0]['obj']"],
            'in an ArrayObject' => [static fn(object $object): mixed => new \ArrayObject(['x' => $object]), $in(static fn(\ArrayObject $value): mixed => $value['x']), "->storage['x']"],
            'twice, by reference' => [static fn(object $object): mixed => [&$object, &$object], $in(static fn(array $value): mixed => $value[0] === $value[1] ? $value[0] : null), '[0]'],
        ];
    }

    /**
     * @param Specimen                 $specimen
     * @param \Closure(mixed): mixed $store    stores a value and gives back what is read then, or throws Unstorable
     *
     * @return list<string> what is wrong
     */
    public static function judge(string $name, array $specimen, \Closure $store): array
    {
        [$make, $see] = $specimen;
        $wrong = [];
        foreach (self::nestings() as $where => [$put, $get, $path]) {
            [$object, $twin] = [$make(), $make()];
            if (!\is_object($object)) {
                return ["{$name} cannot be made"];
            }
            try {
                $back = $get($store($put($object)));
                $seen = \is_object($back) && $see !== null ? $see($back) : '';
                $should = $see === null ? 'be refused' : $see($twin);
                if ($see === null || $seen !== $should) {
                    $wrong[] = "{$name} {$where} came back as " . ($seen === '' ? get_debug_type($back) : $seen) . ", and should " . ($see === null ? $should : "be {$should}");
                }
            } catch (Unstorable $refusal) {
                $is = '$value' . $path;
                $begin = "The value of the key \"key\" was not stored: {$is}";
                if ($see !== null || !str_starts_with($refusal->getMessage(), $begin) || str_starts_with($refusal->getMessage(), $begin . ', ')) {
                    $wrong[] = "{$name} {$where} was refused: {$refusal->getMessage()}";
                }
            }
        }

        return $wrong;
    }
}
