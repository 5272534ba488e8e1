<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Larder\Cache;
use Larder\Store\Redis\Layout;
use Larder\Store\Redis\Script;
use Larder\Store\Redis\ScriptText;
use Redis;

/** What RedisStore does to read an item with tags, written down by hand. */
final class RedisScript
{
    /** Of its own, as the other subjects read without a script as long as no tag was invalidated. */
    private const PREFIX = 'script';
    /** Bytes of an item before its tags, and of the mark before what was serialised. */
    private const HEAD = 24;
    private const MARK = 1;

    private readonly Redis $redis;
    private readonly Cache $cache;
    private readonly Layout $layout;
    private readonly string $hash;
    /** @var list<string> of the store's own keys, which come before the item's */
    private readonly array $names;
    private readonly bool $hasIgbinary;

    public function __construct(string $socket)
    {
        $this->redis = new Redis();
        $this->redis->connect($socket);
        $this->cache = Cache::open("redis+unix:{$socket}?prefix=" . self::PREFIX, strict: true);
        $this->layout = new Layout(self::PREFIX . ':');
        $hash = $this->redis->script('load', ScriptText::of(Script::Fetch));
        $this->hash = is_string($hash) ? $hash : throw new \RuntimeException('Redis did not take the script.');
        $this->names = $this->layout->names(0);
        $this->hasIgbinary = Extension::hasIgbinary();
    }

    public function set(string $key, mixed $value): void
    {
        $this->cache->set($key, $value, tags: ['red', 'green', 'blue']);
        $this->cache->invalidateTags(['grey']);
    }

    public function get(string $key): mixed
    {
        $reply = $this->redis->evalSha($this->hash, [...$this->names, $this->layout->item($key), 'an epoch', '0', '1'], count($this->names) + 1);
        $item = is_array($reply) ? $reply[5] ?? null : null;
        if (!is_string($item)) {
            return null;
        }
        $length = unpack('N', "\0" . substr($item, self::HEAD - 3, 3))[1] ?? 0;
        $at = self::HEAD + (is_int($length) ? $length : 0);
        $bytes = substr($item, $at + self::MARK);
        if ($item[$at] === 'S') {
            return $bytes;
        }

        return $this->hasIgbinary ? igbinary_unserialize($bytes) : unserialize($bytes);
    }

    public function close(): void
    {
        $this->cache->clear();
        $this->redis->close();
    }
}
