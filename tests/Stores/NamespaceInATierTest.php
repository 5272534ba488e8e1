<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Cache;
use Larder\Key;
use Larder\Store\ChaosStore;
use Larder\Store\NamespacedStore;
use Larder\Tests\Contract\RequestEachTime;
use PHPUnit\Framework\Attributes\CoversClass;

/** A namespace in a tier promises what the tier does. */
#[CoversClass(NamespacedStore::class)]
final class NamespaceInATierTest extends PoolInFrontOfSqliteCase
{
    protected function named(string $name): ChaosStore
    {
        $part = (new Cache($this->tier($name)))->namespace('part')->store;
        self::assertInstanceOf(NamespacedStore::class, $part);

        return RequestEachTime::of($part);
    }

    public function longestKey(): int
    {
        return Key::LONGEST - \strlen($this->outer(''));
    }

    public function forge(string $key, \Closure $forge): bool
    {
        return parent::forge($this->outer($key), $forge);
    }

    private function outer(string $key): string
    {
        return Key::internal('in', "part:{$key}");
    }
}
