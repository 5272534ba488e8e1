<?php

declare(strict_types=1);

namespace Larder\Bench;

/** A decoded JSON object, whose fields are read by name and type. An error names the field that is missing or of another type. */
final readonly class Fields
{
    /**
     * @param array<mixed> $fields
     * @param string $path where the object lies in its document, for messages
     */
    public function __construct(private array $fields, private string $path) {}

    public static function ofJson(string $json, string $path): self
    {
        try {
            $fields = json_decode($json, true, 512, JSON_THROW_ON_ERROR);
        } catch (\JsonException $problem) {
            throw new \UnexpectedValueException("The {$path} is not JSON ({$problem->getMessage()}): give a file that `larder bench --json` wrote.");
        }

        return is_array($fields) ? new self($fields, $path) : throw self::unexpected($path, 'object', $fields);
    }

    public function has(string $name): bool
    {
        return isset($this->fields[$name]);
    }

    public function string(string $name): string
    {
        $field = $this->field($name);

        return is_string($field) ? $field : throw self::unexpected("{$this->path}.{$name}", 'string', $field);
    }

    public function int(string $name): int
    {
        $field = $this->field($name);

        return is_int($field) ? $field : throw self::unexpected("{$this->path}.{$name}", 'int', $field);
    }

    public function float(string $name): float
    {
        $field = $this->field($name);

        return is_float($field) || is_int($field) ? (float) $field : throw self::unexpected("{$this->path}.{$name}", 'number', $field);
    }

    public function bool(string $name): bool
    {
        $field = $this->field($name);

        return is_bool($field) ? $field : throw self::unexpected("{$this->path}.{$name}", 'bool', $field);
    }

    public function object(string $name): self
    {
        return new self($this->array($name), "{$this->path}.{$name}");
    }

    /** @return list<self> */
    public function objects(string $name): array
    {
        $objects = [];
        foreach ($this->array($name) as $index => $object) {
            $objects[] = is_array($object)
                ? new self($object, "{$this->path}.{$name}.{$index}")
                : throw self::unexpected("{$this->path}.{$name}.{$index}", 'object', $object);
        }

        return $objects;
    }

    /** @return array<string, self> the objects in it by name */
    public function entries(string $name): array
    {
        $entries = [];
        foreach ($this->array($name) as $key => $object) {
            $entries[(string) $key] = is_array($object)
                ? new self($object, "{$this->path}.{$name}.{$key}")
                : throw self::unexpected("{$this->path}.{$name}.{$key}", 'object', $object);
        }

        return $entries;
    }

    /** @return array<string, string> all fields, which must be strings or numbers */
    public function all(): array
    {
        $all = [];
        foreach ($this->fields as $name => $field) {
            $all[(string) $name] = is_string($field) || is_int($field) || is_float($field)
                ? (string) $field
                : throw self::unexpected("{$this->path}.{$name}", 'string or number', $field);
        }

        return $all;
    }

    /** @return list<list<int|float>> rows of numbers */
    public function rows(string $name): array
    {
        $rows = [];
        foreach ($this->array($name) as $index => $row) {
            $numbers = [];
            foreach (is_array($row) ? $row : throw self::unexpected("{$this->path}.{$name}.{$index}", 'list', $row) as $number) {
                $numbers[] = is_int($number) || is_float($number)
                    ? $number
                    : throw self::unexpected("{$this->path}.{$name}.{$index}", 'list of numbers', $number);
            }
            $rows[] = $numbers;
        }

        return $rows;
    }

    /** @return list<float> */
    public function numbers(string $name): array
    {
        $numbers = [];
        foreach ($this->array($name) as $index => $number) {
            $numbers[] = is_int($number) || is_float($number) ? (float) $number : throw self::unexpected("{$this->path}.{$name}.{$index}", 'number', $number);
        }

        return $numbers;
    }

    /** @return list<string> */
    public function strings(string $name): array
    {
        $strings = [];
        foreach ($this->array($name) as $index => $string) {
            $strings[] = is_string($string) ? $string : throw self::unexpected("{$this->path}.{$name}.{$index}", 'string', $string);
        }

        return $strings;
    }

    /** @return array<string, string|int> */
    public function scalars(string $name): array
    {
        $scalars = [];
        foreach ($this->array($name) as $key => $scalar) {
            $scalars[(string) $key] = is_string($scalar) || is_int($scalar)
                ? $scalar
                : throw self::unexpected("{$this->path}.{$name}.{$key}", 'string or int', $scalar);
        }

        return $scalars;
    }

    /** @return array<string, string> */
    public function texts(string $name): array
    {
        return array_map(strval(...), $this->scalars($name));
    }

    /** @return array<mixed> */
    private function array(string $name): array
    {
        $field = $this->field($name);

        return is_array($field) ? $field : throw self::unexpected("{$this->path}.{$name}", 'object or list', $field);
    }

    private function field(string $name): mixed
    {
        return $this->fields[$name]
            ?? throw new \UnexpectedValueException("The field {$this->path}.{$name} is missing: the file was written by another version; make it anew.");
    }

    private static function unexpected(string $path, string $type, mixed $found): \UnexpectedValueException
    {
        return new \UnexpectedValueException(sprintf('The field %s is %s where %s was expected: the file was written by another version; make it anew.', $path, get_debug_type($found), $type));
    }
}
