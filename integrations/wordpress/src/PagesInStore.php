<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Pages beside the items of the object cache: in its pool, or on its server. */
final class PagesInStore implements PageStore
{
    /** @param array<array-key, mixed> $installed what advanced-cache.php was written with */
    public function __construct(
        private readonly Backend $backend,
        private readonly Settings $settings,
        private readonly array $installed,
    ) {}

    public function fill(PageRequest $request, array $page, array $tags, int $seconds): bool
    {
        $token = $request->token;
        if (!$token instanceof \Larder\Token) {
            return false;
        }
        $names = $this->names($tags);
        if ($this->settings->everything() !== null) {
            // A flush of the object cache flushes the pages.
            $names[] = $this->settings->everything();
        }

        return ($request->backend ?? $this->backend)->fill([new Fill($request->name(), $page, $seconds, $names, $token)]);
    }

    public function invalidate(array $tags, int $stale = 0): bool
    {
        return $this->backend->invalidate($this->names($tags), $stale);
    }

    public function watch(string $tag): bool
    {
        $this->keep(self::watched($tag), [true]);

        // A change of what is forgotten is told to the store all the same.
        return true;
    }

    public function isWatched(string $tag): ?bool
    {
        return $this->kept(self::watched($tag)) === [] ? null : true;
    }

    public function find(string $key): ?array
    {
        $page = $this->backend->get(PageHit::name($this->installed, $key), null);

        return \is_array($page) && \is_int($page['until'] ?? null) && $page['until'] > time() ? $page : null;
    }

    public function kept(string $name): array
    {
        $kept = $this->backend->get($this->settings->prefix() . ":pages:{$name}", null);

        return \is_array($kept) ? $kept : [];
    }

    public function keep(string $name, array $what): void
    {
        $this->backend->set($this->settings->prefix() . ":pages:{$name}", $what, null, []);
    }

    public function trouble(): ?string
    {
        return $this->backend->trouble();
    }

    private static function watched(string $tag): string
    {
        return 'watched-' . hash('xxh128', $tag);
    }

    /**
     * @param list<string> $tags
     *
     * @return list<string>
     */
    private function names(array $tags): array
    {
        $prefix = $this->settings->prefix();

        return array_map(static fn(string $tag): string => "{$prefix}page:" . (\strlen($tag) > 200 ? hash('sha256', $tag) : $tag), $tags);
    }
}
