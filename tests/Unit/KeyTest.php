<?php

declare(strict_types=1);

namespace Larder\Tests\Unit;

use Larder\Exception\InvalidKey;
use Larder\Key;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Key::class)]
#[CoversClass(InvalidKey::class)]
final class KeyTest extends TestCase
{
    public function testAnyBytesFromOneToTheLongestAreAKey(): void
    {
        $this->expectNotToPerformAssertions();
        foreach (['0', ' ', "\0", "\xff", str_repeat("\xf0", Key::LONGEST)] as $key) {
            Key::check($key);
        }
    }

    public function testANameThatIsTooLongIsKnownByItsHash(): void
    {
        $longest = str_repeat('k', Key::LONGEST);
        self::assertSame(['', 'k', $longest], [Key::fitting('', 'long:'), Key::fitting('k', 'long:'), Key::fitting($longest, 'long:')]);
        self::assertSame('long:' . hash('sha256', "{$longest}k"), Key::fitting("{$longest}k", 'long:'));
    }

    public function testTheMessageShowsTheBeginningOfALongKeyWithoutItsBytes(): void
    {
        $this->expectException(InvalidKey::class);
        $this->expectExceptionMessageMatches('/^The key that begins with "\\\\000x{31}" has 65536 bytes; a key has at most 65535, so shorten or hash it\.$/');
        Key::check("\0" . str_repeat('x', 65_535));
    }
}
