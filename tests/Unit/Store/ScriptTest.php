<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Store\Redis\Script;
use Larder\Store\Redis\ScriptText;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class ScriptTest extends TestCase
{
    #[DataProvider('scripts')]
    public function testAServerKnowsAScriptByTheHashThatStandsInItsPlace(Script $script): void
    {
        self::assertSame(sha1(ScriptText::of($script)), $script->value, "The text of {$script->name} has changed: write its new hash into Script.");
    }

    /** @return iterable<string, array{Script}> */
    public static function scripts(): iterable
    {
        foreach (Script::cases() as $script) {
            yield $script->name => [$script];
        }
    }
}
