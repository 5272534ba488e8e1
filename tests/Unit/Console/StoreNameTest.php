<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Console;

use Larder\Console\StoreName;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

#[CoversClass(StoreName::class)]
final class StoreNameTest extends TestCase
{
    #[TestWith(['redis://user:hunter2@host:6379/0?timeout=2', 'redis://host:6379/0'])]
    #[TestWith(['apcu:?secret=hunter2hunter2hunter2 > sqlite:/var/x.db?secret=hunter2hunter2hunter2', 'apcu: > sqlite:/var/x.db'])]
    #[TestWith(['redis://user:p@hunter2@host', 'redis://host'])]
    #[TestWith(['redis://user:p/hunter2@host', 'redis://host'])]
    #[TestWith(['redis://user:p?hunter2@host', 'redis://host'])]
    #[TestWith(['redis://user:p hunter2@host', 'redis://host'])]
    #[TestWith(['redis://us/er:hunter2@host', 'redis://host'])]
    #[TestWith(['redis://user:hunter2', 'redis://user'])]
    #[TestWith(['valkey://user:hunter2@host', 'valkey://host'])]
    #[TestWith(['redis+unix://user:p/@hunter2@/run/redis.sock?database=2', 'redis+unix:///run/redis.sock'])]
    #[TestWith(['redis+cluster://[::1]:7000,n2:7001', 'redis+cluster://[::1]:7000,n2:7001'])]
    #[TestWith(['sqlite:///home/me@site/a:b.db?size=1G', 'sqlite:///home/me@site/a:b.db'])]
    #[TestWith(['memcached+unix:/run/a@b.sock,/run/b.sock', 'memcached+unix:/run/a@b.sock,/run/b.sock'])]
    public function testNothingSecretIsInTheNameOfAStore(string $dsn, string $name): void
    {
        self::assertSame($name, StoreName::of($dsn));
        self::assertStringNotContainsString('hunter2', $name);
    }

    /**
     * @param list<string> $dsns
     * @param list<string> $labels
     */
    #[TestWith([['redis://h?prefix=a&timeout=2', 'redis://h?prefix=b', 'redis://h'], ['redis://h?prefix=a', 'redis://h?prefix=b', 'redis://h']])]
    #[TestWith([['redis+unix:/r?database=1', 'redis+unix:/r?database=2'], ['redis+unix:/r?database=1', 'redis+unix:/r?database=2']])]
    #[TestWith([['redis+sentinel://s?service=a&password=hunter2', 'redis+sentinel://s?service=b'], ['redis+sentinel://s?service=a', 'redis+sentinel://s?service=b']])]
    #[TestWith([['redis://a:hunter2@h', 'redis://b:hunter2@h', 'redis://a:hunter2@i'], ['redis://h?user=a', 'redis://h?user=b', 'redis://i']])]
    #[TestWith([['redis://:hunter2@h', 'redis://h?timeout=1'], ['redis://h (1)', 'redis://h (2)']])]
    #[TestWith([['array: > redis://h?prefix=a', 'array: > redis://h?prefix=b&secret=hunter2'], ['array: > redis://h?prefix=a', 'array: > redis://h?prefix=b']])]
    #[TestWith([['redis://h?prefix=a', 'redis://h?prefix=a'], ['redis://h?prefix=a']])]
    #[TestWith([['redis://h?prefix=%22%0A'], ['redis://h?prefix=%22%0A']])]
    public function testEachStoreHasALabelOfItsOwn(array $dsns, array $labels): void
    {
        self::assertSame($labels, array_keys(StoreName::labels($dsns)));
        self::assertSame(array_values(array_unique($dsns)), array_values(StoreName::labels($dsns)));
    }
}
