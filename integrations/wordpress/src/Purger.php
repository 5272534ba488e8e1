<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** A cache between visitors and the site, such as a CDN, that keeps pages and drops those with a tag when it is told to. */
interface Purger
{
    /**
     * @param list<string> $tags as the pages' headers Cache-Tag and Surrogate-Key have them
     *
     * @return ?string why it did not, in a sentence
     */
    public function purge(array $tags): ?string;
}
