<?php

declare(strict_types=1);

namespace Larder\Tools\Prose;

/** What the project's English keeps to: short sentences, a subject that can be named, and one word for one thing. */
final readonly class Rules
{
    private const MOST_WORDS = 25;

    /** Patterns, and what to write instead. */
    private const SUBJECTS = [
        '/\bwho(?:so)?ever\b/i' => 'name the subject, or write "any process"',
        '/\b(?:no|any|some|every)body\b|\bno[ -]one\b(?! of)/i' => 'name the subject: a process, a request, a user',
        '/\b(?:he|him|his|himself)\b/i' => 'a process or a server is "it", a user is "the user" or "they"',
        '/\b(?:so that|but|only|by|to|for|of|than|until|which) who\b/i' => 'name the subject: "a process that"',
        '/(?:^|[;:] |[.!] )"?whom?\b(?![^.;:]*\?)/i' => 'name the subject first',
    ];

    /** A subject that has no name. */
    private const NAMELESS = [
        '/(?:^|[;:] |[.!] |\b(?:and|but|so|then) )"?what (?:is|was|are|were|has|had|lies|another|it|they|you|this|must|may|can|cannot)\b(?![^.;:]*\?)/i' => 'name the subject first, then say what it does',
    ];

    /** Words of which the glossary has others. */
    private const WORDS = [
        '/\bstamps?\b/i' => '"version"',
        '/\b(?:patience|earliness)\b/i' => '"stale wait", "miss wait" or "beta"',
        '/\bunder ?way\b/i' => '"in flight" or "running"',
        '/\bvacan(?:cy|cies|t)\b/i' => '"free slot"',
        '/\bpool id\b/i' => '"epoch"',
        '/\bputs? off\b/i' => '"defers"',
    ];

    /** These hold for all comments, and for the names of tests. */
    private const EVERYWHERE = self::SUBJECTS + self::WORDS;

    private const FORBIDDEN = self::EVERYWHERE + self::NAMELESS + [
        '/\bwhat(?:so)?ever\b/i' => 'name the subject, or write "anything that"',
        '/\b(?:of|to|from) whom\b/i' => 'split the sentence',
        '/\bguards?\b/i' => '"key version"',
        '/\bdrafts?\b/i' => '"pending item"',
        '/\bsays good-?bye\b/i' => '"closes"',
    ];

    /**
     * @param bool $isWhole  false: only the rules for subjects, and for words that have no other meaning
     * @param bool $namesAll whether each subject has to have a name, if it is not whole
     */
    public function __construct(private bool $isWhole = true, private bool $namesAll = false) {}

    /** @return list<string> what is wrong with it, in sentences */
    public function broken(Passage $passage): array
    {
        $broken = [];
        foreach ($passage->sentences() as $sentence) {
            $words = $this->words($sentence);
            if ($this->isWhole && $passage->isSentence && $words > self::MOST_WORDS) {
                $broken[] = sprintf('%d words, at most %d: %s', $words, self::MOST_WORDS, $sentence);
            }
            foreach ($this->isWhole ? self::FORBIDDEN : self::EVERYWHERE + ($this->namesAll ? self::NAMELESS : []) as $pattern => $instead) {
                if (preg_match($pattern, $sentence, $found) === 1) {
                    $broken[] = sprintf('"%s": %s: %s', trim($found[0], ' ;:.!"'), $instead, $sentence);
                }
            }
        }

        return $broken;
    }

    private function words(string $sentence): int
    {
        return (int) preg_match_all('/\S*[\p{L}\p{N}§]\S*/u', $sentence);
    }
}
