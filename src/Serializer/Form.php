<?php

declare(strict_types=1);

namespace Larder\Serializer;

/** How an object says what it is to be made of again, in PHP's own order of precedence. */
enum Form
{
    /** It is a case of an enum, and says nothing. */
    case Enumeration;

    /** By __serialize(). */
    case State;

    /** By the serialize() of the interface Serializable. */
    case Text;

    /** By __sleep(), which names properties. */
    case Named;

    /** By its properties. */
    case Properties;

    public static function of(object $object): self
    {
        return match (true) {
            $object instanceof \UnitEnum => self::Enumeration,
            // Of the class, as an object of PHP's own may pass on to another which methods it has.
            method_exists($object::class, '__serialize') => self::State,
            $object instanceof \Serializable => self::Text,
            method_exists($object::class, '__sleep') => self::Named,
            default => self::Properties,
        };
    }

    /**
     * Whether code of a user's decides it, which may answer otherwise the next time.
     *
     * @param \ReflectionClass<object> $class
     */
    public function asksUser(\ReflectionClass $class): bool
    {
        $method = match ($this) {
            self::Enumeration, self::Properties => null,
            self::State => '__serialize',
            self::Text => 'serialize',
            self::Named => '__sleep',
        };

        return $method !== null && $class->getMethod($method)->isUserDefined();
    }

    /**
     * @return string|array<array-key, mixed> a text of its own, or the parts that it is made of: what __serialize() returned,
     *                                        or properties by their names as in an array that an object was cast to
     *
     * @throws \Throwable what the object throws, or if its answer is of the wrong type
     */
    public function ask(object $object): string|array
    {
        if ($this === self::State && method_exists($object, '__serialize')) {
            return $object instanceof \Random\Randomizer
                // It tells the table of its properties as PHP has it inside, of which PHP code cannot make sense.
                ? [['engine' => $object->engine]]
                : self::arrayFrom('__serialize', $object->__serialize());
        }
        if ($this === self::Named && method_exists($object, '__sleep')) {
            return self::named($object, self::arrayFrom('__sleep', $object->__sleep()));
        }
        if ($this === self::Text && $object instanceof \Serializable) {
            return self::textFrom($object->serialize());
        }

        return (array) $object;
    }

    private static function textFrom(mixed $answer): string
    {
        return \is_string($answer) ? $answer : throw new \UnexpectedValueException('its serialize() returned no string');
    }

    /** @return array<array-key, mixed> */
    private static function arrayFrom(string $method, mixed $answer): array
    {
        return \is_array($answer) ? $answer : throw new \UnexpectedValueException("its {$method}() returned no array");
    }

    /**
     * __sleep() gives bare names: of a public property, of a private one of the very class, or of a protected one.
     *
     * @param array<mixed> $names
     *
     * @return array<array-key, mixed>
     */
    private static function named(object $object, array $names): array
    {
        $properties = (array) $object;
        $named = [];
        foreach ($names as $name) {
            $name = \is_scalar($name) || $name instanceof \Stringable ? (string) $name : '';
            $there = array_intersect_key($properties, [$name => true])
                ?: array_intersect_key($properties, ["\0" . $object::class . "\0{$name}" => true])
                ?: array_intersect_key($properties, ["\0*\0{$name}" => true]);
            // Neither assigned nor spread, so that what is a reference stays one.
            $named += $there;
            if ($there === [] && !self::isTyped($object, $name)) {
                trigger_error("\"{$name}\" returned as member variable from __sleep() but does not exist", \E_USER_WARNING);
            }
        }

        return $named;
    }

    /** One that is typed and was never set is passed over without a word, as PHP does. */
    private static function isTyped(object $object, string $name): bool
    {
        $class = new \ReflectionObject($object);

        return $class->hasProperty($name) && $class->getProperty($name)->hasType();
    }
}
