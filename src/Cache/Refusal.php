<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Capability;
use Larder\Exception;
use Larder\Item;
use Larder\Key;
use Larder\Store;

/**
 * The reason why a store did not take a value. Stores only say that they did not. So the reason is found by trying, once, where the
 * refusal is logged: a byte under another key, and then the value itself.
 */
enum Refusal: string
{
    case Full = 'it is full, see its size and whether it evicts';
    case TooLarge = 'the value is too large for it';
    case Unknown = 'it does not say why';
    case Outdated = 'the value is outdated, as its key was deleted, overwritten or invalidated since its computation began';

    public static function of(Store $store, mixed $value): self
    {
        $key = Key::internal('refused', bin2hex(random_bytes(8)));
        try {
            return match (true) {
                $store->save([new Item($key, 'x', 1)]) !== [] => self::Full,
                $store->save([new Item($key, $value, 1)]) !== [] => self::isFilled($store) ? self::Full : self::TooLarge,
                default => self::Outdated,
            };
        } catch (Exception) {
            return self::Unknown;
        } finally {
            try {
                $store->delete([$key]);
            } catch (Exception) {
                // It ends by itself within a second.
            }
        }
    }

    /** A store that evicts makes room for what fits it at all; any other has room for less than it once had. */
    private static function isFilled(Store $store): bool
    {
        $known = $store->statistics();

        return \in_array(Capability::Retention, $store->capabilities(), true) && $known->bytes !== null && $known->bytes > ($known->capacity ?? \PHP_INT_MAX) / 2;
    }
}
