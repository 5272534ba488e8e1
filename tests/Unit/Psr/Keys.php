<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Psr;

/** Keys that PSR-6 and PSR-16 speak of in the same sentences, which are those in quotation marks. */
final class Keys
{
    private function __construct() {}

    /**
     * "Implementing libraries MUST support keys consisting of the characters `A-Z`, `a-z`, `0-9`, `_`, and `.` in any order in UTF-8 encoding and a length of up to 64 characters."
     * "Implementing libraries MAY support additional characters and encodings or longer lengths, but must support at least that minimum."
     * In PSR-16: "Implementing libraries MAY support additional characters and encodings or longer lengths, but MUST support at least that minimum."
     *
     * @return non-empty-list<string>
     */
    public static function legal(): array
    {
        return ['A.z_09', str_repeat('x', 64), '0', '7', '007', '-1', '.', '_', 'ключ', "\xff half valid UTF-8 \xc3", 'with space', "\0", str_repeat('long', 300)];
    }

    /**
     * "The following characters are reserved for future extensions and MUST NOT be supported by implementing libraries: `{}()/\@:`"
     * "A string of at least one character"
     *
     * @return iterable<string, array{string}>
     */
    public static function illegal(): iterable
    {
        foreach (str_split('{}()/\@:') as $character) {
            yield "with {$character}" => ["a{$character}b"];
            yield "only {$character}" => [$character];
        }
        yield 'empty' => [''];
        yield 'too long' => [str_repeat('k', 65_536)];
    }

    /** @return iterable<string, array{mixed}> */
    public static function ofOtherTypes(): iterable
    {
        yield 'int' => [7];
        yield 'null' => [null];
        yield 'float' => [1.5];
        yield 'bool' => [true];
        yield 'array' => [['key']];
        yield 'object' => [new \stdClass()];
    }
}
