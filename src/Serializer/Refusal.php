<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\Unstorable;
use Larder\Key;

/** Says of a value why it is not stored, in the words that the extension has for it. */
final class Refusal
{
    private function __construct() {}

    /** Whether it is a resource. Which objects cannot be stored, whatever is in them, a Kind says. */
    public static function isDue(mixed $value): bool
    {
        return \is_resource($value) || \gettype($value) === 'resource (closed)';
    }

    /**
     * @param list<Step> $steps to the part, the first one first
     * @param mixed      $part  that cannot be stored
     */
    public static function ofPart(string $key, array $steps, mixed $part): Unstorable
    {
        [$name, $advice] = match (true) {
            !\is_object($part) => ['a resource', 'store what was read from it'],
            $part instanceof \Closure => ['a Closure', 'store what it returns, or the name of a function'],
            $part instanceof \__PHP_Incomplete_Class => [self::incomplete($part), 'load the class before the object is unserialised'],
            (new \ReflectionClass($part))->isAnonymous() => ['an object of an anonymous class', 'store plain data taken from it'],
            Kind::isUpToUser($part) => ['a ' . $part::class, 'give it a __serialize() and an __unserialize(), or store plain data taken from it'],
            default => ['a ' . $part::class, 'store plain data taken from it'],
        };

        return self::because($key, \sprintf('$value%s is %s, which cannot be stored; %s.', Path::of($steps), $name, $advice));
    }

    /** @param list<Step> $steps to the object that could not say what it is made of, the first one first */
    public static function ofAnswer(string $key, array $steps, \Throwable $failure): Unstorable
    {
        return self::because($key, \sprintf('$value%s could not be serialised: %s', Path::of($steps), $failure->getMessage()), $failure);
    }

    private static function incomplete(\__PHP_Incomplete_Class $object): string
    {
        $name = ((array) $object)['__PHP_Incomplete_Class_Name'] ?? null;

        return 'a ' . (\is_string($name) ? $name : 'something') . ' without its class';
    }

    private static function because(string $key, string $why, ?\Throwable $previous = null): Unstorable
    {
        return new Unstorable(\sprintf(
            'The value of the key "%s" was not stored: %s',
            addcslashes(substr(Key::withoutNamespaces($key), 0, 64), "\0..\37\"\\\177..\377"),
            $why,
        ), 0, $previous);
    }
}
