<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\Unstorable;

/**
 * Writes a value as serialize() would, and looks at all that it writes. serialize() silently turns a resource into a number. Only
 * serialize() sees what an object's __serialize() returns. To call that before would be to call it twice, and it may have side
 * effects, or answer otherwise. So each object is asked once, in serialize()'s order, and its answer is examined and written in one go.
 *
 * Every value gets a number, in the order of writing. A value that comes again is written as that number. This is "r:n;" for an object,
 * which is a value of its own, and "R:n;" for a reference, which is not. Keys have no numbers.
 */
final class Writer
{
    private string $bytes = '';

    private int $values = 0;

    /** @var array<int, int> the numbers of objects, by their ids */
    private array $objects = [];

    /** @var array<string, int> the numbers of references, by their ids */
    private array $references = [];

    /** @var \ArrayObject<int, mixed> what is known by an id, so that nothing else can come to have it */
    private readonly \ArrayObject $held;

    /** @var array<class-string, Kind> of the classes that were met */
    private array $kinds = [];

    /** @var list<array{?object, bool}> the places that the writer is in: whose parts they are, and whether it told them */
    private array $places = [];

    /** @var array<int, array-key> where in each place */
    private array $keys = [];

    private function __construct(
        private readonly string $key,
    ) {
        $this->held = new \ArrayObject();
    }

    /**
     * @param string $key for messages
     *
     * @return string what unserialize() reads
     *
     * @throws Unstorable
     */
    public static function write(string $key, mixed $value): string
    {
        $writer = new self($key);
        $writer->value($value, null);

        return $writer->bytes;
    }

    private function value(mixed $value, ?string $reference): void
    {
        if (\is_object($value)) {
            $this->objectOrItsNumber($value, $reference !== null);
        } elseif ($reference !== null && isset($this->references[$reference])) {
            $this->bytes .= "R:{$this->references[$reference]};";
        } else {
            $this->values++;
            if ($reference !== null) {
                $this->references[$reference] = $this->values;
            }
            if (\is_array($value)) {
                $this->bytes .= 'a:' . \count($value) . ':{';
                $this->parts($value, null, false);
                $this->bytes .= '}';
            } elseif (Refusal::isDue($value)) {
                throw Refusal::ofPart($this->key, $this->way(), $value);
            } else {
                $this->bytes .= serialize($value);
            }
        }
    }

    private function objectOrItsNumber(object $object, bool $byReference): void
    {
        $number = $this->objects[spl_object_id($object)] ?? null;
        if ($number !== null && $byReference) {
            $this->bytes .= "R:{$number};";

            return;
        }
        $this->values++;
        if ($number !== null) {
            $this->bytes .= "r:{$number};";

            return;
        }
        $this->objects[spl_object_id($object)] = $this->values;
        $this->held->append($object);
        $this->object($object);
    }

    private function object(object $object): void
    {
        $kind = $this->kinds[$object::class] ??= Kind::of($object);
        if ($kind->isRefused) {
            throw Refusal::ofPart($this->key, $this->way(), $object);
        }
        if ($object instanceof \UnitEnum) {
            $this->bytes .= 'E:' . \strlen($name = $object::class . ":{$object->name}") . ":\"{$name}\";";

            return;
        }
        try {
            $told = $kind->form->ask($object);
        } catch (\Throwable $failure) {
            throw Refusal::ofAnswer($this->key, $this->way(), $failure);
        }
        $name = \strlen($object::class) . ':"' . $object::class . '":';
        if (\is_string($told)) {
            $this->bytes .= "C:{$name}" . \strlen($told) . ":{{$told}}";

            return;
        }
        $this->held->append($told);
        $this->bytes .= "O:{$name}" . \count($told) . ':{';
        $this->parts($told, $object, $kind->form === Form::State);
        $this->bytes .= '}';
    }

    /** @param array<mixed> $parts */
    private function parts(array $parts, ?object $object, bool $isTold): void
    {
        $depth = \count($this->places);
        $this->places[] = [$object, $isTold];
        $areProperties = $object !== null && !$isTold;
        foreach ($parts as $key => $part) {
            $this->keys[$depth] = $key;
            $reference = \ReflectionReference::fromArrayElement($parts, $key)?->getId();
            if ($reference !== null && !isset($this->references[$reference])) {
                $this->held->append($parts);
            }
            $this->bytes .= serialize($areProperties ? (string) $key : $key);
            $this->value($part, $reference);
        }
        array_pop($this->places);
    }

    /** @return list<Step> */
    private function way(): array
    {
        $steps = [];
        foreach ($this->places as $depth => [$object, $isTold]) {
            $steps[] = new Step($this->keys[$depth], $object, $isTold);
        }

        return $steps;
    }
}
