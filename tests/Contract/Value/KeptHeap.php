<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/**
 * What PHP's own heap does not do: it says what is in it, and takes that again.
 *
 * @extends \SplMinHeap<int>
 */
final class KeptHeap extends \SplMinHeap
{
    /** @return array<int, int> */
    public function __serialize(): array
    {
        return iterator_to_array(clone $this, false);
    }

    /** @param array<int, int> $numbers */
    public function __unserialize(array $numbers): void
    {
        foreach ($numbers as $number) {
            $this->insert($number);
        }
    }
}
