<?php

declare(strict_types=1);

namespace Larder;

/** A store whose items are in part nearer than the store itself, at times. */
interface ReadsNear
{
    /** @return Near always the same, kept up to date by the store */
    public function near(): Near;

    /**
     * Values that can all be had without an Item of any, and without the far store. To check the keys of a batch first would take as long as
     * to read it from shared memory.
     *
     * @param array<mixed> $keys as a caller gave them
     *
     * @return ?array<array-key, mixed> null: one of them is elsewhere, or sealed (see Reads)
     *
     * @throws \ValueError|\TypeError if one of them is no key
     */
    public function allNear(array $keys): ?array;
}
