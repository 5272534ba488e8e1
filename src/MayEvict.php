<?php

declare(strict_types=1);

namespace Larder;

/**
 * A store that says of itself that it keeps things (Capability::Retention), but whose place may be configured otherwise.
 * Sessions and locks ask before they trust it.
 */
interface MayEvict
{
    /** @return ?string how its place is told to evict, in that one's own words; null: it does not, or cannot be asked now */
    public function evicts(): ?string;
}
