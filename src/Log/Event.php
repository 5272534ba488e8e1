<?php

declare(strict_types=1);

namespace Larder\Log;

/** What near stores must forget: some keys, the items with some tags, or everything. */
final class Event
{
    /** Bytes that an event has in a log; of one that has more to say, several are made. */
    private const LONGEST = 1 << 13;

    /** What would be more events is written down as everything: to follow it would take longer than to start anew. */
    private const MOST_PARTS = 32;

    /** Bytes that each key and tag takes besides its own. */
    private const OVERHEAD = 24;

    /**
     * @param list<string> $keys
     * @param list<string> $tags
     * @param bool         $isDeletion whether nothing else can be under the keys now
     */
    private function __construct(
        public readonly array $keys = [],
        public readonly array $tags = [],
        public readonly bool $isEverything = false,
        public readonly bool $isDeletion = false,
    ) {}

    /** @param list<string> $keys */
    public static function keys(array $keys): self
    {
        return new self(keys: $keys);
    }

    /** @param list<string> $keys */
    public static function deletion(array $keys): self
    {
        return new self(keys: $keys, isDeletion: true);
    }

    /** @param list<string> $tags */
    public static function tags(array $tags): self
    {
        return new self(tags: $tags);
    }

    /**
     * @param list<string> $keys
     * @param list<string> $tags
     */
    public static function both(array $keys, array $tags): self
    {
        return new self($keys, $tags);
    }

    public static function everything(): self
    {
        return new self(isEverything: true);
    }

    /** @return non-empty-list<self> the same, in events that are not too long for a log */
    public function parts(): array
    {
        $parts = [];
        foreach ([[$this->keys, self::keys(...)], [$this->tags, self::tags(...)]] as [$names, $make]) {
            $part = [];
            $length = 0;
            foreach ($names as $name) {
                $length += \strlen($name) + self::OVERHEAD;
                if ($part !== [] && $length > self::LONGEST - 2 * self::OVERHEAD) {
                    $parts[] = $make($part);
                    $part = [];
                    $length = \strlen($name) + self::OVERHEAD;
                }
                $part[] = $name;
            }
            if ($part !== []) {
                $parts[] = $make($part);
            }
        }

        return $parts === [] || \count($parts) > self::MOST_PARTS ? [$this] : $parts;
    }

    public function packed(): string
    {
        $packed = serialize([$this->keys, $this->tags, $this->isEverything]);

        return \strlen($packed) > self::LONGEST ? self::everything()->packed() : $packed;
    }

    /** A damaged event stands for everything. */
    public static function unpacked(string $packed): self
    {
        $parts = @unserialize($packed, ['allowed_classes' => false]);
        if (!\is_array($parts) || array_keys($parts) !== [0, 1, 2] || !\is_array($parts[0]) || !\is_array($parts[1]) || $parts[2] !== false) {
            return self::everything();
        }
        $keys = array_values(array_filter($parts[0], is_string(...)));
        $tags = array_values(array_filter($parts[1], is_string(...)));

        return \count($keys) === \count($parts[0]) && \count($tags) === \count($parts[1]) ? new self($keys, $tags) : self::everything();
    }
}
