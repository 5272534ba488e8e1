<?php

declare(strict_types=1);

namespace Larder\Tools\Publication;

/**
 * Gives the namespaces of PHP code a prefix, so that two plugins of one site can bring different versions of it. What the extension
 * declares keeps its name, as there is one extension.
 */
final readonly class Prefixing
{
    /**
     * @param string       $prefix  such as Shop\Library
     * @param list<string> $roots   first parts of namespaces that get it; Larder itself is replaced by it
     * @param list<string> $without full names of classes that keep theirs, and namespaces with a backslash at the end
     */
    public function __construct(
        private string $prefix,
        private array $roots,
        private array $without,
    ) {}

    public function applied(string $code): string
    {
        $namespace = preg_match('/^namespace ([\w\\\\]+);/m', $code, $match) === 1 ? $match[1] : '';
        $class = preg_match('/^(?:final |abstract |readonly )*(?:class|interface|enum) (\w+)/m', $code, $match) === 1 ? $match[1] : '';
        $staysHere = $this->stays("{$namespace}\\{$class}");
        $out = '';
        $isNamespace = false;
        foreach (\PhpToken::tokenize($code) as $token) {
            if ($token->is([T_NAME_QUALIFIED, T_NAME_FULLY_QUALIFIED]) || ($isNamespace && $token->is(T_STRING))) {
                $out .= $isNamespace && $staysHere ? $token->text : $this->name($token->text, $isNamespace);
            } else {
                $out .= $token->text;
            }
            $isNamespace = $token->is(T_NAMESPACE) || ($isNamespace && $token->is(T_WHITESPACE));
        }

        return $staysHere ? $out : $this->withImports($out, $namespace);
    }

    private function name(string $name, bool $isNamespace): string
    {
        $bare = ltrim($name, '\\');
        $root = explode('\\', $bare)[0];
        if (!\in_array($root, $this->roots, true) || (!$isNamespace && $this->stays($bare)) || ($isNamespace && $this->stays("{$bare}\\"))) {
            return $name;
        }

        return ($name === $bare ? '' : '\\') . $this->prefix . ($root === 'Larder' ? substr($bare, 6) : "\\{$bare}");
    }

    /** What was in the same namespace before, and is not any more, has to be imported. */
    private function withImports(string $code, string $namespace): string
    {
        $imports = '';
        foreach ($this->without as $class) {
            $short = substr($class, (int) strrpos($class, '\\') + 1);
            $isNeighbour = $class === "{$namespace}\\{$short}";
            if ($isNeighbour && $short !== '' && preg_match("/(?<![\\w\\\\\$>:]){$short}(?![\\w\\\\])/", $code) === 1 && !str_contains($code, "use {$class};")) {
                $imports .= "use {$class};\n";
            }
        }

        return $imports === '' ? $code : (string) preg_replace('/^namespace [\w\\\\]+;\n/m', "\$0\n{$imports}", $code, 1);
    }

    private function stays(string $name): bool
    {
        foreach ($this->without as $without) {
            if ($name === $without || (str_ends_with($without, '\\') && str_starts_with($name, $without))) {
                return true;
            }
        }

        return false;
    }
}
