<?php

declare(strict_types=1);

namespace Larder\Tools\Prose;

/** The prose of a file of PHP: what its classes say of themselves, and its messages; and apart from these all its remarks. */
final class PhpSource
{
    /** Words from which on a string is taken for a message. */
    private const FEWEST_WORDS = 4;

    /** How a statement or a part of one begins. */
    private const SQL = '/^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|BEGIN|PRAGMA|UNION|WHERE|AND|ON CONFLICT)\s/';

    /** Tokens that may stand between a class and what it says of itself. */
    private const MODIFIERS = [\T_WHITESPACE, \T_FINAL, \T_READONLY, \T_ABSTRACT];

    /** @return list<Passage> */
    public function passages(string $source): array
    {
        $passages = [];
        $said = null;
        $string = null;
        foreach (\PhpToken::tokenize($source) as $token) {
            if ($token->is([\T_CLASS, \T_INTERFACE, \T_ENUM, \T_TRAIT]) && $said !== null) {
                array_push($passages, ...self::comment($said));
            }
            $said = $token->is(\T_DOC_COMMENT) ? $token : ($token->is(self::MODIFIERS) ? $said : null);
            if ($token->text === '"') {
                $string = $string === null ? new \PhpToken(\T_STRING, '', $token->line) : self::message($passages, $string);
            } elseif ($string !== null) {
                $string->text .= $token->is(\T_ENCAPSED_AND_WHITESPACE) ? $token->text : Passage::CODE;
            } elseif ($token->is(\T_CONSTANT_ENCAPSED_STRING)) {
                self::message($passages, new \PhpToken(\T_STRING, substr($token->text, 1, -1), $token->line));
            }
        }

        return $passages;
    }

    /**
     * Its comments, the names of its tests, and its strings that are sentences.
     *
     * @return list<Passage>
     */
    public function remarks(string $source): array
    {
        $passages = [];
        $open = null;
        foreach (\PhpToken::tokenize($source) as $token) {
            if ($token->is(\T_COMMENT)) {
                // Those on lines that follow each other are one.
                $text = (string) preg_replace(['~^(?://|#|/\*)|\*/$~', '~^[ \t]*\* ?~m'], '', $token->text);
                $open = new \PhpToken(\T_COMMENT, ($open === null ? '' : "{$open->text}\n") . trim($text, ' '), $open->line ?? $token->line);
            } elseif ($open !== null && (!$token->is(\T_WHITESPACE) || substr_count($token->text, "\n") > 1)) {
                array_push($passages, ...self::prose($open));
                $open = null;
            }
            if ($token->is(\T_DOC_COMMENT)) {
                array_push($passages, ...self::comment($token, ['~^@~m' => '- ']));
            } elseif ($token->is(\T_INLINE_HTML) && preg_match('/^--TEST--\n(.+)/', $token->text, $promise) === 1) {
                $passages[] = new Passage($promise[1], $token->line + 1, false);
            } elseif ($token->is(\T_CONSTANT_ENCAPSED_STRING) && preg_match('/^.\p{Lu}.* .*[.!?].$/su', $token->text) === 1) {
                self::message($passages, new \PhpToken(\T_STRING, substr($token->text, 1, -1), $token->line));
            } elseif ($token->is(\T_STRING) && preg_match('/^test(?=[A-Z])/', $token->text) === 1) {
                $passages[] = new Passage(ucfirst(strtolower((string) preg_replace(['/^test/', '/(?<=\w)(?=[A-Z])/'], ['', ' '], $token->text))), $token->line, false);
            }
        }

        return [...$passages, ...($open === null ? [] : self::prose($open))];
    }

    /** @param list<Passage> $passages */
    private static function message(array &$passages, \PhpToken $string): null
    {
        // What is put in, and what a store has in its error, stands for a word.
        $text = (string) preg_replace(['/%[\d.]*[sdF]|§(?:§|->|\{|\}|\[|\])*/u', '/\\\\([\'"])/'], [Passage::CODE, '$1'], $string->text);
        if (preg_match_all('/\p{L}{2,}/u', $text) >= self::FEWEST_WORDS && !str_contains($text, '/^') && preg_match(self::SQL, $text) !== 1) {
            $passages[] = new Passage($text, $string->line);
        }

        return null;
    }

    /**
     * @param array<string, string> $annotations a pattern of them, and what to put in their place
     *
     * @return list<Passage>
     */
    private static function comment(\PhpToken $comment, array $annotations = ['~^@.*~ms' => '']): array
    {
        $text = (string) preg_replace(['~^/\*\*|\*/$~', '~^[ \t]*\* ?~m'], '', $comment->text);
        // An indented part is code or a table.
        $text = (string) preg_replace(['~^ {4,}.*$~m', ...array_keys($annotations), '~\{@\w+ ([^}]*)\}~'], ['', ...array_values($annotations), '`$1`'], $text);

        return self::prose(new \PhpToken(\T_DOC_COMMENT, trim($text, ' '), $comment->line));
    }

    /** @return list<Passage> */
    private static function prose(\PhpToken $text): array
    {
        return array_map(static fn(Passage $each): Passage => new Passage($each->text, $text->line + $each->line - 1, $each->isSentence), (new Markdown())->passages($text->text));
    }
}
