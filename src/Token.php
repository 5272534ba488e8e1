<?php

declare(strict_types=1);

namespace Larder;

/**
 * What a miss leaves behind: the version of the store, by which a later fill is judged. Opaque to everyone but the
 * store that gave it.
 *
 * The extension declares the same class when it is loaded. This file is never read then, and the class has nothing that the extension's
 * lacks.
 */
final class Token
{
    /**
     * @param string $epoch   the random name of the store's contents (see the glossary); '' where the store judges nothing
     * @param int    $version the version of the store when the token was taken: a reading of its logical clock
     */
    public function __construct(
        public readonly string $epoch,
        public readonly int $version,
    ) {}
}
