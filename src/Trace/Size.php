<?php

declare(strict_types=1);

namespace Larder\Trace;

/**
 * How large a value is: about what PHP's serializer would write. Asks no object what it is made of, as that is code of the
 * application's, which a store has asked already.
 */
final class Size
{
    /** What stands around a string, or in place of what was written before. */
    private const FRAME = 6;

    /** @var array<array-key, true> objects and references, by their ids */
    private array $seen = [];

    private function __construct() {}

    /** @return int bytes */
    public static function of(mixed $value): int
    {
        return \is_string($value) ? \strlen($value) : (new self())->bytes($value);
    }

    private function bytes(mixed $value): int
    {
        return match (true) {
            \is_array($value) => $this->ofParts($value),
            $value instanceof \UnitEnum => self::FRAME + \strlen($value::class) + \strlen($value->name),
            \is_object($value) => $this->isNew(spl_object_id($value)) ? \strlen($value::class) + $this->ofParts((array) $value) : self::FRAME,
            \is_string($value) => self::FRAME + \strlen($value) + \strlen((string) \strlen($value)),
            \is_scalar($value) || $value === null => \strlen(serialize($value)),
            default => 0,
        };
    }

    /** @param array<array-key, mixed> $parts */
    private function ofParts(array $parts): int
    {
        $bytes = self::FRAME - 1 + \strlen((string) \count($parts));
        foreach ($parts as $key => $part) {
            $reference = \ReflectionReference::fromArrayElement($parts, $key);
            $bytes += \strlen(serialize($key));
            $bytes += $reference === null || $this->isNew($reference->getId()) ? $this->bytes($part) : self::FRAME;
        }

        return $bytes;
    }

    private function isNew(int|string $id): bool
    {
        if (isset($this->seen[$id])) {
            return false;
        }

        return $this->seen[$id] = true;
    }
}
