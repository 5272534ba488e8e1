<?php

declare(strict_types=1);

namespace Larder\Tests\Unit;

use Larder\Exception\InvalidTag;
use Larder\Tag;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Tag::class)]
#[CoversClass(InvalidTag::class)]
final class TagTest extends TestCase
{
    public function testATagIsOneTo255BytesOfAnyKind(): void
    {
        foreach (['a', "\0", "\xff", ' ', 'user:7{}()/\@', str_repeat('t', 255)] as $tag) {
            Tag::check($tag);
        }
        foreach (['' => 'is empty', str_repeat("\xff", 256) => 'has 256 bytes'] as $tag => $why) {
            try {
                Tag::check($tag);
                self::fail('An illegal tag was taken.');
            } catch (InvalidTag $mistake) {
                self::assertMatchesRegularExpression("/^The tag .*{$why}; .+\\.$/", $mistake->getMessage());
                self::assertTrue(mb_check_encoding($mistake->getMessage(), 'UTF-8'));
            }
        }
    }
}
