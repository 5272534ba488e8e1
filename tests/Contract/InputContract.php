<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Cache;
use Larder\Capability;
use Larder\Exception\InvalidKey;
use Larder\Exception\InvalidTag;
use Larder\Key;
use Larder\Psr16\SimpleCache;
use Larder\Psr6\CachePool;
use Larder\Tag;

/**
 * What bad input gets of a cache over any store: the exception that is documented, and nothing is changed; or what the
 * nearest good input would get.
 */
final class InputContract extends Suite
{
    /** @return iterable<string, string> */
    private static function illegalKeys(): iterable
    {
        yield 'an empty key' => '';
        yield 'a key that is too long' => str_repeat('k', Key::LONGEST + 1);
    }

    public function testAnIllegalKeyIsOneClearErrorAndChangesNothing(): void
    {
        $cache = new Cache($this->store());
        self::assertTrue($cache->set('fine', 'old'));
        foreach (self::illegalKeys() as $name => $key) {
            $this->assertRefuses(InvalidKey::class, $name, [
                'get' => static fn(): mixed => $cache->get($key),
                'getMany' => static fn(): mixed => $cache->getMany(['fine', $key]),
                'has' => static fn(): mixed => $cache->has($key),
                'set' => static fn(): mixed => $cache->set($key, 1),
                'setMany' => static fn(): mixed => $cache->setMany(['fine' => 'new', $key => 1]),
                'add' => static fn(): mixed => $cache->add($key, 1),
                'replace' => static fn(): mixed => $cache->replace($key, 1),
                'delete' => static fn(): mixed => $cache->delete($key),
                'deleteMany' => static fn(): mixed => $cache->deleteMany(['fine', $key]),
                'pull' => static fn(): mixed => $cache->pull($key),
                'touch' => static fn(): mixed => $cache->touch($key, 100),
                'increment' => static fn(): mixed => $cache->increment($key),
                'decrement' => static fn(): mixed => $cache->decrement($key),
                'remember' => static fn(): mixed => $cache->remember($key, static fn(): int => 1),
            ]);
        }
        self::assertSame('old', $cache->get('fine'));
    }

    public function testACharacterThatThePsrsReserveIsTheirExceptionAndChangesNothing(): void
    {
        $cache = new Cache($this->store());
        $simple = new SimpleCache($cache);
        $pool = new CachePool($cache);
        self::assertTrue($simple->set('fine', 'old'));
        $illegal = [...self::illegalKeys()];
        foreach (str_split('{}()/\@:') as $character) {
            $illegal["a key with {$character}"] = "a{$character}b";
        }
        // In a namespace, there is less room for a key.
        $parts = $this->can(Capability::Tags) ? [$cache->namespace('part')] : [];
        foreach ($illegal as $name => $key) {
            $this->assertRefuses(\Psr\SimpleCache\InvalidArgumentException::class, $name, [
                'get' => static fn(): mixed => $simple->get($key),
                'set' => static fn(): mixed => $simple->set($key, 1),
                'has' => static fn(): mixed => $simple->has($key),
                'delete' => static fn(): mixed => $simple->delete($key),
                'getMultiple' => static fn(): mixed => $simple->getMultiple(['fine', $key]),
                'setMultiple' => static fn(): mixed => $simple->setMultiple(['fine' => 'new', $key => 1]),
                'deleteMultiple' => static fn(): mixed => $simple->deleteMultiple(['fine', $key]),
            ]);
            $this->assertRefuses(\Psr\Cache\InvalidArgumentException::class, $name, [
                'getItem' => static fn(): mixed => $pool->getItem($key),
                'getItems' => static fn(): mixed => $pool->getItems(['fine', $key]),
                'hasItem' => static fn(): mixed => $pool->hasItem($key),
                'deleteItem' => static fn(): mixed => $pool->deleteItem($key),
                'deleteItems' => static fn(): mixed => $pool->deleteItems(['fine', $key]),
            ]);
        }
        $longest = str_repeat('k', Key::LONGEST);
        foreach ($parts as $part) {
            $simplePart = new SimpleCache($part);
            $poolPart = new CachePool($part);
            $this->assertRefuses(\Psr\SimpleCache\InvalidArgumentException::class, 'a key too long for a namespace', [
                'get' => static fn(): mixed => $simplePart->get($longest),
                'set' => static fn(): mixed => $simplePart->set($longest, 1),
                'setMultiple' => static fn(): mixed => $simplePart->setMultiple(['fine' => 1, $longest => 1]),
            ]);
            $this->assertRefuses(\Psr\Cache\InvalidArgumentException::class, 'a key too long for a namespace', [
                'getItem' => static fn(): mixed => $poolPart->getItem($longest),
                'deleteItems' => static fn(): mixed => $poolPart->deleteItems(['fine', $longest]),
            ]);
            self::assertFalse($part->has('fine'));
        }
        self::assertSame('old', $simple->get('fine'));
    }

    public function testAKeyThatIsUtf8OnlyByHalfIsAKeyOfItsOwn(): void
    {
        $cache = new Cache($this->store());
        $simple = new SimpleCache($cache);
        $pool = new CachePool($cache);
        // A whole character, its halves, both orders, one that is cut off, and bytes that no UTF-8 has.
        $keys = ["\u{fc}", "\xc3", "\xbc", "\xbc\xc3", "price in \xe2\x82", "price in \u{20ac}", "\xff price", "\xc0\xaf", "\xed\xa0\x80"];
        foreach ($keys as $i => $key) {
            self::assertTrue($simple->set($key, "value {$i}"));
        }
        foreach ($keys as $i => $key) {
            self::assertSame("value {$i}", $cache->get($key));
            self::assertSame([$key, "value {$i}"], [$pool->getItem($key)->getKey(), $pool->getItem($key)->get()]);
        }
        self::assertSame(array_combine($keys, array_map(static fn(int $i): string => "value {$i}", array_keys($keys))), $cache->getMany($keys));
        self::assertTrue($pool->deleteItem($keys[1]));
        self::assertSame([false, true, true], [$simple->has($keys[1]), $simple->has($keys[0]), $simple->has($keys[2])]);
    }

    public function testAnIllegalTagIsOneClearErrorAndChangesNothing(): void
    {
        $cache = new Cache($this->store());
        $tagged = $this->can(Capability::Tags) ? ['fine'] : [];
        self::assertTrue($cache->set('key', 'old', tags: $tagged));
        foreach (['an empty tag' => '', 'a tag that is too long' => str_repeat('t', Tag::LONGEST + 1), 'a tag that is an int' => 7, 'no tag' => null] as $name => $tag) {
            $tags = ['fine', $tag];
            $this->assertRefuses(InvalidTag::class, $name, [
                'set' => static fn(): mixed => self::call($cache, 'set', 'key', 'new', null, $tags),
                'setMany' => static fn(): mixed => self::call($cache, 'setMany', ['key' => 'new'], null, $tags),
                'add' => static fn(): mixed => self::call($cache, 'add', 'added', 'new', null, $tags),
                'replace' => static fn(): mixed => self::call($cache, 'replace', 'key', 'new', null, $tags),
                'remember' => static fn(): mixed => self::call($cache, 'remember', 'added', static fn(): int => 1, null, $tags),
                'invalidateTags' => static fn(): mixed => self::call($cache, 'invalidateTags', $tags),
            ]);
        }
        self::assertSame(['key' => 'old'], $cache->getMany(['key', 'added']));
    }

    public function testATtlThatIsNegativeDeletesAndOneThatIsAbsurdIsAVeryLongOne(): void
    {
        $cache = new Cache($this->store());
        $simple = new SimpleCache($cache);
        $pool = new CachePool($cache);
        $long = [\PHP_INT_MAX];
        $dead = [0, -1, \PHP_INT_MIN, \DateInterval::createFromDateString('-5 days')];
        foreach (['y', 'm', 'd', 'h', 'i', 's'] as $part) {
            $long[] = $forwards = new \DateInterval('PT0S');
            $forwards->{$part} = \PHP_INT_MAX;
            $dead[] = $backwards = clone $forwards;
            $backwards->invert = 1;
        }
        foreach ($long as $i => $ttl) {
            self::assertTrue($cache->set('key', $i, $ttl));
            self::assertSame($i, $cache->get('key'), "absurd TTL {$i}");
            self::assertTrue($cache->touch('key', $ttl));
            self::assertTrue($simple->set('simple', $i, $ttl));
            self::assertTrue($pool->save($pool->getItem('pool')->set($i)->expiresAfter($ttl)));
            self::assertSame(['key' => $i, 'simple' => $i, 'pool' => $i], $cache->getMany(['key', 'simple', 'pool']), "absurd TTL {$i}");
        }
        foreach ($dead as $i => $ttl) {
            $cache->setMany(['key' => 'old', 'touched' => 'old', 'simple' => 'old', 'pool' => 'old']);
            self::assertTrue($cache->set('key', 'new', $ttl));
            self::assertTrue($cache->touch('touched', $ttl));
            self::assertTrue($simple->set('simple', 'new', $ttl));
            self::assertTrue($pool->save($pool->getItem('pool')->set('new')->expiresAfter($ttl)));
            self::assertSame([], $cache->getMany(['key', 'touched', 'simple', 'pool']), "dead TTL {$i}");
        }
        foreach ([\PHP_INT_MIN => false, -1 => false, \PHP_INT_MAX => true] as $moment => $lives) {
            $cache->set('pool', 'old');
            self::assertTrue($pool->save($pool->getItem('pool')->set('new')->expiresAt(new \DateTimeImmutable("@{$moment}"))));
            self::assertSame($lives ? 'new' : null, $cache->get('pool'), "the moment {$moment}");
        }
    }

    public function testATtlOfTheWrongTypeIsATypeErrorAndChangesNothing(): void
    {
        $cache = new Cache($this->store());
        $simple = new SimpleCache($cache);
        $item = (new CachePool($cache))->getItem('key');
        self::assertTrue($cache->set('key', 'old'));
        foreach (['60', 'tomorrow', 1.5, true, [60], new \DateTimeImmutable('+1 hour')] as $ttl) {
            $this->assertRefuses(\TypeError::class, get_debug_type($ttl), [
                'set' => static fn(): mixed => self::call($cache, 'set', 'key', 'new', $ttl),
                'setMany' => static fn(): mixed => self::call($cache, 'setMany', ['key' => 'new'], $ttl),
                'add' => static fn(): mixed => self::call($cache, 'add', 'added', 'new', $ttl),
                'replace' => static fn(): mixed => self::call($cache, 'replace', 'key', 'new', $ttl),
                'touch' => static fn(): mixed => self::call($cache, 'touch', 'key', $ttl),
                'increment' => static fn(): mixed => self::call($cache, 'increment', 'added', 1, 0, $ttl),
                'remember' => static fn(): mixed => self::call($cache, 'remember', 'added', static fn(): int => 1, $ttl),
                'PSR-16 set' => static fn(): mixed => self::call($simple, 'set', 'key', 'new', $ttl),
                'PSR-16 setMultiple' => static fn(): mixed => self::call($simple, 'setMultiple', ['key' => 'new'], $ttl),
                'PSR-6 expiresAfter' => static fn(): mixed => self::call($item, 'expiresAfter', $ttl),
            ]);
        }
        self::assertSame(['key' => 'old'], $cache->getMany(['key', 'added']));
    }

    /**
     * @param class-string<\Throwable>          $refusal
     * @param array<string, \Closure(): mixed> $calls
     */
    private function assertRefuses(string $refusal, string $input, array $calls): void
    {
        foreach ($calls as $name => $call) {
            try {
                $call();
                self::fail("{$name}() took {$input}.");
            } catch (\PHPUnit\Framework\AssertionFailedError $failure) {
                throw $failure;
            } catch (\Throwable $mistake) {
                self::assertInstanceOf($refusal, $mistake, "{$name}() was given {$input}");
                self::assertNotSame('', $mistake->getMessage());
            }
        }
    }

    /** What code that ignores the types calls. */
    private static function call(object $on, string $method, mixed ...$arguments): mixed
    {
        return $on->{$method}(...$arguments);
    }
}
