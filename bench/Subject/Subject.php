<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/**
 * Something that is measured.
 *
 * The hot loop is PHP code that is put together from the pieces a subject gives, and compiled once. So no call of the
 * benchmark's own stands between the loop and the measured code. The pieces see these variables:
 *
 * - `$client`: what `open` returned;
 * - `$key`: a string;
 * - `$value`: where a read leaves what it found, and a write finds what to store;
 * - `$place`: a Place, with the server's address in it.
 *
 * A subject of your own is a file that returns an object of this class, given as `--subject-php=FILE`. The file is
 * read in the benchmark and again in each worker process, so it must not open anything before `open` is called.
 */
final readonly class Subject
{
    /**
     * @param string $name lower-case letters, digits and hyphens; unique
     * @param string $title what the report calls it
     * @param \Closure(Place, Value): mixed $open called in the worker before each value that is measured; makes `$client`
     * @param \Closure(Value): string $read an expression that yields the item of `$key`; where `batch` is more than 1
     *                                      it finds a list `$keys` and yields a list of values in that order
     * @param \Closure(Value): string $write a statement that stores `$value` under `$key`
     * @param \Closure(mixed, Place): void $close undoes `open`, what was stored included
     * @param (\Closure(Value): string)|null $connect statements that connect, read `$key` into `$value` and disconnect;
     *                                                null where there is nothing to connect to
     * @param (\Closure(): ?string)|null $missing why it cannot be measured here, as a sentence that says what to do;
     *                                            null, or yielding null, when it can
     * @param (\Closure(Operation, Value): ?string)|null $exempt why an operation on a value would mean nothing here
     * @param array<string, string> $settings settings of php.ini that its worker starts with
     * @param ServerKind|null $server the server it talks to; the benchmark starts it and reads its processor time
     * @param int $batch how many keys a read takes at once
     * @param (\Closure(mixed, Place): void)|null $warm called after `open`: writes to all memory that the subject may use,
     *                                                 so that no block pays for a page that its process meets for the first time
     * @param bool $staysWarm whether that memory is the process's for good: then it is written to once, and not for each value
     * @param (\Closure(Value): string)|null $delete a statement that deletes `$key`; null where deletes are not measured
     */
    public function __construct(
        public string $name,
        public string $title,
        public Family $family,
        private \Closure $open,
        private \Closure $read,
        private \Closure $write,
        private \Closure $close,
        private ?\Closure $connect = null,
        private ?\Closure $missing = null,
        private ?\Closure $exempt = null,
        public array $settings = [],
        public ?ServerKind $server = null,
        public int $batch = 1,
        private ?\Closure $warm = null,
        public bool $staysWarm = false,
        private ?\Closure $delete = null,
    ) {}

    /** The same subject where it cannot be measured, for a reason of the circumstances. */
    public function leftOut(string $why): self
    {
        return new self(
            $this->name,
            $this->title,
            $this->family,
            $this->open,
            $this->read,
            $this->write,
            $this->close,
            $this->connect,
            static fn(): string => $why,
            $this->exempt,
            $this->settings,
            $this->server,
            $this->batch,
            $this->warm,
            $this->staysWarm,
            $this->delete,
        );
    }

    /** Whether its items lie in /dev/shm: those of pools and of tmpfs do, those of APCu do not. */
    public function needsSharedMemory(): bool
    {
        return str_contains($this->name, 'shared-memory') || $this->name === 'file-tmpfs';
    }

    public function missing(): ?string
    {
        return $this->missing === null ? null : ($this->missing)();
    }

    public function open(Place $place, Value $value): mixed
    {
        return ($this->open)($place, $value);
    }

    public function warm(mixed $client, Place $place): void
    {
        if ($this->warm !== null) {
            ($this->warm)($client, $place);
        }
    }

    public function close(mixed $client, Place $place): void
    {
        ($this->close)($client, $place);
    }

    public function read(Value $value): string
    {
        return ($this->read)($value);
    }

    public function write(Value $value): string
    {
        return ($this->write)($value);
    }

    public function connect(Value $value): string
    {
        return $this->connect === null
            ? throw new \LogicException("{$this->title} has nothing to connect to.")
            : ($this->connect)($value);
    }

    public function delete(Value $value): string
    {
        return $this->delete === null
            ? throw new \LogicException("{$this->title} is not measured by its deletes.")
            : ($this->delete)($value);
    }

    public function exempt(Operation $operation, Value $value): ?string
    {
        if ($operation === Operation::Connect && $this->connect === null) {
            return 'there is nothing to connect to';
        }
        if ($operation === Operation::Delete && $this->delete === null) {
            return 'its deletes are not measured';
        }
        if ($this->batch > 1 && $value->name === Values::LARGEST) {
            return "{$this->batch} values of 1 MiB at once are more than a request asks for";
        }

        return $this->exempt === null ? null : ($this->exempt)($operation, $value);
    }
}
