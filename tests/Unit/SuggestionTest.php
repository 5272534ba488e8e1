<?php

declare(strict_types=1);

namespace Larder\Tests\Unit;

use Larder\Exception\Suggestion;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversClass(Suggestion::class)]
final class SuggestionTest extends TestCase
{
    /** @return iterable<string, array{string, list<string>, ?string}> a word, those that are known, and which of them is near */
    public static function words(): iterable
    {
        yield 'a letter is missing' => ['flsh', ['get', 'flush', 'flat'], 'flush'];
        yield 'two letters are exchanged' => ['hsop', ['default', 'shop'], 'shop'];
        yield 'two letters of a short word are exchanged' => ['smh', ['default', 'shm'], 'shm'];
        yield 'two letters of two are exchanged' => ['bd', ['db'], 'db'];
        yield 'two letters that are no neighbours are exchanged' => ['mhs', ['shm'], null];
        yield 'another word' => ['nosuch', ['connect', 'gets', 'report'], null];
        yield 'the beginning of a name' => ['def', ['shop', 'default'], 'default'];
        yield 'a name with more behind it' => ['sqlite3', ['shm', 'sqlite'], 'sqlite'];
        yield 'the first word of a name' => ['reds', ['apcu-php', 'redis-unix'], 'redis-unix'];
        yield 'capital letters' => ['shop', ['Default', 'Shop'], 'Shop'];
        yield 'one letter' => ['a', ['b', 'c'], null];
        yield 'no letter' => ['', ['b', 'shop'], null];
        yield 'nothing is known' => ['shop', [], null];
        yield 'a name of digits' => ['2025', ['2024'], '2024'];
        yield 'a very long word' => [str_repeat('x', 100_000), ['shop'], null];
    }

    /** @param list<string> $known */
    #[DataProvider('words')]
    public function testOnlyWhatIsNearIsSuggested(string $word, array $known, ?string $near): void
    {
        self::assertSame($near, Suggestion::near($word, $known));
    }

    public function testTheOthersAreNamedAsWell(): void
    {
        self::assertSame('did you mean "flush"? Known: get, flush', Suggestion::among('flsh', ['get', 'flush']));
        self::assertSame('use one of: get, flush', Suggestion::among('brew', ['get', 'flush']));
        self::assertSame('use one of: get, flush and 2 more', Suggestion::among('brew', ['get', 'flush', 'keys', 'tags'], most: 2));
        self::assertSame('did you mean "tags"? Known: get and 3 more', Suggestion::among('tag', ['get', 'flush', 'keys', 'tags'], most: 1));
    }
}
