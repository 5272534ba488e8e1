<?php

declare(strict_types=1);

namespace Larder\Tools\Tests\Publication;

use Larder\Tools\Publication\Block;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Block::class)]
final class BlockTest extends TestCase
{
    public function testOnlyWhatStandsBetweenTheMarksIsReplaced(): void
    {
        $page = Block::Result->in("before\n<!-- result -->\nold\n<!-- /result -->\nafter\n", "new\n");

        self::assertSame("before\n<!-- result -->\nnew\n<!-- /result -->\nafter\n", $page);
        self::assertSame($page, Block::Result->in($page, "new\n"));
    }

    public function testAPageWithoutTheMarksIsAnErrorThatNamesThem(): void
    {
        $this->expectExceptionMessage('put <!-- agreement --> and <!-- /agreement --> on lines of their own');

        Block::Agreement->in("<!-- agreement -->\n<!-- result -->\n<!-- /result -->\n", 'new');
    }
}
