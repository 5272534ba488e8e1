<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Psr;

use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Psr\Cache\CacheItemPoolInterface;
use Psr\SimpleCache\CacheInterface;

/**
 * That no sentence of PSR-6 and PSR-16 in which an implementing library must do something is without a test that quotes it.
 *
 * The sentences of the interfaces are read from the packages of the PSRs as they are installed; those of the texts around them
 * are copied here from https://www.php-fig.org/psr/psr-6/ and https://www.php-fig.org/psr/psr-16/.
 */
#[CoversNothing]
final class SentencesTest extends TestCase
{
    private const BOTH = [
        'Implementing Libraries MUST support at minimum TTL functionality as described below with whole-second granularity.',
        'Implementing libraries MUST support keys consisting of the characters A-Z, a-z, 0-9, _, and . in any order in UTF-8 encoding and a length of up to 64 characters.',
        'Libraries are responsible for their own escaping of key strings as appropriate, but MUST be able to return the original unmodified key string.',
        'The following characters are reserved for future extensions and MUST NOT be supported by implementing libraries: {}()/\@:',
        'Implementing Libraries MAY expire an item before its requested Expiration Time, but MUST treat an item as expired once its Expiration Time is reached.',
        'If no default duration has been set, the Implementing Library MUST interpret that as a request to cache the item forever, or for as long as the underlying implementation supports.',
        'Implementing libraries MUST support all serializable PHP data types',
        'All data passed into the Implementing Library MUST be returned exactly as passed.',
        'If it is not possible to return the exact saved value for any reason, implementing libraries MUST respond with a cache miss rather than corrupted data.',
    ];

    private const PSR_6 = [
        'The Implementing Library MUST provide classes which implement the Cache\CacheItemPoolInterface and Cache\CacheItemInterface interfaces.',
        'Implementing libraries MAY support additional characters and encodings or longer lengths, but must support at least that minimum.',
        'An expired value MUST always be considered a cache miss.',
        'A Pool MUST ensure that any deferred cache items are eventually persisted and data is not lost, and MAY persist them before a Calling Library requests that they be persisted.',
        'When a Calling Library invokes the commit() method all outstanding deferred items MUST be persisted.',
        'Requests for a cache item that has been deferred MUST return the deferred but not-yet-persisted item.',
        'The key is the primary unique identifier for an Item and MUST be immutable.',
        'Implementing Libraries MUST NOT throw exceptions other than those defined by the interface',
        'If a Calling Library requests that one or more Items be deleted, or that a pool be cleared, it MUST NOT be considered an error condition if the specified key does not exist.',
        'Any exception thrown by an Implementing Library MUST implement this interface.',
    ];

    private const PSR_16 = [
        'The Implementing Library MUST provide a class implementing the Psr\SimpleCache\CacheInterface interface.',
        'Implementing libraries MAY support additional characters and encodings or longer lengths, but MUST support at least that minimum.',
        'The final implementations MAY decorate the objects with more functionality than the one proposed but they MUST implement the indicated interfaces/functionality first.',
        'If a negative or zero TTL is provided, the item MUST be deleted from the cache if it exists, as it is expired already.',
        'Different CacheInterface instances MAY be backed by the same datastore, but MUST be logically independent.',
        'If no user-specified default is provided implementations MUST default to the maximum legal value allowed by the underlying implementation.',
        'If the underlying implementation does not support TTL, the user-specified TTL MUST be silently ignored.',
    ];

    /** @return iterable<string, array{string, string, list<string>}> the folder of the tests, one of the PSR's interfaces, and what its text says */
    public static function psrs(): iterable
    {
        yield 'PSR-6' => ['Psr6', CacheItemPoolInterface::class, [...self::BOTH, ...self::PSR_6]];
        yield 'PSR-16' => ['Psr16', CacheInterface::class, [...self::BOTH, ...self::PSR_16]];
    }

    /**
     * @param class-string $interface
     * @param list<string> $sentences
     */
    #[DataProvider('psrs')]
    public function testEverySentenceThatSaysMustIsQuotedByATest(string $tests, string $interface, array $sentences): void
    {
        $directory = \dirname((string) (new \ReflectionClass($interface))->getFileName());
        foreach (glob("{$directory}/*.php") ?: [] as $file) {
            array_push($sentences, ...self::obligations((string) file_get_contents($file)));
        }
        self::assertGreaterThan(\count(self::BOTH) + 10, \count($sentences));
        $quotes = self::prose(implode('', array_map(file_get_contents(...), glob(\dirname(__DIR__) . "/{$tests}/*.php") ?: [])) . file_get_contents(__DIR__ . '/Keys.php'));
        foreach ($sentences as $sentence) {
            self::assertStringContainsString($sentence, $quotes, "No test in {$tests} quotes this sentence.");
        }
    }

    /** @return list<string> what the comments of an interface demand of those who implement it */
    private static function obligations(string $code): array
    {
        $found = [];
        foreach (\PhpToken::tokenize($code) as $token) {
            foreach ($token->id === \T_DOC_COMMENT ? preg_split('/(?<=\.) (?=[A-Z@])| (?=@)/', self::prose($token->text)) ?: [] : [] as $sentence) {
                $sentence = trim((string) preg_replace('/^(@(param|throws) \S+( \$\w+)?|Note:) /', '', trim($sentence, ' /')));
                // What binds only the caller, and what a parameter is rather than what is done with it.
                if (preg_match('/\bmust\b/i', $sentence) === 1 && !str_starts_with($sentence, 'Calling Libraries MUST') && !str_contains($sentence, 'must be serializable')) {
                    $found[] = $sentence;
                }
            }
        }

        return $found;
    }

    /** Without what makes a comment of it, and without line breaks and the marks of code. */
    private static function prose(string $comment): string
    {
        return (string) preg_replace(['~^\s*(/\*\*|\*/|\*|//)~m', '/`/', '/\s+/'], [' ', '', ' '], $comment);
    }
}
