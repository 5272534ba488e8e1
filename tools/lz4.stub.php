<?php

declare(strict_types=1);

/*
 * For static analysis alone, which does not know the extension lz4: the functions of it that are called.
 */

function lz4_compress(string $data, int $level = 0, ?string $extra = null): string|false
{
    return $data === '' ? false : $data;
}

function lz4_uncompress(string $data, int $maxsize = -1, int $offset = -1): string|false
{
    return $data === '' ? false : $data;
}
