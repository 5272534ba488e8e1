<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store\SharedMemory;

use Larder\Store\SharedMemory\PoolFiles;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(PoolFiles::class)]
final class PoolFilesTest extends TestCase
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
        self::assertSame([], (new PoolFiles($scratch->path))->others(), 'They are this user\'s own.');
        $others = new PoolFiles($scratch->path, $uid + 1);
        self::assertSame([$me], array_keys($others->others()));
        self::assertEqualsCanonicalizing(['shop', 'blog', 'old'], $others->others()[$me] ?? []);
        self::assertSame([[$me], [], []], [$others->owners('shop'), $others->owners('shops'), $others->hidden()]);
        self::assertSame([], (new PoolFiles('/no/such/place'))->others());

        touch("{$scratch->path}/larder-{$uid}/blog@9", 1_000);
        touch("{$scratch->path}/larder-{$uid}.abc-12/blog@8", 2_000);
        $own = new PoolFiles($scratch->path);
        $at = "{$scratch->path}/larder-{$uid}.abc-12/blog@8";
        self::assertSame(['path' => $at, 'used' => 2_000], $own->own()['blog'] ?? null);
        self::assertEqualsCanonicalizing(['shop', 'blog', 'old'], array_keys($own->own()));
        self::assertSame([], $others->own());
    }
}
