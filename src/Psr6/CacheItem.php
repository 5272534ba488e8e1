<?php

declare(strict_types=1);

namespace Larder\Psr6;

use Larder\Exception\InvalidTag;
use Larder\Tag;
use Larder\Token;
use Psr\Cache\CacheItemInterface;

/** An item of a CachePool. One to which a value was set counts as a hit, so that get() always gives what it holds. */
final class CacheItem implements CacheItemInterface
{
    /** Null: as the pool's cache says. */
    private int|\DateInterval|\DateTimeImmutable|null $expiration = null;

    /** When $expiration was said, if it is a period; hrtime in ns. */
    private int $said = 0;

    /** @var list<string> */
    private array $tags = [];

    /**
     * @internal items come from a CachePool
     *
     * @param ?Token $token of the moment at which the key was missed, by which what is saved is judged; null: it was found, and what
     *                      is saved is new truth
     */
    public function __construct(
        private readonly string $key,
        private mixed $value,
        private bool $isHit,
        private ?Token $token = null,
    ) {}

    public function getKey(): string
    {
        return $this->key;
    }

    public function get(): mixed
    {
        return $this->isHit ? $this->value : null;
    }

    public function isHit(): bool
    {
        return $this->isHit;
    }

    public function set(mixed $value): static
    {
        $this->value = $value;
        $this->isHit = true;

        return $this;
    }

    public function expiresAt(?\DateTimeInterface $expiration): static
    {
        $this->expiration = $expiration === null ? null : \DateTimeImmutable::createFromInterface($expiration);

        return $this;
    }

    public function expiresAfter(int|\DateInterval|null $time): static
    {
        $this->expiration = $time;
        $this->said = (int) hrtime(true);

        return $this;
    }

    /**
     * Shall carry these tags when it is saved, besides those it was given before.
     *
     * @throws InvalidArgument
     */
    public function tag(string ...$tags): static
    {
        foreach ($tags as $tag) {
            try {
                Tag::check($tag);
            } catch (InvalidTag $mistake) {
                throw InvalidArgument::because($mistake);
            }
            $this->tags[] = $tag;
        }

        return $this;
    }

    /** @return list<string> */
    public function tags(): array
    {
        return $this->tags;
    }

    /** @internal as of the constructor */
    public function token(): ?Token
    {
        return $this->token;
    }

    /** @internal the store holds it: a value that is saved from now on is new truth */
    public function isStored(): void
    {
        $this->token = null;
    }

    /**
     * Seconds left until it expires; null: as the pool's cache says.
     *
     * @internal
     */
    public function ttl(): ?int
    {
        if ($this->expiration === null) {
            return null;
        }
        if ($this->expiration instanceof \DateTimeImmutable) {
            // A time long ago is past all the same; from the least int nothing can be taken.
            return max($this->expiration->getTimestamp(), 0) - time();
        }
        $ttl = \is_int($this->expiration) ? $this->expiration : \Larder\Ttl::seconds($this->expiration) ?? 0;

        // From an int that is as small as can be nothing can be taken.
        return $ttl <= 0 ? 0 : $ttl - intdiv((int) hrtime(true) - $this->said, 1_000_000_000);
    }
}
