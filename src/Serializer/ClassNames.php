<?php

declare(strict_types=1);

namespace Larder\Serializer;

/** Reads from bytes that serialize() wrote which classes they name, without making anything of them. */
final class ClassNames
{
    private const TOKEN = '/\G(?:
        N; | [bi]:-?\d+; | d:[^;]*; | [rR]:\d+; | \} |
        a:\d+:\{ |
        s:(?<string>\d+):" |
        [OCE]:(?<name>\d+):"
    )/x';

    private function __construct() {}

    /**
     * @return list<string> no name twice
     *
     * @throws \UnexpectedValueException if these are no such bytes
     */
    public static function in(string $serialized): array
    {
        return self::read($serialized)[0];
    }

    /**
     * Those that read bytes of a form of their own, in which there may be names of classes that in() does not find.
     *
     * @return list<string> no name twice
     *
     * @throws \UnexpectedValueException if these are no such bytes
     */
    public static function withOwnForm(string $serialized): array
    {
        return self::read($serialized)[1];
    }

    /** @return array{list<string>, list<string>} */
    private static function read(string $serialized): array
    {
        // Most values have no object in them, and need not be read.
        if (preg_match('/[OCE]:\d+:"/', $serialized) !== 1) {
            return [[], []];
        }
        $names = $own = [];
        $end = \strlen($serialized);
        for ($at = 0; $at < $end;) {
            if (preg_match(self::TOKEN, $serialized, $token, \PREG_UNMATCHED_AS_NULL, $at) !== 1) {
                throw new \UnexpectedValueException("The bytes from {$at} on were not written by serialize().");
            }
            $kind = $serialized[$at];
            $at += \strlen((string) $token[0]);
            if (isset($token['string'])) {
                // The string, its closing quotation mark and a semicolon.
                $at += (int) $token['string'] + 2;
            } elseif (isset($token['name'])) {
                $name = substr($serialized, $at, (int) $token['name']);
                $names[$kind === 'E' ? explode(':', $name)[0] : $name] = true;
                if ($kind === 'C') {
                    $own[$name] = true;
                }
                $at = self::afterName($serialized, $kind, $at + \strlen($name));
            }
        }

        return [array_map(strval(...), array_keys($names)), array_map(strval(...), array_keys($own))];
    }

    /** @param int $at where the quotation mark is that closes the name */
    private static function afterName(string $serialized, string $kind, int $at): int
    {
        // "; after an enum's case, ":count:{ after a class, ":length:{bytes} after one with a form of its own.
        $pattern = $kind === 'E' ? '/\G";/' : '/\G":(\d+):\{/';
        if (preg_match($pattern, $serialized, $match, 0, $at) !== 1) {
            throw new \UnexpectedValueException("The bytes from {$at} on were not written by serialize().");
        }

        return $at + \strlen($match[0]) + ($kind === 'C' ? (int) ($match[1] ?? 0) : 0);
    }
}
