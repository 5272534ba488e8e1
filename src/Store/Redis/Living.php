<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/** A connection that knows in which life its server is (see Life). */
interface Living extends Connection
{
    /**
     * The life of the server that has this name, as that one said it last on the connection that is open to it: a second ago at most,
     * or with the last send().
     *
     * @return string '': it was not asked yet
     */
    public function life(string $name): string;

    /** Has each server asked again with the next round trip, however short ago it was asked. */
    public function doubt(): void;

    /** Has the next round trip go over another connection, as another server may have taken the place of this one. */
    public function leave(): void;
}
