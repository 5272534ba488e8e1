<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Exception;
use Larder\Store;
use Larder\Stores;
use Larder\Tier\TieredStore;

/** What the memory of this host knows of a tier whose far store does not answer. */
final class NearDetails
{
    private function __construct() {}

    /** @return array<string, mixed> the details of the near store; none: the DSN names no near store, or that does not answer either */
    public static function of(string $dsn, ?Store $store = null): array
    {
        if (!StoreName::isOfTier($dsn)) {
            return [];
        }
        try {
            // A namespace does not tell what it is a part of.
            $tier = $store instanceof TieredStore ? $store : Stores::open($dsn);

            return $tier instanceof TieredStore ? $tier->nearDetails() : [];
        } catch (Exception) {
            return [];
        }
    }
}
