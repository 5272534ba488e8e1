<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\InvalidOption;

/** A store that has parts of its own making. Of any other that keeps tags, NamespacedStore makes parts. */
interface Namespaces
{
    /**
     * The part that has this name: its keys meet no others, and its clear() kills what is in it and nothing else.
     *
     * @param string $name 1 to 64 letters, digits, dots, dashes and underscores
     *
     * @throws InvalidOption the name is none
     */
    public function namespace(string $name): Store;
}
