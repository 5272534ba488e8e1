<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Where pages lie, for what stores and invalidates them. PageHit reads them itself. */
interface PageStore
{
    /**
     * Stores a page, unless something that it shows has changed since its token.
     *
     * @param array<string, mixed> $page    as PageRequest says
     * @param list<string>         $tags    of all that it shows
     * @param int                  $seconds that it may be kept
     *
     * @return bool whether it is stored
     */
    public function fill(PageRequest $request, array $page, array $tags, int $seconds): bool;

    /**
     * Kills the pages that carry one of these tags.
     *
     * @param list<string> $tags
     * @param int          $stale seconds for which a pool may serve such a page while another is made in its place; other stores never do
     *
     * @return bool whether the store knows, or hears of it before it gives anything out
     */
    public function invalidate(array $tags, int $stale = 0): bool;

    /**
     * Notes that pages may carry a tag from now on: one of those whose changes mostly concern no page.
     *
     * @return bool whether it is noted
     */
    public function watch(string $tag): bool;

    /** @return ?bool whether pages may carry such a tag; null: the store may have forgotten */
    public function isWatched(string $tag): ?bool;

    /**
     * The stored page of a name, for administration.
     *
     * @return array<array-key, mixed>|null null: there is none that may be served
     */
    public function find(string $key): ?array;

    /**
     * What was kept under a name, beside the pages.
     *
     * @return array<array-key, mixed> empty: nothing
     */
    public function kept(string $name): array;

    /**
     * Keeps something of the plugin's own, as long as the store does. Of two processes one wins.
     *
     * @param string                  $name letters, digits and dashes
     * @param array<array-key, mixed> $what
     */
    public function keep(string $name, array $what): void;

    /** What failed in this request, in a sentence; null: nothing. */
    public function trouble(): ?string;
}
