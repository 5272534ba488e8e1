<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Exception\InvalidOption;
use Larder\Key;

/**
 * Where a namespace lies: its name behind those of the namespaces that it is in. It has nothing to do with its namesakes elsewhere.
 */
final class NamespacePath
{
    /** Bytes of a path beyond which its hash is in the tag. */
    private const LONGEST = 200;

    /** What its keys begin with in the store, or the namespace, that it lies directly in. */
    public readonly string $prefix;

    /** Which its items carry. */
    public readonly string $tag;

    /** With slashes in between, which no name has in it. */
    private readonly string $path;

    private readonly ?self $within;

    /** @throws InvalidOption the name is none */
    public function __construct(string $name, ?self $within = null)
    {
        if (preg_match('/^[A-Za-z0-9._-]{1,64}$/D', $name) !== 1) {
            throw InvalidOption::namespace($name);
        }
        $this->within = $within;
        $this->path = $within === null ? $name : "{$within->path}/{$name}";
        $this->prefix = Key::internal('in', "{$name}:");
        $this->tag = Key::internal('in', \strlen($this->path) > self::LONGEST ? '#' . hash('sha256', $this->path) : $this->path);
    }

    /** By which its keys are longer in the store than in it. */
    public function bytes(): int
    {
        return \strlen($this->prefix) + ($this->within?->bytes() ?? 0);
    }
}
