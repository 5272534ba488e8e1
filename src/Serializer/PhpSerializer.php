<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Serializer;

/** PHP's own serialize(), which is always there, and can be told which classes it may make. */
final class PhpSerializer implements Serializer
{
    /** @var ?array<string, true> in lower case */
    private readonly ?array $allowed;

    /** @param ?list<string> $classes those of which objects (and cases of enums) may be stored and made again; null: all */
    public function __construct(?array $classes = null)
    {
        $this->allowed = $classes === null ? null : array_fill_keys(array_map(
            static fn(string $class): string => strtolower(ltrim($class, '\\')),
            $classes,
        ), true);
    }

    public function mark(): string
    {
        return 'P';
    }

    public function serialize(mixed $value): string
    {
        return $this->allowed(serialize($value));
    }

    public function unserialize(string $bytes): mixed
    {
        $value = @unserialize($this->allowed($bytes), ['allowed_classes' => $this->allowed === null ? true : array_map(strval(...), array_keys($this->allowed))]);
        if ($value === false && $bytes !== 'b:0;') {
            throw new \UnexpectedValueException('The bytes are not a serialised value.');
        }

        return $value;
    }

    /**
     * The bytes themselves. This is asked before anything is made: what unserialize() itself leaves of a class that is not allowed is an object that is
     * of no use to anyone.
     *
     * @throws \UnexpectedValueException if they name a class that is not allowed
     */
    public function allowed(string $bytes): string
    {
        foreach ($this->allowed === null ? [] : ClassNames::in($bytes) as $class) {
            if (!isset($this->allowed[strtolower($class)])) {
                throw new \UnexpectedValueException("the class {$class} is not among the allowed ones");
            }
        }
        foreach ($this->allowed === null ? [] : ClassNames::withOwnForm($bytes) as $class) {
            // PHP's own classes read objects in theirs, and have not written them since PHP 7.4.
            if (!method_exists($class, 'unserialize') || !(new \ReflectionMethod($class, 'unserialize'))->isUserDefined()) {
                throw new \UnexpectedValueException("the class {$class} has no form of its own that could be judged");
            }
        }

        return $bytes;
    }
}
