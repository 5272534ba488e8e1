<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/**
 * An iterator that passes on what methods it is asked for to the one inside, and yet speaks for itself.
 *
 * @extends \LimitIterator<int, int, \ArrayIterator<int, int>>
 */
final class Window extends \LimitIterator
{
    /** @param list<int> $numbers */
    public function __construct(private array $numbers, private int $from, private int $count)
    {
        parent::__construct(new \ArrayIterator($numbers), $from, $count);
    }

    public function __wakeup(): void
    {
        $this->__construct($this->numbers, $this->from, $this->count);
    }
}
