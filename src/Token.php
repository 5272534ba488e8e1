<?php

declare(strict_types=1);

namespace Larder;

/**
 * What a miss leaves behind: the logical time that a later fill is judged by. Opaque to everyone but the
 * store that gave it.
 *
 * The extension declares the same class when it is loaded. This file is never read then, and the class has nothing that the extension's
 * lacks.
 */
final class Token
{
    /**
     * @param string $epoch the random name of the store's contents (see the glossary); '' where the store judges nothing
     * @param int    $clock the store's logical time when the token was taken
     */
    public function __construct(
        public readonly string $epoch,
        public readonly int $clock,
    ) {}
}
