<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store\SharedMemory;

use Larder\Store\SharedMemory\OthersPools;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(OthersPools::class)]
final class OthersPoolsTest extends TestCase
{
    public function testTheOthersAreThoseWhoseDirectoriesAreNotThisUsers(): void
    {
        $scratch = new Scratch();
        $uid = posix_geteuid();
        $me = 'user ' . (posix_getpwuid($uid)['name'] ?? $uid);
        foreach (["larder-{$uid}" => ['shop@9', 'blog@9', '.making-1'], "larder-{$uid}.abc-12" => ['old@8'], 'larder-tests' => ['x@9'], 'other' => ['shop@9']] as $directory => $files) {
            mkdir("{$scratch->path}/{$directory}");
            foreach ($files as $file) {
                touch("{$scratch->path}/{$directory}/{$file}");
            }
        }
        file_put_contents("{$scratch->path}/larder-1", 'no directory');
        self::assertSame([], (new OthersPools($scratch->path))->all(), 'They are this user\'s own.');
        $others = new OthersPools($scratch->path, $uid + 1);
        self::assertSame([$me], array_keys($others->all()));
        self::assertEqualsCanonicalizing(['shop', 'blog', 'old'], $others->all()[$me] ?? []);
        self::assertSame([[$me], [], []], [$others->owners('shop'), $others->owners('shops'), $others->hidden()]);
        self::assertSame([], (new OthersPools('/no/such/place'))->all());
    }
}
