<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\InvalidOption;
use Larder\Exception\Unstorable;
use Larder\Serializer;

/**
 * How a value lies in a store that keeps bytes:
 *
 *     int       its decimal digits, so that a server can count with it; never unserialised
 *     string    "S" and the string
 *     the rest  the serializer's mark and what it wrote
 *
 * Anything else was written by somebody else, or with another setting, and is a miss.
 */
final class Payload
{
    private const STRING = 'S';

    private readonly string $mark;

    public function __construct(
        private readonly Serializer $serializer,
    ) {
        $this->mark = $serializer->mark();
    }

    /**
     * @param string $name "php", "igbinary", or "auto" for igbinary where it is loaded
     *
     * @throws \Larder\Exception
     */
    public static function named(string $name): self
    {
        return new self(match ($name) {
            'auto' => \function_exists('igbinary_serialize') ? new IgbinarySerializer() : new PhpSerializer(),
            'igbinary' => new IgbinarySerializer(),
            'php' => new PhpSerializer(),
            default => throw InvalidOption::choice('serializer', $name, 'auto', 'igbinary', 'php'),
        });
    }

    /**
     * @param string $key for the message only
     *
     * @throws Unstorable
     */
    public function encode(string $key, mixed $value): string
    {
        if (\is_string($value)) {
            return self::STRING . $value;
        }
        if (\is_int($value)) {
            return (string) $value;
        }
        Contents::refuse($key, $value);
        try {
            return $this->mark . $this->serializer->serialize($value);
        } catch (\Throwable $failure) {
            throw Contents::unstorable($key, $value, $failure);
        }
    }

    /**
     * The value, or $foreign if the payload is not one of this setting's.
     */
    public function decode(string $payload, mixed $foreign): mixed
    {
        $mark = $payload[0] ?? '';
        if ($mark === self::STRING) {
            return substr($payload, 1);
        }
        if ($mark === $this->mark) {
            $callback = ini_set('unserialize_callback_func', self::class . '::refuseClass');
            try {
                return $this->serializer->unserialize(substr($payload, 1));
            } catch (\Throwable) {
                // A class that changed or is gone, or damage: computing the value again repairs it.
                return $foreign;
            } finally {
                ini_set('unserialize_callback_func', (string) $callback);
            }
        }

        return self::isCounter($payload) ? (int) $payload : $foreign;
    }

    /**
     * What PHP calls for a class that is not there; an object without its class is of no use to anyone.
     *
     * @throws \UnexpectedValueException
     */
    public static function refuseClass(string $class): never
    {
        throw new \UnexpectedValueException("The class {$class} is not there.");
    }

    /** Whether decode() will run the serializer on it. */
    public function isSerialized(string $payload): bool
    {
        return ($payload[0] ?? '') === $this->mark;
    }

    public static function isCounter(string $payload): bool
    {
        return (string) (int) $payload === $payload;
    }
}
