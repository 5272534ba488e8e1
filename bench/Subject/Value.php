<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** A value to be cached, and the PHP code that uses it in each of the ways that are measured. */
final readonly class Value
{
    /**
     * @param bool $isString strings are stored as they are, everything else is serialised where a store needs it
     * @param \Closure(int): mixed $make another value of the same size and shape for each number
     * @param string $lookUp code that reads one element of $value
     * @param string $walk code that visits all of $value
     * @param string $modify code that changes one element of $value
     */
    public function __construct(
        public string $name,
        public string $title,
        public bool $isString,
        private \Closure $make,
        private string $lookUp,
        private string $walk,
        private string $modify,
    ) {}

    public function make(int $number): mixed
    {
        return ($this->make)($number);
    }

    /** Code that runs after each read. */
    public function code(Operation $operation): string
    {
        return match ($operation) {
            Operation::LookUp => $this->lookUp,
            Operation::Walk => $this->walk,
            Operation::Modify => $this->modify,
            Operation::Get, Operation::Set, Operation::Delete, Operation::Connect => '',
        };
    }
}
