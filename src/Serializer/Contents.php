<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\Unstorable;

/** Looks through values for what cannot be stored, and for objects that have to be asked what they are made of. Runs no code of a user's. */
final class Contents
{
    /** Bytes of a string besides its own, of an array besides its elements, and of an element: PHP's own sizes, rounded up. */
    private const STRING = 32;
    private const ARRAY = 56;
    private const ELEMENT = 32;

    /** @var array<array-key, true> objects and references, by their ids */
    private array $seen = [];

    private bool $tells = false;

    private bool $needsClasses = false;

    private bool $wakes = false;

    /** @var array<class-string, Kind> of the classes that were met */
    private array $kinds = [];

    private function __construct() {}

    /**
     * Refuses what is unstorable at first sight, before any value is asked: resources, which a serializer would turn silently into
     * numbers, and objects whose classes say so.
     *
     * @return bool whether objects in it are of classes of a user's that say themselves what they are made of
     *
     * @throws Unstorable naming the path inside the value
     */
    public static function check(string $key, mixed $value): bool
    {
        return self::of($key, $value)->tells;
    }

    /**
     * As check().
     *
     * @return bool whether objects in it are of classes of a user's, which may be gone when it is read
     *
     * @throws Unstorable
     */
    public static function needsClasses(string $key, mixed $value): bool
    {
        return self::of($key, $value)->needsClasses;
    }

    /**
     * As check().
     *
     * @return bool whether storing what was read would run code of a user's again, which has run when it was stored or read first
     *
     * @throws Unstorable
     */
    public static function isMadeByUser(string $key, mixed $value): bool
    {
        $contents = self::of($key, $value);

        return $contents->tells || $contents->wakes;
    }

    /** @throws Unstorable */
    private static function of(string $key, mixed $value): self
    {
        $contents = new self();
        $found = \is_scalar($value) || $value === null ? null : $contents->find($value);
        if ($found !== null) {
            [$steps, $part] = [array_reverse($found[0]), $found[1]];

            throw isset($found[2]) ? Refusal::ofAnswer($key, $steps, $found[2]) : Refusal::ofPart($key, $steps, $part);
        }

        return $contents;
    }

    /**
     * Whether the value has neither objects nor references in it, so that PHP's own copy on write keeps
     * two holders of it apart.
     */
    public static function isPlain(mixed $value): bool
    {
        return self::plainBytes($value) !== null;
    }

    /** About how many bytes of PHP's memory a value takes if it is plain (see isPlain()) and has no other holder; null: it is not. */
    public static function plainBytes(mixed $value): ?int
    {
        if (!\is_array($value)) {
            return match (true) {
                \is_string($value) => self::STRING + \strlen($value),
                \is_scalar($value) || $value === null => 0,
                default => null,
            };
        }
        $bytes = self::ARRAY + self::ELEMENT * \count($value);
        foreach ($value as $key => $part) {
            $inside = \ReflectionReference::fromArrayElement($value, $key) === null ? self::plainBytes($part) : null;
            if ($inside === null) {
                return null;
            }
            $bytes += $inside + (\is_string($key) ? self::STRING + \strlen($key) : 0);
        }

        return $bytes;
    }

    /**
     * @return ?array{0: list<Step>, 1: mixed, 2?: \Throwable} the steps to the first part that cannot be stored, the last one first;
     *                                                         the part; and what it throws when it is asked what it is made of
     */
    private function find(mixed $value): ?array
    {
        if (\is_array($value)) {
            return $this->findAmong($value, null, false);
        }
        if (!\is_object($value)) {
            return Refusal::isDue($value) ? [[], $value] : null;
        }
        if (isset($this->seen[spl_object_id($value)])) {
            return null;
        }
        $this->seen[spl_object_id($value)] = true;
        $kind = $this->kinds[$value::class] ??= Kind::of($value);
        if ($kind->isRefused) {
            return [[], $value];
        }
        $this->needsClasses = $this->needsClasses || $kind->isUsers;
        $this->wakes = $this->wakes || $kind->isWoken;
        if ($kind->form === Form::Enumeration) {
            return null;
        }
        if ($kind->asksUser) {
            $this->tells = true;

            return null;
        }
        try {
            // A class of PHP's own only reads when it is asked, and answers the same to the serializer.
            $parts = $kind->form->ask($value);
        } catch (\Throwable $failure) {
            return [[], $value, $failure];
        }

        return \is_string($parts) ? null : $this->findAmong($parts, $value, $kind->form === Form::State);
    }

    /**
     * @param array<mixed> $parts
     *
     * @return ?array{0: list<Step>, 1: mixed, 2?: \Throwable}
     */
    private function findAmong(array $parts, ?object $object, bool $isTold): ?array
    {
        foreach ($parts as $key => $part) {
            if (\is_scalar($part) || $part === null) {
                continue;
            }
            if (\is_array($part)) {
                $reference = \ReflectionReference::fromArrayElement($parts, $key)?->getId();
                if ($reference !== null) {
                    if (isset($this->seen[$reference])) {
                        continue;
                    }
                    $this->seen[$reference] = true;
                }
            }
            $found = $this->find($part);
            if ($found !== null) {
                $found[0][] = new Step($key, $object, $isTold);

                return $found;
            }
        }

        return null;
    }
}
