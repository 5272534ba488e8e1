<?php

declare(strict_types=1);

namespace Larder\Symfony;

use Symfony\Component\Cache\CacheItem;

/**
 * Makes items of Symfony and reads their metadata, as Symfony's own adapters do it. It works in the scope of the item's class, as the
 * interface does not give access to them.
 */
final class Items
{
    /** @var \Closure(string, mixed, bool, mixed): CacheItem */
    public readonly \Closure $make;

    /** @var \Closure(string, mixed): CacheItem the item of what lies in the cache; in one call, as most reads are hits */
    public readonly \Closure $found;

    /** @var \Closure(CacheItem): array{float|int|null, array<string, mixed>} */
    private readonly \Closure $said;

    /** @var \Closure(CacheItem): void */
    private readonly \Closure $settle;

    /** @var \Closure(CacheItem, float): void */
    private readonly \Closure $time;

    public function __construct()
    {
        $this->found = \Closure::bind(static function (string $key, mixed $kept): CacheItem {
            $item = new CacheItem();
            $item->key = $key;
            $item->isHit = true;
            $item->isTaggable = true;
            if (\is_array($kept) && isset($kept[0]) && $kept[0] === Kept::MARK) {
                $item->value = $kept[1] ?? null;
                if (isset($kept[2]) && \is_array($kept[2])) {
                    $item->metadata = $kept[2];
                }
            } else {
                $item->value = $kept;
            }

            return $item;
        }, null, CacheItem::class);
        $this->make = \Closure::bind(static function (string $key, mixed $value, bool $isHit, mixed $metadata): CacheItem {
            $item = new CacheItem();
            $item->key = $key;
            $item->value = $value;
            $item->isHit = $isHit;
            $item->metadata = \is_array($metadata) ? $metadata : [];
            $item->isTaggable = true;

            return $item;
        }, null, CacheItem::class);
        $this->said = \Closure::bind(static function (CacheItem $item): array {
            /** @var array<string, mixed> $metadata */
            $metadata = $item->newMetadata;

            // By it, a ChainAdapter ends its own copy of an item with tags in time.
            return [$item->expiry, $metadata !== [] && ($item->expiry ?? 0) > 0 ? $metadata + [CacheItem::METADATA_EXPIRY => $item->expiry] : $metadata];
        }, null, CacheItem::class);
        $this->settle = \Closure::bind(static function (CacheItem $item): void {
            $item->metadata = $item->newMetadata;
        }, null, CacheItem::class);
        $this->time = \Closure::bind(static function (CacheItem $item, float $began): void {
            $now = microtime(true);
            if ($item->expiry !== null && $item->expiry > $now) {
                $item->newMetadata[CacheItem::METADATA_EXPIRY] = $item->expiry;
                $item->newMetadata[CacheItem::METADATA_CTIME] = (int) ceil(1_000 * ($now - $began));
            }
        }, null, CacheItem::class);
    }

    /** @return array{float|int|null, array<string, mixed>} when it ends, in Unix seconds, and what is to be kept with the value */
    public function said(CacheItem $item): array
    {
        return ($this->said)($item);
    }

    /** It was stored as it is now. */
    public function settle(CacheItem $item): void
    {
        ($this->settle)($item);
    }

    /** Notes how long the value took to compute, which only matters for one that ends. */
    public function time(CacheItem $item, float $began): void
    {
        ($this->time)($item, $began);
    }
}
