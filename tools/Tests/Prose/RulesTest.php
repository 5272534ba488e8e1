<?php

declare(strict_types=1);

namespace Larder\Tools\Tests\Prose;

use Larder\Tools\Prose\Markdown;
use Larder\Tools\Prose\Passage;
use Larder\Tools\Prose\Rules;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

#[CoversClass(Markdown::class)]
#[CoversClass(Passage::class)]
#[CoversClass(Rules::class)]
final class RulesTest extends TestCase
{
    /** @return iterable<string, array{string, non-empty-string}> a sentence, and the beginning of the complaint */
    public static function broken(): iterable
    {
        yield 'a long sentence' => [trim(str_repeat('word ', 26)) . '.', '26 words'];
        yield 'the second is long' => ['Short. ' . ucfirst(trim(str_repeat('word ', 26))) . '.', '26 words'];
        yield 'over several lines' => [str_repeat("word\n", 26), '26 words'];
        yield 'code counts as one word' => [str_repeat('word ', 25) . '`a b c`.', '26 words'];
        yield 'an item of a list' => ["- short\n- " . trim(str_repeat('word ', 26)), '26 words'];
        yield 'who' => ['Who writes must wait.', '"Who"'];
        yield 'who, after a semicolon' => ['It waits; who writes must wait.', '"who"'];
        yield 'who, without a noun' => ['It is a miss to who asked.', '"to who"'];
        yield 'whoever' => ['The lock is for whoever comes first.', '"whoever"'];
        yield 'nobody' => ['Of a killed process nobody takes notice.', '"nobody"'];
        yield 'somebody' => ['It waits for somebody.', '"somebody"'];
        yield 'no one' => ['It waits for no one.', '"no one"'];
        yield 'whom' => ['It is told: whom it concerns.', '"whom"'];
        yield 'what is' => ['What is dead can wait.', '"What is"'];
        yield 'what was, in the middle' => ['It is refused, and what was stored stays.', '"and what was"'];
        yield 'he' => ['A process that died keeps what he had.', '"he"'];
        yield 'a word with another in its place' => ['Its stamp is newer.', '"stamp"'];
        yield 'in a cell of a table' => ['| a | its guards |', '"guards"'];
        yield 'in a heading' => ['## Underway', '"Underway"'];
        yield 'in a link' => ['See [the draft](page.md).', '"draft"'];
        yield 'in emphasis' => ['It is *vacant*.', '"vacant"'];
    }

    /** @param non-empty-string $complaint */
    #[DataProvider('broken')]
    public function testASentenceThatBreaksARuleIsNamed(string $page, string $complaint): void
    {
        $complaints = self::complaints($page);
        self::assertCount(1, $complaints);
        self::assertStringStartsWith($complaint, $complaints[0]);
    }

    /** @return iterable<string, array{string}> */
    public static function kept(): iterable
    {
        yield 'a sentence of 25 words' => [trim(str_repeat('word ', 25)) . '.'];
        yield 'two of them' => [trim(str_repeat('word ', 25)) . '. ' . ucfirst(trim(str_repeat('word ', 25))) . '.'];
        yield 'who, behind a noun' => ['Users who log out lose it; check who owns it.'];
        yield 'a number with a point' => [trim(str_repeat('word ', 23)) . ' 8.2 or.'];
        yield 'a code block' => ["Text:\n\n```php\n// who has a stamp, " . str_repeat('word ', 30) . "\n```\n"];
        yield 'an indented code block' => ["Text:\n\n    nobody(" . str_repeat("\n        word,", 30) . "\n    )\n\nText.\n"];
        yield 'code in a line' => ['The option `guard` and ``a `draft` `` exist.'];
        yield 'a question' => ['Who wins?'];
        yield 'an object' => ['The report says what changed.'];
        yield 'a long row of a table' => ['| ' . str_repeat('word | ', 30)];
        yield 'a comment' => ['<!-- nobody -->'];
        yield 'a part that is written by a program' => ["<!-- result -->\nnobody\n<!-- /result -->"];
        yield 'an address' => ['See [the page](nobody.md).'];
        yield 'no one of several' => ['There are many, and no one of them is large.'];
        yield 'parts of words' => ['The safeguarded stampede of the heavy ones.'];
    }

    #[DataProvider('kept')]
    public function testWhatKeepsTheRulesIsNotNamed(string $page): void
    {
        self::assertSame([], self::complaints($page));
    }

    public function testTheLineIsThatOnWhichTheParagraphBegins(): void
    {
        $passages = (new Markdown())->passages("# Title\n\n```\ncode\n```\n\nOne\ntwo.\n\n- three\n  four\n");
        self::assertSame([['Title', 1], ['One two.', 7], ['three four', 10]], array_map(static fn(Passage $each): array => [$each->text, $each->line], $passages));
    }

    public function testCommentsMayBeLongButUseTheWordsOfTheGlossary(): void
    {
        $rules = new Rules(false);
        self::assertSame([], $rules->broken(new Passage(trim(str_repeat('word ', 30)) . ', as a post is a draft.', 1)));
        self::assertSame(['"under way": "in flight" or "running": A fill is under way.'], $rules->broken(new Passage('A fill is under way.', 1)));
        self::assertSame(['"stamp": "version": A slot tells the stamp.'], $rules->broken(new Passage('A slot tells the stamp.', 1)));
    }

    public function testCommentsOfTheLibraryNameEachSubject(): void
    {
        $passage = new Passage('What is dead can wait.', 1);
        self::assertSame([], (new Rules(false))->broken($passage));
        self::assertSame(['"What is": name the subject first, then say what it does: What is dead can wait.'], (new Rules(false, true))->broken($passage));
    }

    public function testTheProgramNamesThePlaceAndFails(): void
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'larder-test-');
        try {
            file_put_contents($file, "A page.\n\nNobody reads it.\n");
            $process = new Process([PHP_BINARY, \dirname(__DIR__, 2) . '/prose', $file]);
            self::assertSame(1, $process->run());
            self::assertStringStartsWith("{$file}:3: \"Nobody\"", $process->getOutput());
            file_put_contents($file, "A page.\n\nReaders like it.\n");
            self::assertSame(0, $process->run());
            self::assertSame('', $process->getOutput());
        } finally {
            unlink($file);
        }
    }

    /** @return list<string> */
    private static function complaints(string $page): array
    {
        $rules = new Rules();

        return array_merge(...array_map($rules->broken(...), (new Markdown())->passages($page)));
    }
}
