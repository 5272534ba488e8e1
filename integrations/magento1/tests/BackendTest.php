<?php

declare(strict_types=1);

namespace Larder\Magento1\Tests;

use Larder\Cache;
use Larder\Cache\Lookout;
use Larder\Exception\StoreUnavailable;
use Larder\Store\ChaosStore;
use Larder\Tests\Pools;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Psr\Log\NullLogger;

#[CoversNothing]
final class BackendTest extends TestCase
{
    private Pools $pools;

    protected function setUp(): void
    {
        $this->pools = new Pools();
    }

    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        foreach (Pools::KINDS as $kind) {
            yield $kind => [$kind];
        }
    }

    #[DataProvider('kinds')]
    public function testAnItemIsLoadedTestedAndRemoved(string $kind): void
    {
        $backend = $this->backend($kind);
        self::assertFalse($backend->load('MAGE_config'));
        self::assertFalse($backend->test('MAGE_config'));
        self::assertFalse($backend->remove('MAGE_config'));
        self::assertFalse($backend->getMetadatas('MAGE_config'));
        self::assertFalse($backend->touch('MAGE_config', 10));
        foreach (['MAGE_config' => 'data', '7' => '', 'chunk[0]' => "\0\xff", '__' => str_repeat('x', 100_000)] as $id => $data) {
            self::assertTrue($backend->save($data, (string) $id, ['A', 'B']));
            self::assertSame($data, $backend->load((string) $id));
            self::assertEqualsWithDelta(time(), $backend->test((string) $id), 2);
        }
        self::assertEqualsCanonicalizing(['MAGE_config', '7', 'chunk[0]', '__'], $backend->getIds());
        self::assertTrue($backend->remove('7'));
        self::assertFalse($backend->remove('7'));
        self::assertFalse($backend->load('7'));
    }

    /** Whatever lies near, the far store has the end of an item as it was given. */
    public function testOverATierMetadataTakesOneReadOfTheFarStore(): void
    {
        $class = new \ReflectionClass(\Larder_Cache_Backend::class);
        $backend = $class->newInstanceWithoutConstructor();
        $cache = new Cache($chaos = new ChaosStore(), logger: new NullLogger());
        foreach (['larder' => $cache, 'lookout' => Lookout::of($cache), 'prefix' => ''] as $property => $value) {
            $class->getProperty($property)->setValue($backend, $value);
        }
        self::assertTrue($backend->save('x', 'id', ['A'], 100));
        $chaos->calls = [];
        self::assertIsArray($backend->getMetadatas('id'));
        self::assertSame(['fetch'], $chaos->calls);
        self::assertFalse($backend->getMetadatas(''));
        $chaos->isDown = true;
        self::assertFalse($backend->remove('id'));
        self::assertFalse($backend->getMetadatas('id'));
        $chaos->before = static fn(string $call) => $call === 'delete' ? throw StoreUnavailable::because('The store', 'deletes nothing', 'wait') : null;
        $chaos->isDown = false;
        self::assertFalse($backend->getMetadatas('id'), 'The store has not been told of the removal.');
    }

    public function testRemovingAnItemReadsNone(): void
    {
        $backend = $this->backend('shared memory');
        $reads = function (): int {
            $statistics = $this->pools->open('shared memory')->statistics();

            return ($statistics->hits ?? 0) + ($statistics->misses ?? 0);
        };
        $backend->save('x', 'id');
        $before = $reads();
        self::assertSame([true, false], [$backend->remove('id'), $backend->remove('id')]);
        self::assertSame($before, $reads());
    }

    #[DataProvider('kinds')]
    public function testALifetimeIsThatOfTheItemOrOfTheFrontend(string $kind): void
    {
        $backend = $this->backend($kind);
        $expiry = static fn(string $id): mixed => ($backend->getMetadatas($id) ?: [])['expire'] ?? null;
        $backend->save('x', 'default');
        self::assertEqualsWithDelta(time() + 3_600, $expiry('default'), 2);
        $backend->setDirectives(['lifetime' => 100]);
        foreach (['false' => false, 'word' => 'false'] as $id => $lifetime) {
            $backend->save('x', $id, [], $lifetime);
            self::assertEqualsWithDelta(time() + 100, $expiry($id), 2);
        }
        $backend->save('x', 'own', [], 50);
        $backend->save('x', 'text', [], '50');
        self::assertEqualsWithDelta(time() + 50, $expiry('own'), 2);
        self::assertEqualsWithDelta(time() + 50, $expiry('text'), 2);
        $backend->save('x', 'infinite', [], null);
        self::assertSame(9_999_999_999, $expiry('infinite'));
        $backend->setDirectives(['lifetime' => null]);
        $backend->save('x', 'infinite by the frontend');
        self::assertSame(9_999_999_999, $expiry('infinite by the frontend'));
        $backend->save('x', 'over');
        self::assertTrue($backend->save('x', 'over', [], 0));
        self::assertTrue($backend->save('x', 'past', [], -5));
        self::assertFalse($backend->test('over'));
        self::assertFalse($backend->test('past'));
        $before = $expiry('own');
        self::assertIsInt($before);
        self::assertTrue($backend->touch('own', 30));
        self::assertSame($before + 30, $expiry('own'));
        self::assertTrue($backend->touch('infinite', 30));
        self::assertSame(9_999_999_999, $expiry('infinite'));
    }

    /** As with all of Zend's own backends. */
    public function testATouchIsTheTimeOfTheLastChange(): void
    {
        $backends = array_map(fn(string $kind): \Larder_Cache_Backend => $this->backend($kind, ['namespace' => hash('crc32', $kind)]), Pools::KINDS);
        $before = time();
        foreach ($backends as $backend) {
            $backend->save('data', 'ends', ['A', 'B'], 100);
            $backend->save('data', 'infinite', ['A'], null);
        }
        usleep(2_100_000);
        foreach ($backends as $number => $backend) {
            $kind = Pools::KINDS[$number];
            foreach (['ends' => ['A', 'B'], 'infinite' => ['A']] as $id => $tags) {
                self::assertTrue($backend->touch($id, 50), $kind);
                self::assertGreaterThan($before + 1, $backend->test($id), $kind);
                $metadata = $backend->getMetadatas($id);
                self::assertIsArray($metadata);
                self::assertSame([$backend->test($id), $tags], [$metadata['mtime'], $metadata['tags']], $kind);
                self::assertSame('data', $backend->load($id), $kind);
            }
            self::assertTrue($backend->clean(\Zend_Cache::CLEANING_MODE_MATCHING_ANY_TAG, ['B']), $kind);
            self::assertSame(['infinite'], $backend->getIds(), $kind);
            self::assertFalse($backend->touch('ends', 50), $kind);
        }
    }

    public function testWhatIsNoIdHasNoItem(): void
    {
        $backend = $this->backend('files');
        foreach (['', str_repeat('x', 70_000)] as $id) {
            self::assertFalse($backend->save('data', $id));
            self::assertSame([false, false, false, false, false], [$backend->load($id), $backend->test($id), $backend->getMetadatas($id), $backend->touch($id, 10), $backend->remove($id)]);
        }
    }

    #[DataProvider('kinds')]
    public function testCleaningRemovesWhatItsModeSays(string $kind): void
    {
        $backend = $this->backend($kind);
        $left = static function (string $mode, array|string $tags) use ($backend): string {
            foreach (['a' => ['A'], 'ab' => ['A', 'B'], 'bc' => ['B', 'C'], 'none' => []] as $id => $its) {
                $backend->save($id, $id, $its);
            }
            self::assertTrue($backend->clean($mode, $tags));
            $ids = $backend->getIds();
            sort($ids);

            return implode(' ', $ids);
        };
        self::assertSame('bc none', $left('matchingTag', ['A']));
        self::assertSame('bc none', $left('matchingTag', 'A'));
        self::assertSame('a bc none', $left('matchingTag', ['A', 'B']));
        self::assertSame('a ab bc none', $left('matchingTag', ['A', 'C']));
        self::assertSame('', $left('matchingTag', []));
        self::assertSame('a none', $left('matchingAnyTag', ['C', 'B']));
        self::assertSame('bc none', $left('matchingAnyTag', 'A'));
        self::assertSame('a ab bc none', $left('matchingAnyTag', []));
        self::assertSame('a ab', $left('notMatchingTag', ['A']));
        self::assertSame('a ab bc', $left('notMatchingTag', ['A', 'C']));
        self::assertSame('', $left('notMatchingTag', []));
        self::assertSame('a ab bc none', $left('old', []));
        self::assertSame('', $left('all', ['A']));
        $this->expectException(\Zend_Cache_Exception::class);
        $this->expectExceptionMessage('Invalid mode for clean() method');
        $backend->clean('other');
    }

    #[DataProvider('kinds')]
    public function testTheIdsAndTagsAreListed(string $kind): void
    {
        $backend = $this->backend($kind);
        self::assertSame([[], []], [$backend->getIds(), $backend->getTags()]);
        foreach (['a' => ['A'], 'ab' => ['A', 'B', 'A'], 'bc' => ['B', '7'], 'none' => []] as $id => $tags) {
            $backend->save($id, $id, $tags);
        }
        self::assertEqualsCanonicalizing(['A', 'B', '7'], $backend->getTags());
        self::assertEqualsCanonicalizing(['ab'], $backend->getIdsMatchingTags(['A', 'B']));
        self::assertEqualsCanonicalizing(['a', 'ab', 'bc', 'none'], $backend->getIdsMatchingTags());
        self::assertEqualsCanonicalizing(['ab', 'bc'], $backend->getIdsMatchingAnyTags(['B', '7']));
        self::assertSame([], $backend->getIdsMatchingAnyTags());
        self::assertEqualsCanonicalizing(['none'], $backend->getIdsNotMatchingTags(['A', '7']));
        self::assertEqualsCanonicalizing(['a', 'ab', 'bc', 'none'], $backend->getIdsNotMatchingTags());
        $metadata = $backend->getMetadatas('ab');
        self::assertIsArray($metadata);
        self::assertSame(['A', 'B'], $metadata['tags']);
        self::assertEqualsWithDelta(time(), $metadata['mtime'], 2);
        self::assertSame(
            ['automatic_cleaning' => false, 'tags' => true, 'expired_read' => false, 'priority' => false, 'infinite_lifetime' => true, 'get_list' => true],
            $backend->getCapabilities(),
        );
        $percentage = $backend->getFillingPercentage();
        self::assertTrue($percentage >= 0 && $percentage <= 100);
    }

    public function testWhatHasExpiredIsAbsentInEachWay(): void
    {
        $backends = array_map(fn(string $kind): \Larder_Cache_Backend => $this->backend($kind, ['namespace' => hash('crc32', $kind)]), Pools::KINDS);
        foreach ($backends as $backend) {
            $backend->save('short', 'short', ['A'], 1);
            $backend->save('long', 'long', ['A'], 100);
        }
        usleep(2_100_000);
        foreach ($backends as $number => $backend) {
            $kind = Pools::KINDS[$number];
            self::assertSame(['long'], $backend->getIds(), $kind);
            self::assertSame(['long'], $backend->getIdsMatchingTags(['A']), $kind);
            self::assertFalse($backend->load('short'), $kind);
            self::assertFalse($backend->test('short'), $kind);
            self::assertFalse($backend->getMetadatas('short'), $kind);
            self::assertFalse($backend->touch('short', 100), $kind);
            self::assertFalse($backend->remove('short'), $kind);
            self::assertTrue($backend->clean(\Zend_Cache::CLEANING_MODE_OLD), $kind);
            self::assertSame('long', $backend->load('long'), $kind);
            self::assertTrue($backend->touch('long', -200), $kind);
            self::assertFalse($backend->test('long'), $kind);
        }
    }

    /** A frontend of Zend asks a backend these before it saves or lists. */
    public function testItSaysWhatItCanDo(): void
    {
        $backend = $this->backend('SQLite');
        self::assertFalse($backend->isAutomaticCleaningAvailable());
        self::assertInstanceOf(\Zend_Cache_Backend_ExtendedInterface::class, $backend);
        // A full pool of shared memory says how full it is; a store without a bound is never full.
        $memory = $this->backend('shared memory');
        $page = random_bytes(100_000);
        for ($number = 0; $number < 100; $number++) {
            $memory->save($page, "page_{$number}");
        }
        self::assertGreaterThan(20, $memory->getFillingPercentage());
        self::assertSame(0, $backend->getFillingPercentage());
    }

    /** A file of PHP has it as a number. A backend that took that for none would clean all that is beside it. */
    public function testANamespaceMayBeANumber(): void
    {
        $dsn = $this->pools->dsn('SQLite');
        $whole = new \Larder_Cache_Backend(['dsn' => $dsn]);
        $shop = new \Larder_Cache_Backend(['dsn' => $dsn, 'namespace' => 5]);
        $whole->save('x', 'id');
        self::assertFalse($shop->test('id'));
        self::assertTrue($shop->clean('all'));
        self::assertSame('x', $whole->load('id'));
    }

    /** More than are looked at in one round trip, and more tags than one page of a shop has. */
    public function testManyItemsAreWalkedThrough(): void
    {
        $backend = $this->backend('SQLite');
        for ($number = 0; $number < 1_203; $number++) {
            $backend->save('x', "id{$number}", ['all', 'page' . $number % 3]);
        }
        self::assertCount(1_203, $backend->getIds());
        self::assertCount(401, $backend->getIdsMatchingTags(['all', 'page1']));
        self::assertTrue($backend->clean('matchingTag', ['all', 'page1']));
        self::assertCount(802, $backend->getIds());
        self::assertTrue($backend->clean('notMatchingTag', ['page2']));
        self::assertCount(401, $backend->getIds());
    }

    public function testANamespaceIsCleanedAlone(): void
    {
        $whole = $this->backend('SQLite');
        $shop = $this->backend('SQLite', ['namespace' => 'shop']);
        $other = $this->backend('SQLite', ['namespace' => 'other']);
        $tags = ['A', str_repeat('t', 250)];
        foreach ([['all', []], ['matchingTag', ['A']], ['matchingTag', $tags], ['matchingAnyTag', [$tags[1]]], ['notMatchingTag', ['B']]] as [$mode, $cleaned]) {
            foreach ([$shop, $other] as $backend) {
                $backend->save('x', 'id', $tags);
            }
            self::assertSame(['id'], $shop->getIds());
            self::assertTrue($shop->clean($mode, $cleaned));
            self::assertFalse($shop->test('id'), $mode);
            self::assertNotFalse($other->test('id'), $mode);
        }
        $whole->clean();
        self::assertFalse($other->test('id'));
    }

    public function testWhatWasComputedBeforeACleanIsNotKeptAndWhatOthersSavedStays(): void
    {
        $mine = $this->backend('SQLite');
        $yours = $this->backend('SQLite');
        self::assertFalse($mine->load('block'));
        $yours->clean('matchingAnyTag', ['product_7']);
        self::assertFalse($mine->save('outdated', 'block', ['product_7']) && $mine->test('block') !== false);
        self::assertFalse($yours->load('block'));
        self::assertFalse($mine->load('menu'));
        $yours->save('newer', 'menu');
        self::assertTrue($mine->save('older', 'menu'));
        self::assertSame('newer', $yours->load('menu'));
    }

    /** It removes what it could not save, and what is not what it has just saved. */
    public function testZendsFrontendRemovesNothingThatOthersHaveSaved(): void
    {
        [$mine, $yours] = [$this->backend('SQLite'), $this->backend('SQLite')];
        self::assertFalse($mine->load('menu'));
        $yours->save('newer', 'menu');
        self::assertTrue(self::saveAsZendsFrontendDoes($mine, 'older', 'menu'));
        self::assertSame('newer', $yours->load('menu'));
        self::assertSame('newer', $mine->load('menu', true));
    }

    /** A removal would refuse what each of those computes that have missed the item before. So under load an item would never be kept again. */
    public function testOneCleaningUnderLoadRefusesOnlyWhatWasComputedBeforeIt(): void
    {
        $processes = array_map(fn(): \Larder_Cache_Backend => $this->backend('SQLite'), range(0, 3));
        [$late, $later, $first, $second] = $processes;
        self::assertFalse($late->load('page'));
        self::assertFalse($later->load('page'));
        $this->backend('SQLite')->clean('matchingAnyTag', ['product_7']);
        self::assertFalse($first->load('page'));
        self::assertFalse($second->load('page'));
        self::assertTrue(self::saveAsZendsFrontendDoes($late, 'outdated', 'page', ['product_7']));
        self::assertFalse($this->backend('SQLite')->load('page'));
        self::assertTrue(self::saveAsZendsFrontendDoes($first, 'fresh', 'page', ['product_7']));
        self::assertTrue(self::saveAsZendsFrontendDoes($later, 'outdated', 'page', ['product_7']));
        self::assertSame('fresh', $this->backend('SQLite')->load('page'));
        self::assertTrue(self::saveAsZendsFrontendDoes($second, 'as fresh', 'page', ['product_7']));
        self::assertSame('as fresh', $this->backend('SQLite')->load('page'));
    }

    public function testWhatHasNoRoomIsNotSaved(): void
    {
        $backend = new \Larder_Cache_Backend(['dsn' => 'array:?size=1M']);
        self::assertFalse($backend->save(random_bytes(2 << 20), 'large'));
        self::assertFalse($backend->load('large', true));
    }

    /** Such as a consumer of Magento's queues. */
    public function testAProcessThatRunsForLongSeesWhatOthersHaveCleaned(): void
    {
        $options = ['dsn' => "array: > {$this->pools->dsn('SQLite')}"];
        foreach ([$options, ['namespace' => 'shop'] + $options] as $of) {
            $consumer = new \Larder_Cache_Backend($of);
            $shop = new \Larder_Cache_Backend($of);
            foreach (['load', 'test'] as $read) {
                $shop->save('block', 'block', ['product_7']);
                usleep(1_100_000);
                self::assertNotFalse($consumer->{$read}('block'));
                $shop->clean('matchingAnyTag', ['product_7']);
                $answers = [];
                for ($tries = 0; $tries < 30 && !\in_array(false, $answers, true); $tries++) {
                    usleep(100_000);
                    $answers[] = $consumer->{$read}('block');
                }
                self::assertContains(false, $answers);
            }
        }
    }

    public function testALongTagIsATag(): void
    {
        $backend = $this->backend('array');
        $backend->save('x', 'id', [$tag = str_repeat('t', 1_000)]);
        self::assertSame([$tag], $backend->getTags());
        $backend->clean('matchingAnyTag', [$tag]);
        self::assertFalse($backend->test('id'));
    }

    /** @return iterable<string, array{array<string, mixed>, string}> */
    public static function mistakes(): iterable
    {
        yield 'no place' => [[], 'needs the option "dsn"'];
        yield 'a wrong word' => [['dns' => 'array:'], 'did you mean "dsn"?'];
        yield 'another wrong word' => [['dsn' => 'array:', 'prefix' => 'x'], 'The option "prefix" of Larder_Cache_Backend is unknown; use one of: dsn, namespace.'];
        yield 'no DSN' => [['dsn' => 'nowhere'], 'nowhere'];
        yield 'a namespace that is no name' => [['dsn' => 'array:', 'namespace' => ['shop']], 'The option "namespace" of Larder_Cache_Backend is no name'];
        yield 'no namespace' => [['dsn' => 'array:', 'namespace' => 'a b'], 'The namespace "a b" cannot be used'];
        yield 'a store that lists nothing' => [['dsn' => 'memcached://127.0.0.1'], $unlisted = 'The option "dsn" of Larder_Cache_Backend names no place for it: MemcachedStore cannot list its keys; take another, such as "shm:name", "sqlite:/path" or "redis://host:port".'];
        yield 'a tier over a store that lists nothing' => [['dsn' => 'apcu: > memcached://127.0.0.1'], 'has no log that a near store could follow'];
        yield 'a part of a store that lists nothing' => [['dsn' => 'memcached://127.0.0.1', 'namespace' => 'shop'], $unlisted];
        yield 'a wrong word of the DSN' => [['dsn' => 'array:?itmes=5'], 'did you mean "items"'];
    }

    /** @param array<string, mixed> $options */
    #[DataProvider('mistakes')]
    public function testAWrongConfigurationIsRefusedWhenItIsMade(array $options, string $message): void
    {
        $this->expectException(\Zend_Cache_Exception::class);
        $this->expectExceptionMessage($message);
        new \Larder_Cache_Backend($options);
    }

    public function testAStoreThatFailsIsMissesAndFalse(): void
    {
        mkdir("{$this->pools->path()}/closed");
        $backend = new \Larder_Cache_Backend(['dsn' => 'redis+unix:' . $this->pools->path() . '/nobody.sock?timeout=1']);
        self::assertFalse($backend->load('id'));
        self::assertFalse($backend->test('id'));
        self::assertFalse($backend->save('x', 'id', ['A']));
        self::assertFalse($backend->remove('id'));
        foreach (['all', 'old', 'matchingTag', 'matchingAnyTag'] as $mode) {
            self::assertFalse($backend->clean($mode, ['A']));
        }
        self::assertSame([], $backend->getIds());
        self::assertSame(0, $backend->getFillingPercentage());
        self::assertFalse($backend->getMetadatas('id'));
    }

    /** @param array<string, string> $options */
    private function backend(string $kind, array $options = []): \Larder_Cache_Backend
    {
        return new \Larder_Cache_Backend($options + ['dsn' => $this->pools->dsn($kind)]);
    }

    /** @param list<string> $tags */
    private static function saveAsZendsFrontendDoes(\Larder_Cache_Backend $backend, string $data, string $id, array $tags = []): bool
    {
        if ($backend->save($data, $id, $tags) && $backend->load($id, true) === $data) {
            return true;
        }
        $backend->remove($id);

        return false;
    }
}
