<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;

/**
 * A store that returns values without an Item around each. A read of 40 ns cannot carry one, and the Items of a batch of small values take
 * more time than all else. A store without this interface is read by Store::fetch().
 */
interface Reads
{
    /** The first element of an array that a cache has sealed: such a value means nothing without its Item. */
    public const SEAL = "\0larder: remembered";

    /**
     * The live value of $key, or $default.
     *
     * @param ?Fetched $fetched is set if the store has fetched more in order to answer, such as the token of a missing key or the Item
     *                          of a sealed value: then the caller need not fetch the key again
     *
     * @throws StoreUnavailable
     */
    public function read(string $key, mixed $default = null, ?Fetched &$fetched = null): mixed;

    /**
     * The same as Store::fetch(), but live values may come as Fetched::$values. Those with the seal come with their Items.
     *
     * @param list<string> $keys
     *
     * @throws StoreUnavailable
     */
    public function readMany(array $keys): Fetched;
}
