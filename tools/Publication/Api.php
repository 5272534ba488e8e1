<?php

declare(strict_types=1);

namespace Larder\Tools\Publication;

use function array_filter;
use function array_map;
use function array_slice;

use BackedEnum;

use function count;
use function implode;
use function is_object;

use Larder\Cache;
use Larder\Capability;
use Larder\Event;
use Larder\Exception;
use Larder\Fetched;
use Larder\Health;
use Larder\Item;
use Larder\Lock;
use Larder\OnConflict;
use Larder\PendingItem;
use Larder\Psr16\SimpleCache;
use Larder\Psr6\CachePool;
use Larder\SaveMode;
use Larder\Session\SessionHandler;
use Larder\Store;
use Larder\Stores;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Trace\RecordingStore;
use Larder\Ttl;

use function preg_match;
use function preg_replace;
use function preg_split;

use ReflectionClass;
use ReflectionIntersectionType;
use ReflectionMethod;
use ReflectionNamedType;
use ReflectionParameter;
use ReflectionProperty;
use ReflectionType;
use ReflectionUnionType;

use function rtrim;
use function str_starts_with;
use function strlen;
use function substr;
use function trim;

use UnitEnum;

use function var_export;

/** The reference of the classes that applications use, written from their docblocks. */
final class Api
{
    /** Below which a signature stays on one line. */
    private const WIDTH = 120;

    /** @var array<string, list<class-string>> by heading */
    private const CLASSES = [
        'The cache' => [Cache::class, PendingItem::class, Lock::class, Health::class, Token::class, Ttl::class, OnConflict::class],
        'Standards and sessions' => [SimpleCache::class, CachePool::class, SessionHandler::class],
        'Stores' => [Stores::class, Store::class, Item::class, Fetched::class, SaveMode::class, Capability::class, StoreStatistics::class, RecordingStore::class],
        'Events' => [Event\Hit::class, Event\Missed::class, Event\Computed::class, Event\Written::class, Event\Deleted::class, Event\TagsInvalidated::class, Event\Cleared::class],
        'Exceptions' => [
            Exception\InvalidDsn::class, Exception\InvalidOption::class, Exception\ExtensionMissing::class, Exception\PoolUnusable::class, Exception\StoreUnavailable::class,
            Exception\InvalidKey::class, Exception\InvalidTag::class, Exception\Unstorable::class, Exception\NotACounter::class, Exception\UnsupportedOperation::class, Exception\InvalidTrace::class,
        ],
    ];

    private function __construct() {}

    public static function markdown(): string
    {
        $lines = [
            '# Reference', '',
            'Written by `tools/api` from the docblocks in `src/`; do not edit it by hand. The class of the extension, `Larder\SharedMemory`, is described in its',
            '[stub](../ext/shared_memory.stub.php).', '',
        ];
        foreach (self::CLASSES as $heading => $classes) {
            array_push($lines, "## {$heading}", '');
            foreach ($classes as $class) {
                array_push($lines, ...self::ofClass(new ReflectionClass($class)));
            }
        }

        return rtrim(implode("\n", $lines)) . "\n";
    }

    /**
     * @param ReflectionClass<object> $class
     *
     * @return list<string>
     */
    private static function ofClass(ReflectionClass $class): array
    {
        $name = self::short($class->getName());
        $lines = ["### {$name}", '', ...self::described($class->getDocComment() ?: '')];
        if ($class->isEnum()) {
            foreach ($class->getReflectionConstants() as $case) {
                $value = $case->getValue();
                if ($value instanceof UnitEnum && $case->isEnumCase()) {
                    $lines[] = "- `{$name}::{$value->name}`" . ($value instanceof BackedEnum ? ' (' . var_export($value->value, true) . ')' : '') . self::brief($case->getDocComment() ?: '');
                }
            }
            $lines[] = '';
        }
        $isException = $class->implementsInterface(Exception::class);
        foreach ($isException || $class->isEnum() ? [] : $class->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
            $isInternal = preg_match('/@internal$/m', $method->getDocComment() ?: '') === 1;
            if ($method->getDeclaringClass()->getName() === $class->getName() && $method->getName() !== '__destruct' && !$isInternal) {
                array_push($lines, ...self::ofMethod($class, $method));
            }
        }
        $own = array_filter($class->getProperties(ReflectionProperty::IS_PUBLIC), static fn(ReflectionProperty $each): bool => $each->getDeclaringClass()->getName() === $class->getName());
        foreach ($class->isEnum() ? [] : $own as $property) {
            $lines[] = "- `\${$property->getName()}`: `" . self::type($property->getType()) . '`' . self::brief($property->getDocComment() ?: '');
        }
        if ($own !== [] && !$class->isEnum()) {
            $lines[] = '';
        }

        return $lines;
    }

    /**
     * @param ReflectionClass<object> $class
     *
     * @return list<string>
     */
    private static function ofMethod(ReflectionClass $class, ReflectionMethod $method): array
    {
        $begin = ($method->isStatic() ? 'static ' : '') . ($method->isConstructor() ? 'new ' . self::short($class->getName()) : $method->getName()) . '(';
        $parameters = array_map(self::parameter(...), $method->getParameters());
        $end = ')' . ($method->isConstructor() ? '' : ': ' . self::type($method->getReturnType()));
        $line = $begin . implode(', ', $parameters) . $end;
        $signature = strlen($line) <= self::WIDTH ? ["    {$line}"] : ["    {$begin}", ...array_map(static fn(string $each): string => "        {$each},", $parameters), "    {$end}"];

        return ['#### ' . ($method->isConstructor() ? 'new ' . self::short($class->getName()) : $method->getName()), '', ...$signature, '', ...self::described($method->getDocComment() ?: '')];
    }

    private static function parameter(ReflectionParameter $parameter): string
    {
        $type = self::type($parameter->getType());
        $text = ($type === '' ? '' : "{$type} ") . ($parameter->isPassedByReference() ? '&' : '') . ($parameter->isVariadic() ? '...' : '') . "\${$parameter->getName()}";
        if (!$parameter->isDefaultValueAvailable()) {
            return $text;
        }
        $default = $parameter->getDefaultValue();

        return "{$text} = " . match (true) {
            $default instanceof UnitEnum => self::short($default::class) . "::{$default->name}",
            is_object($default) => 'new ' . self::short($default::class) . '(…)',
            $default === [] => '[]',
            $default === null => 'null',
            default => var_export($default, true),
        };
    }

    private static function type(?ReflectionType $type): string
    {
        return match (true) {
            $type === null => '',
            $type instanceof ReflectionNamedType => ($type->allowsNull() && $type->getName() !== 'mixed' && $type->getName() !== 'null' ? '?' : '') . ($type->isBuiltin() || $type->getName() === 'self' || $type->getName() === 'static' ? $type->getName() : self::short($type->getName())),
            $type instanceof ReflectionUnionType => implode('|', array_map(self::type(...), $type->getTypes())),
            $type instanceof ReflectionIntersectionType => implode('&', array_map(self::type(...), $type->getTypes())),
            default => (string) $type,
        };
    }

    private static function short(string $class): string
    {
        return str_starts_with($class, 'Larder\\') ? substr($class, strlen('Larder\\')) : "\\{$class}";
    }

    /** The first paragraph, behind a colon. */
    private static function brief(string $comment): string
    {
        $text = trim(implode(' ', array_filter(self::lines($comment), static fn(string $line): bool => !str_starts_with($line, '@'))));
        $text = $text === '' ? (string) preg_replace('/^@var\s+(\S+\s*(\{[^}]*\}|<[^>]*>)?)\s*/', '', implode(' ', self::lines($comment))) : $text;

        return $text === '' ? '' : ": {$text}";
    }

    /** @return list<string> */
    private static function described(string $comment): array
    {
        $text = $tags = [];
        foreach (self::lines($comment) as $line) {
            if (str_starts_with($line, '@')) {
                $tags[] = $line;
            } elseif ($tags !== []) {
                $tags[count($tags) - 1] .= ' ' . trim($line);
            } else {
                $text[] = $line;
            }
        }
        $told = [];
        foreach ($tags as $tag) {
            if (preg_match('/^@(param|return|throws)\s+(.*)$/s', trim($tag), $match) === 1) {
                [$type, $rest] = self::divided($match[2]);
                $told[] = match ($match[1]) {
                    'param' => preg_match('/^(&?(?:\.\.\.)?\$\w+)\s*(.*)$/s', $rest, $parts) === 1 ? "- `{$parts[1]}`, `{$type}`" . ($parts[2] === '' ? '' : ": {$parts[2]}") : '',
                    'return' => "- returns `{$type}`" . ($rest === '' ? '' : ": {$rest}"),
                    default => "- throws `{$type}`" . ($rest === '' ? '' : ": {$rest}"),
                };
            }
        }
        $told = array_filter($told, static fn(string $line): bool => $line !== '');
        $text = trim(implode("\n", $text), "\n");

        return [...($text === '' ? [] : [$text, '']), ...($told === [] ? [] : [...$told, ''])];
    }

    /** @return array{string, string} a type, which may have blanks within brackets, and what follows it */
    private static function divided(string $text): array
    {
        $depth = 0;
        for ($i = 0; $i < strlen($text); $i++) {
            $depth += match ($text[$i]) {
                '<', '(', '{', '[' => 1,
                '>', ')', '}', ']' => -1,
                default => 0,
            };
            if ($depth === 0 && $text[$i] === ' ' && $text[$i - 1] !== ':') {
                return [substr($text, 0, $i), (string) preg_replace('/\s+/', ' ', trim(substr($text, $i)))];
            }
        }

        return [$text, ''];
    }

    /** @return list<string> without the comment's own signs */
    private static function lines(string $comment): array
    {
        $inner = (string) preg_replace('~^/\*\*\s?|\s*\*/$~', '', $comment);
        $lines = array_map(static fn(string $line): string => (string) preg_replace('/^\s*\* ?/', '', $line), preg_split('/\n/', $inner) ?: []);

        return array_slice($lines, $lines !== [] && trim($lines[0]) === '' ? 1 : 0);
    }
}
