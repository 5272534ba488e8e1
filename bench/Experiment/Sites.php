<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Raw\RawStores;
use Larder\Bench\Server\RedisFlavour;
use Larder\Bench\Server\Server;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Subject\WorkerFailed;
use Larder\Bench\WordPress\Installation;
use Larder\Bench\WordPress\ObjectCache;
use Larder\Bench\WordPress\Shop;
use Larder\Bench\WordPress\ShopSite;

/** The sites of an experiment on WordPress: which object caches it can have here, and a site with each. */
final class Sites
{
    /** @var array<string, Server> that a site alone uses, by the name of its object cache */
    private array $stores = [];

    /** @var array<string, ShopSite> by the name of the object cache */
    public array $sites = [];

    private int $opened = 0;

    /** @param array<string, ObjectCache> $caches by name */
    private function __construct(private readonly Laboratory $laboratory, private readonly Outcome $outcome, private readonly Shop $shop, private array $caches) {}

    public function __destruct()
    {
        $this->close();
    }

    /**
     * The shop, and what of the object caches can be measured; what cannot is noted in the outcome.
     *
     * @param list<string> $without names of object caches that the experiment has no use for
     *
     * @return self|null null: there is no WordPress here, or none of what it needs; noted for every object cache
     * @throws \RuntimeException when WordPress cannot be installed
     */
    public static function open(Laboratory $laboratory, Outcome $outcome, int $products, array $without = []): ?self
    {
        $flavour = RawStores::flavour();
        $caches = array_diff_key(ObjectCache::all($flavour->value, $flavour->title(), $laboratory->peers), array_flip($without));
        $outcome->titles = array_map(static fn(ObjectCache $cache): string => $cache->title, $caches);
        $wordpress = $laboratory->wordpress ?? Installation::DEFAULT;
        $missing = Installation::missing($wordpress);
        if ($missing !== null) {
            array_map(static fn(string $name) => $outcome->lack($name, $missing), array_keys($caches));

            return null;
        }
        $caches = array_filter($caches, static fn(ObjectCache $cache): bool => $cache->needs === null || $outcome->includes($laboratory, $cache->name, $cache->needs));
        foreach ($caches as $name => $cache) {
            if ($cache->isOnRedis() && $cache->original === null && RedisFlavour::installed() === null) {
                $outcome->lack($name, 'neither Redis nor Valkey is installed: install redis-server or valkey-server.');
                unset($caches[$name]);
            }
        }
        if (array_keys($caches) === [ObjectCache::NONE]) {
            return null;
        }
        try {
            $shop = Shop::open($wordpress, $products, $laboratory->placement->server);
        } catch (ServerFailed $failure) {
            foreach (array_keys($caches) as $name) {
                $outcome->fail($name, $failure);
            }

            return null;
        }
        $laboratory->describe(['MariaDB for WordPress' => $shop->database->description()]);
        $outcome->parameters['WordPress'] = Installation::version($wordpress);

        return new self($laboratory, $outcome, $shop, $caches);
    }

    /** Opens a site with each object cache, each time with fresh processes and an empty store. */
    public function reopen(): void
    {
        $this->close();
        $this->opened++;
        foreach ($this->caches as $name => $cache) {
            $this->laboratory->goOn();
            try {
                if ($cache->isOnRedis() && RedisFlavour::installed() !== null) {
                    $store = RawStores::server(RawStores::flavour()->value, $this->laboratory, Laboratory::MEGABYTES);
                    if ($store !== null) {
                        $this->stores[$name] = $store;
                        $this->laboratory->describe(["{$name} for WordPress" => $store->description()]);
                    }
                }
                $this->sites[$name] = ShopSite::open($this->shop, $cache, $this->stores[$name] ?? null, "{$name}-{$this->opened}", $this->laboratory->placement->server);
                $this->laboratory->describe(['php-fpm for WordPress' => $this->sites[$name]->description()]);
            } catch (WorkerFailed|ServerFailed $failure) {
                $this->drop($name, $failure);
            }
        }
    }

    /** Leaves an object cache out from here on. */
    public function drop(string $name, WorkerFailed|ServerFailed $failure): void
    {
        $this->outcome->fail($name, $failure);
        unset($this->sites[$name], $this->caches[$name]);
    }

    private function close(): void
    {
        $this->sites = [];
        array_map(static fn(Server $store) => $store->stop(), $this->stores);
        $this->stores = [];
    }
}
