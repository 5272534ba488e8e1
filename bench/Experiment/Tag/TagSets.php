<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Redis;

/**
 * The design of the usual Redis back end of Magento 1, re-created plainly.
 *
 * An item is a hash with its value and its tags. Each tag is a set of the ids of its items, and one more set has all tags.
 * Cleaning by tag fetches the union of the sets and deletes item by item, in pieces. As in the back end, writes go out as one
 * pipeline around one transaction. So a save, a clean or a removal takes two round trips.
 */
final readonly class TagSets implements Indexed
{
    private const PIECE = 400;

    private Redis $client;

    public function __construct(string $socket)
    {
        $this->client = new Redis();
        $this->client->connect($socket);
    }

    public function load(string $id, array $tags = []): ?string
    {
        $value = $this->client->hGet("item:{$id}", 'value');

        return is_string($value) ? $value : null;
    }

    public function save(string $id, string $value, array $tags, int $lifetime): void
    {
        $former = $this->client->hGet("item:{$id}", 'tags');
        $gone = array_diff(is_string($former) && $former !== '' ? explode(',', $former) : [], $tags);
        $pipeline = $this->begin();
        $pipeline->hMSet("item:{$id}", ['value' => $value, 'tags' => implode(',', $tags), 'modified' => (string) time()]);
        $pipeline->expire("item:{$id}", $lifetime);
        if ($tags !== []) {
            $pipeline->sAdd('tags', ...$tags);
        }
        foreach ($tags as $tag) {
            $pipeline->sAdd("tag:{$tag}", $id);
        }
        foreach ($gone as $tag) {
            $pipeline->sRem("tag:{$tag}", $id);
        }
        $this->commit();
    }

    public function clean(array $tags): void
    {
        $sets = array_map(static fn(string $tag): string => "tag:{$tag}", $tags);
        $pieces = array_chunk($this->withAny($tags), self::PIECE);
        $pipeline = $this->begin();
        foreach ($pieces as $ids) {
            $pipeline->del(array_map(static fn(string $id): string => "item:{$id}", $ids));
        }
        $pipeline->del($sets);
        $pipeline->sRem('tags', ...$tags);
        $this->commit();
    }

    public function withAny(array $tags): array
    {
        $ids = $this->client->sUnion(...array_map(static fn(string $tag): string => "tag:{$tag}", $tags));

        return is_array($ids) ? array_values(array_filter($ids, is_string(...))) : [];
    }

    public function remove(string $id): void
    {
        $tags = $this->client->hGet("item:{$id}", 'tags');
        $pipeline = $this->begin();
        $pipeline->del("item:{$id}");
        foreach (is_string($tags) && $tags !== '' ? explode(',', $tags) : [] as $tag) {
            $pipeline->sRem("tag:{$tag}", $id);
        }
        $this->commit();
    }

    /** A transaction that is sent as one; without the pipeline phpredis waits for an answer to each command in it. */
    private function begin(): Redis
    {
        $this->client->pipeline();
        $this->client->multi();

        return $this->client;
    }

    /** The first ends the transaction; the second sends everything and reads the answers. */
    private function commit(): void
    {
        $this->client->exec();
        $this->client->exec();
    }
}
