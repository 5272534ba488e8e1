<?php

declare(strict_types=1);

namespace Larder\Tools\Prose;

/** A piece of prose that no sentence leaves: a paragraph, an item of a list, a heading, a cell of a table, a message. */
final readonly class Passage
{
    /**
     * @param string $text       on one line, each piece of code in it replaced by Passage::CODE
     * @param int    $line       the line of the file on which it begins
     * @param bool   $isSentence false: a table's cell or a heading, which may be longer or shorter than a sentence
     */
    public function __construct(
        public string $text,
        public int $line,
        public bool $isSentence = true,
    ) {}

    /** Counts as one word, and is none of those that the rules look for. */
    public const CODE = '§';

    /** @return list<string> */
    public function sentences(): array
    {
        $sentences = preg_split('/(?<=[.!?])["\')*_]*\s+(?=["\'(*_]*[\p{Lu}\d§])/u', $this->text) ?: [];

        return array_values(array_filter($sentences, static fn(string $sentence): bool => trim($sentence) !== ''));
    }

    /** Without what a pattern says is code. */
    public static function withoutCode(string $text): string
    {
        return (string) preg_replace('/(`+)(?!`).+?(?<!`)\1(?!`)/s', self::CODE, $text);
    }
}
