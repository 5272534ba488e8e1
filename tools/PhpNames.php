<?php

declare(strict_types=1);

namespace Larder\Tools;

use PhpToken;

/**
 * The classes, functions and namespaces that a piece of PHP code names, fully qualified: its own namespace (which ends with a
 * backslash), what it imports, what it mentions, and string literals that begin as one of its namespaces would. Among what it mentions by a bare name
 * is also what is none of these, such as a function of PHP's or a named argument.
 */
final readonly class PhpNames
{
    /** What a bare name behind it is a member or a definition of. */
    private const BEFORE_OTHERS = [T_OBJECT_OPERATOR, T_NULLSAFE_OBJECT_OPERATOR, T_DOUBLE_COLON, T_FUNCTION, T_CONST, T_CLASS, T_INTERFACE, T_ENUM, T_CASE, T_GOTO];

    private const NAME = [T_STRING, T_NAME_QUALIFIED, T_NAME_FULLY_QUALIFIED, T_NAME_RELATIVE];

    /**
     * @return array<string, int> name, without the leading backslash => the first line that has it
     */
    public function in(string $code): array
    {
        $names = [];
        $namespace = '';
        $aliases = [];
        $tokens = array_values(array_filter(
            PhpToken::tokenize($code),
            static fn(PhpToken $token): bool => !$token->is([T_WHITESPACE, T_COMMENT, T_DOC_COMMENT]),
        ));
        for ($at = 0; isset($tokens[$at]); ++$at) {
            $token = $tokens[$at];
            $next = $tokens[$at + 1] ?? null;
            if ($token->is(T_NAMESPACE) && $next?->is(self::NAME) === true) {
                $namespace = $next->text;
                $aliases = [];
                $names[$namespace . '\\'] ??= $next->line;
                ++$at;
            } elseif ($token->is(T_USE) && $next?->is('(') === false) {
                while (isset($tokens[++$at]) && !$tokens[$at]->is(';')) {
                    $import[] = $tokens[$at];
                }
                foreach ($this->imports($import ?? []) as $alias => $name) {
                    $aliases[$alias] = $name;
                    $names[$name] ??= $token->line;
                }
                $import = [];
            } elseif ($token->is([T_NAME_QUALIFIED, T_NAME_FULLY_QUALIFIED, T_NAME_RELATIVE])
                || $token->is(T_STRING) && ($tokens[$at - 1] ?? null)?->is(self::BEFORE_OTHERS) !== true && $next?->is(':') !== true) {
                $names[$this->resolve($token->text, $namespace, $aliases)] ??= $token->line;
            } elseif ($token->is(T_CONSTANT_ENCAPSED_STRING)) {
                $text = ltrim(str_replace('\\\\', '\\', substr($token->text, 1, -1)), '\\');
                if (preg_match('/^[A-Z]\w*(\\\\\w+)+\\\\?$/', $text) === 1) {
                    $names[$text] ??= $token->line;
                }
            }
        }

        return $names;
    }

    /**
     * @param list<PhpToken> $statement what stands between "use" and its semicolon
     *
     * @return array<string, string> short name => full name
     */
    private function imports(array $statement): array
    {
        $imports = [];
        $prefix = '';
        $name = null;
        foreach ($statement as $at => $token) {
            if ($token->is('{')) {
                $prefix = $name . '\\';
                $name = null;
            } elseif ($token->is(self::NAME) && $at > 0 && $statement[$at - 1]->is(T_AS)) {
                unset($imports[$this->last((string) $name)]);
                $imports[$token->text] = (string) $name;
            } elseif ($token->is(self::NAME)) {
                $name = $prefix . ltrim($token->text, '\\');
                if (($statement[$at + 1] ?? null)?->is(T_NS_SEPARATOR) !== true) {
                    $imports[$this->last($name)] = $name;
                }
            }
        }

        return $imports;
    }

    /**
     * @param array<string, string> $aliases what the file imported: short name => full name
     */
    private function resolve(string $name, string $namespace, array $aliases): string
    {
        if (str_starts_with($name, '\\')) {
            return substr($name, 1);
        }
        if (str_starts_with(strtolower($name), 'namespace\\')) {
            return ltrim($namespace . substr($name, strlen('namespace')), '\\');
        }
        $first = explode('\\', $name, 2)[0];
        if (isset($aliases[$first])) {
            return $aliases[$first] . substr($name, strlen($first));
        }

        return ltrim($namespace . '\\' . $name, '\\');
    }

    private function last(string $name): string
    {
        return substr($name, (int) strrpos('\\' . $name, '\\'));
    }
}
