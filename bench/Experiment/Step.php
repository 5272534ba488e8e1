<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Subject\Operation;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\Value;

/** A value, how many keys hold one, and the operations on them. */
final readonly class Step
{
    /**
     * @param non-empty-list<Operation> $operations
     * @param list<string> $without patterns of the names of subjects that do not take part
     */
    public function __construct(public Value $value, public array $operations, public int $keys = 1, private array $without = []) {}

    public function concerns(Subject $subject): bool
    {
        foreach ($this->without as $pattern) {
            if (fnmatch($pattern, $subject->name)) {
                return false;
            }
        }

        return true;
    }

    /** @return array<string, string> */
    public function case(Operation $operation): array
    {
        return [
            'value' => $this->value->name,
            'operation' => $operation->value,
            'keys' => $this->keys === 1 ? 'one hot key' : 'many keys in random order',
        ];
    }
}
