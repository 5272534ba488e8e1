<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Larder\Symfony\LarderAdapter;
use Redis;
use Symfony\Component\Cache\Adapter\ApcuAdapter;
use Symfony\Component\Cache\Adapter\FilesystemTagAwareAdapter;
use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Component\Cache\Adapter\RedisTagAwareAdapter;
use Symfony\Component\Cache\Adapter\TagAwareAdapter;
use Symfony\Component\Cache\Adapter\TagAwareAdapterInterface;
use Symfony\Component\Cache\ResettableInterface;

/**
 * A pool of Symfony with tags, through its interface.
 *
 * A write asks for the item first, as the interface wants it: only a pool makes items.
 */
final readonly class SymfonyTags implements ServesRequests
{
    private function __construct(private TagAwareAdapterInterface $pool) {}

    /** @return string|null what is not here and how to get it, as a sentence */
    public static function lack(): ?string
    {
        return interface_exists(TagAwareAdapterInterface::class) ? null : 'The package symfony/cache is not installed: bring the packages in line with composer.json (make vendor, or composer update).';
    }

    /** @param string $dsn a place of Larder's */
    public static function ours(string $dsn): self
    {
        return new self(new LarderAdapter($dsn));
    }

    public static function overApcu(): self
    {
        return new self(new TagAwareAdapter(new ApcuAdapter()));
    }

    public static function overRedis(string $socket): self
    {
        return new self(new TagAwareAdapter(new RedisAdapter(self::client($socket))));
    }

    public static function inRedis(string $socket): self
    {
        return new self(new RedisTagAwareAdapter(self::client($socket)));
    }

    public static function inFiles(string $directory): self
    {
        return new self(new FilesystemTagAwareAdapter('', 0, $directory));
    }

    public function load(string $id, array $tags = []): ?string
    {
        $item = $this->pool->getItem($id);
        $value = $item->isHit() ? $item->get() : null;

        return is_string($value) ? $value : null;
    }

    public function save(string $id, string $value, array $tags, int $lifetime): void
    {
        $item = $this->pool->getItem($id)->set($value)->expiresAfter($lifetime);
        $item->tag($tags);
        $this->pool->save($item);
    }

    public function clean(array $tags): void
    {
        $this->pool->invalidateTags($tags);
    }

    /** As the kernel resets its services after each request. Symfony's own adapter then forgets the numbers of tags that it has read. */
    public function endRequest(): void
    {
        if ($this->pool instanceof ResettableInterface) {
            $this->pool->reset();
        }
    }

    private static function client(string $socket): Redis
    {
        $client = new Redis();
        $client->connect($socket);

        return $client;
    }
}
