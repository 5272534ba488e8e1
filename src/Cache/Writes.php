<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Event\Written;
use Larder\Store;
use Larder\System\ErrorLog;
use Larder\System\SiteLog;
use Psr\EventDispatcher\EventDispatcherInterface;
use Psr\Log\LoggerInterface;
use Psr\Log\LogLevel;

/** Stores the values of a cache, and tells loggers and listeners about it. */
final class Writes
{
    private int $refusals = 0;

    /** @var array<string, true> the reasons that were told */
    private array $told = [];

    /** @param bool $seals whether values are sealed with what remember() needs to know of them; a pool knows it itself */
    public function __construct(
        private readonly bool $seals,
        private ?LoggerInterface $logger,
        private readonly ?EventDispatcherInterface $events,
    ) {}

    public function storable(mixed $value): mixed
    {
        return $this->seals ? Envelope::plain($value) : $value;
    }

    /**
     * Tells of a set.
     *
     * @param list<string>             $keys
     * @param ?list<string>            $unsaved null: the store was unavailable
     * @param array<array-key, mixed>  $values  by key, so that it can be found out why one was refused
     *
     * @return bool whether all were stored
     */
    public function noteSet(Store $store, array $keys, ?array $unsaved, array $values = []): bool
    {
        if ($unsaved === null) {
            return false;
        }
        $this->events?->dispatch(new Written(array_values(array_diff($keys, $unsaved))));
        if ($unsaved !== [] && $this->isLookedInto()) {
            $refusal = Refusal::of($store, $values[$unsaved[0]] ?? null);
            if (!isset($this->told[$refusal->name])) {
                $this->told[$refusal->name] = true;
                // Of what is outdated a site refuses some every day, as it should.
                $this->logger ??= new ErrorLog();
                $says = "The cache's store refuses to save: {$refusal->value}.";
                $context = ['store' => $store::class, 'keys' => $unsaved, 'refusal' => $refusal->name];
                if (SiteLog::takes($this->logger, $says, $context)) {
                    $this->logger->log($refusal === Refusal::Outdated ? LogLevel::NOTICE : LogLevel::WARNING, $says, $context);
                }
            }
        }

        return $unsaved === [];
    }

    /** To find the reason takes several calls of the store, so ever fewer are looked into: the first, the second, the fourth, the eighth. */
    private function isLookedInto(): bool
    {
        $this->refusals++;

        return ($this->refusals & ($this->refusals - 1)) === 0;
    }

    /**
     * Tells of a batch of items that each have terms of their own.
     *
     * @param list<string>  $keys
     * @param ?list<string> $unsaved null: the store was unavailable
     *
     * @return list<string> the keys that were not saved
     */
    public function noteBatch(array $keys, ?array $unsaved): array
    {
        $keys = array_values(array_unique($keys, \SORT_STRING));
        $saved = $unsaved === null ? [] : array_values(array_diff($keys, $unsaved));
        if ($saved !== []) {
            $this->events?->dispatch(new Written($saved));
        }

        return $unsaved ?? $keys;
    }

    /**
     * Tells of an add or a replace, which may be refused because of what is there or is not.
     *
     * @param ?list<string> $unsaved null: the store was unavailable
     *
     * @return bool whether it was stored
     */
    public function noteAdded(string $key, ?array $unsaved): bool
    {
        if ($unsaved === []) {
            $this->events?->dispatch(new Written([$key]));
        }

        return $unsaved === [];
    }
}
