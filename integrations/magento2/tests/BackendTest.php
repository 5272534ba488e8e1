<?php

declare(strict_types=1);

namespace Larder\Magento2\Tests;

use Larder\Cache;
use Larder\Magento2\Backend;
use Larder\Magento2\SessionHandler;
use Larder\Tests\Pools;
use Larder\Tests\Scratch;
use Magento\Framework\App\Config\ScopeConfigInterface;
use Magento\Framework\App\DeploymentConfig;
use Magento\Framework\App\State;
use Magento\Framework\Component\ComponentRegistrar;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversNothing]
final class BackendTest extends TestCase
{
    private Pools $pools;

    protected function setUp(): void
    {
        $this->pools = new Pools();
    }

    /** @return iterable<string, array{int, string}> */
    public static function numbersOfTags(): iterable
    {
        foreach (Pools::KINDS as $kind) {
            yield "few tags, {$kind}" => [2, $kind];
            yield "many tags, {$kind}" => [30, $kind];
        }
    }

    #[DataProvider('numbersOfTags')]
    public function testCleaningInOneCacheTypeLeavesTheOthers(int $more, string $kind): void
    {
        $backend = new Backend(['dsn' => $this->pools->dsn($kind)]);
        $pages = new CacheType($backend, 'FPC');
        $blocks = new CacheType($backend, 'BLOCK_HTML');
        $tags = array_map(static fn(int $number): string => "cat_p_{$number}", range(1, $more));
        $fill = static function () use ($pages, $blocks, $tags): void {
            foreach ([$pages, $blocks] as $type) {
                $type->save('product', $tags);
                $type->save('other', ['cat_c_9', ...\array_slice($tags, 1)]);
            }
        };
        $there = static fn(): string => implode(' ', array_map(static fn(CacheType $type): string => (int) $type->has('product') . (int) $type->has('other'), [$pages, $blocks]));
        $fill();
        $pages->clean(['cat_p_1', 'cat_p_absent']);
        self::assertSame('01 11', $there());
        $blocks->clean(['cat_c_9']);
        self::assertSame('01 10', $there());
        $fill();
        $pages->clean(["cat_p_{$more}"]);
        self::assertSame('00 11', $there());
        $fill();
        $blocks->clean();
        self::assertSame('11 00', $there());
        $backend->clean('matchingAnyTag', ['cat_p_1']);
        self::assertSame('01 00', $there());
    }

    public function testItemsThatWereSavedBesideACacheTypeAreCleanedByBothTheirTags(): void
    {
        $backend = new Backend(['dsn' => 'array:']);
        $backend->save('data', 'menu', ['BLOCK_HTML', 'store', 'cat_c', 'MAGE']);
        (new CacheType($backend, 'BLOCK_HTML'))->clean(['store']);
        self::assertFalse($backend->test('menu'));
        $backend->save('data', 'menu', ['BLOCK_HTML', 'store', 'cat_c', 'MAGE']);
        $backend->clean('matchingTag', ['cat_c', 'store', 'BLOCK_HTML']);
        self::assertFalse($backend->test('menu'));
    }

    /** A block saves beside its type. The type's tag comes before those of the products that the block shows. */
    public function testABlockThatShowsManyProductsIsCleanedByEachOfThem(): void
    {
        $backend = new Backend(['dsn' => 'array:']);
        $blocks = new CacheType($backend, 'BLOCK_HTML');
        $products = array_map(static fn(int $number): string => "CAT_P_{$number}", range(1, 10));
        foreach (['CAT_P', ...$products] as $changed) {
            $backend->save('old prices', 'widget', ['CAT_P', 'BLOCK_HTML', 'CMS_B_footer', ...$products, 'MAGE']);
            $backend->save('other products', 'beside', ['BLOCK_HTML', 'CAT_P_11', 'MAGE']);
            $blocks->clean([$changed]);
            self::assertSame([false, true], [$backend->test('widget'), $backend->test('beside') !== false], $changed);
        }
    }

    public function testItemsOfManyTagsAreCleanedByAnyTwoOfThem(): void
    {
        $backend = new Backend(['dsn' => 'array:']);
        $tags = ['CAT_P_1', 'CONFIG', 'CMS_B_footer', 'CAT_P_2', 'STORE', 'CMS_P_7', 'CAT_C_3', 'FPC', 'MAGE'];
        foreach ($tags as $one) {
            foreach (array_diff($tags, [$one]) as $other) {
                $backend->save('data', 'page', $tags);
                $backend->save('data', 'beside', array_values(array_diff($tags, [$other])));
                $backend->clean('matchingTag', array_values(array_unique([$one, $other, 'MAGE'])));
                self::assertSame([false, true], [$backend->test('page'), $backend->test('beside') !== false], "{$one} {$other}");
            }
        }
    }

    /** An item that no frontend of Magento has saved may have all of the tags nevertheless. */
    public function testItemsAreCleanedByTheTagOfFrontendsWhereverTheyHaveIt(): void
    {
        $backend = new Backend(['dsn' => 'array:']);
        $lists = [['LAYOUT', 'handle', 'MAGE'], ['MAGE', 'handle', 'LAYOUT'], ['handle', 'MAGE', 'LAYOUT', 'FPC'], ['LAYOUT', 'MAGE', 'handle', 'HOME_IMAGE']];
        foreach ($lists as $place => $tags) {
            foreach ([['handle', 'MAGE'], ['handle', 'LAYOUT', 'MAGE'], ['MAGE', 'LAYOUT', 'handle'], ['handle', 'LAYOUT'], $tags] as $cleaned) {
                $backend->save('data', 'page', $tags);
                $backend->save('data', 'beside', ['handle', 'LAYOUT_', 'MAGE_']);
                $backend->clean('matchingTag', $cleaned);
                self::assertSame([false, true], [$backend->test('page'), $backend->test('beside') !== false], "{$place} " . implode(' ', $cleaned));
            }
        }
    }

    /** Its frontend puts the prefix before each tag. */
    public function testShopsInOnePlaceCleanTheirOwnItems(): void
    {
        $backend = new class (['dsn' => 'array:']) extends Backend {
            public function getIdsMatchingTags($tags = [])
            {
                throw new \LogicException('It walks.');
            }
        };
        [$first, $second] = [new CacheType($backend, 'FPC', '526_'), new CacheType($backend, 'FPC', '0ab_')];
        foreach ([$first, $second] as $shop) {
            $shop->save('product', ['CAT_P_1']);
        }
        $first->clean(['CAT_P_1']);
        self::assertSame([false, true], [$first->has('product'), $second->has('product')]);
        $second->clean();
        self::assertFalse($second->has('product'));
    }

    /** Such as handles of layouts. Of so many, most are not paired. */
    public function testItemsOfManyTagsThatMayBeThoseOfATypeAreCleanedByAnyTwoOfThem(): void
    {
        $backend = new Backend(['dsn' => 'array:']);
        $tags = ['catalog_product_view', 'CAT_P_1', ...array_map(static fn(string $letter): string => "handle_{$letter}", range('a', 'l')), 'CMS_P_7', 'LAYOUT'];
        $other = ['catalog_product_view', 'CAT_P_1', ...array_map(static fn(string $letter): string => "handle_{$letter}", range('a', 'l')), 'FPC'];
        foreach ($tags as $one) {
            foreach (array_diff($tags, [$one]) as $with) {
                $backend->save('data', 'page', [...$tags, 'MAGE']);
                $backend->save('data', 'few', ['catalog_product_view', 'CAT_P_1', 'handle_a', 'MAGE']);
                $backend->clean('matchingTag', [$one, $with, 'MAGE']);
                self::assertSame([false, array_diff([$one, $with], ['catalog_product_view', 'CAT_P_1', 'handle_a']) !== []], [$backend->test('page'), $backend->test('few') !== false], "{$one} {$with}");
            }
            $backend->save('data', 'page', [...$tags, 'MAGE']);
            $backend->save('data', 'elsewhere', [...$other, 'MAGE']);
            (new CacheType($backend, 'LAYOUT'))->clean([$one]);
            self::assertSame([false, true], [$backend->test('page'), $backend->test('elsewhere') !== false], $one);
        }
    }

    public function testTwiceAsManyTagsOfAnItemTakeTwiceAsManyFurtherTags(): void
    {
        $backend = new class (['dsn' => 'array:']) extends Backend {
            /** @param list<string> $tags */
            public function tagsOf(array $tags): int
            {
                return \count($this->larderTags($tags));
            }
        };
        $handles = static fn(int $count): array => [...array_map(static fn(int $number): string => "handle_{$number}_", range(1, $count)), 'MAGE'];
        self::assertLessThanOrEqual(2 * $backend->tagsOf($handles(200)), $backend->tagsOf($handles(400)) - 100);
    }

    /** Its tag is that of the pair: no walk over the ids could find an item here, as the store lists none. */
    public function testCleaningByATagInAScopeWalksOverNothing(): void
    {
        $backend = new class (['dsn' => 'array:']) extends Backend {
            public function getIdsMatchingTags($tags = [])
            {
                throw new \LogicException('It walks.');
            }
        };
        $pages = new CacheType($backend, 'FPC');
        $pages->save('product', array_map(static fn(int $number): string => "cat_p_{$number}", range(1, 40)));
        $pages->clean(['cat_p_17']);
        self::assertFalse($pages->has('product'));
    }

    /** The tags of a page are those of all that it shows; the page goes with any of them, and no other page does. */
    public function testPagesAreCleanedByAnyOfTheTagsOfTheChanged(): void
    {
        $pages = new CacheType(new Backend(['dsn' => $this->pools->dsn('shared memory'), 'namespace' => 'pages']), 'FPC');
        foreach (['home' => ['cms_p_1', 'cat_p_1', 'cat_p_2'], 'shirt' => ['cat_p_1', 'cat_c_3'], 'hat' => ['cat_p_2', 'cat_c_3']] as $page => $tags) {
            $pages->save($page, $tags);
        }
        $pages->clean(['cat_p_1', 'cat_p_9']);
        self::assertSame([false, false, true], [$pages->has('home'), $pages->has('shirt'), $pages->has('hat')]);
    }

    /** What RemoteSynchronizedCache is for: each host reads from its own memory, and its next request sees what another host has saved or cleaned. */
    public function testATierSynchronizesHosts(): void
    {
        $far = $this->pools->dsn('SQLite');
        $hosts = bin2hex(random_bytes(4));
        $first = static fn(): Backend => new Backend(['dsn' => "apcu:?prefix={$hosts}-1 > {$far}"]);
        $second = static fn(): Backend => new Backend(['dsn' => "apcu:?prefix={$hosts}-2 > {$far}"]);
        self::assertTrue($first()->save('one', 'config', ['CONFIG']));
        self::assertSame('one', $second()->load('config'));
        self::assertSame('one', $first()->load('config'));
        self::assertTrue($second()->save('two', 'config', ['CONFIG']));
        self::assertSame('two', $first()->load('config'));
        $first()->clean('matchingTag', ['CONFIG']);
        self::assertFalse($second()->load('config'));
        $first()->save('three', 'config', ['CONFIG', 'eav']);
        self::assertSame('three', $second()->load('config'));
        self::assertTrue($second()->remove('config'));
        self::assertFalse($first()->test('config'));
    }

    /** Magento's factory gives each backend the options of its default one as well, in all versions to 2.4.9. */
    public function testTheBackendsOfThePageForUsersAreMadeAsMagentoMakesThem(): void
    {
        preg_match('/^## Magento 2\n.*?^```\n(.*?)^```$/ms', (string) file_get_contents(__DIR__ . '/../../../docs/magento.md'), $block);
        $php = str_replace(['redis://cache.internal/1', 'redis://cache.internal', 'redis://sessions.internal'], $this->pools->dsn('SQLite'), $block[1] ?? '');
        /** @var array{cache: array{frontend: array<string, array{backend: class-string<Backend>, backend_options: array<string, mixed>}>}, session: array<string, mixed>} */
        $environment = eval("return [{$php}];");
        self::assertSame(['default', 'page_cache'], array_keys($environment['cache']['frontend']));
        foreach ($environment['cache']['frontend'] as $frontend) {
            $backend = new $frontend['backend']($frontend['backend_options'] + ['hashed_directory_level' => 1, 'file_name_prefix' => 'mage', 'cache_dir' => $this->pools->path()]);
            self::assertTrue($backend->save('data', 'id', ['A']));
            self::assertSame('data', $backend->load('id'));
        }
    }

    /** Magento swallows the exception and caches in files. */
    public function testAWrongConfigurationIsInTheLogOfPhp(): void
    {
        $log = "{$this->pools->path()}/php.log";
        $before = ini_set('error_log', $log);
        try {
            new Backend(['dns' => 'array:', 'file_name_prefix' => 'mage']);
            self::fail('It was made.');
        } catch (\Zend_Cache_Exception $mistake) {
            self::assertStringContainsString('did you mean "dsn"?', $mistake->getMessage());
        } finally {
            ini_set('error_log', (string) $before);
        }
        self::assertStringContainsString('did you mean "dsn"?', (string) file_get_contents($log));
    }

    public function testTheModuleIsRegisteredWithASessionHandler(): void
    {
        require_once __DIR__ . '/Magento.php';
        require __DIR__ . '/../registration.php';
        self::assertSame(realpath(__DIR__ . '/..'), ComponentRegistrar::$modules['module Larder_Cache'] ?? null);
        $xml = simplexml_load_file(__DIR__ . '/../etc/di.xml');
        self::assertInstanceOf(\SimpleXMLElement::class, $xml);
        self::assertSame(SessionHandler::class, (string) $xml->type->arguments->argument->item);
        self::assertSame('Larder_Cache', (string) (simplexml_load_file(__DIR__ . '/../etc/module.xml') ?: self::fail())->module['name']);
    }

    public function testSessionsAreKeptWhereEnvPhpSays(): void
    {
        require_once __DIR__ . '/Magento.php';
        $scratch = new Scratch();
        $config = new DeploymentConfig(['session/larder/dsn' => "sqlite:{$scratch->path}/sessions.db"]);
        $handler = self::handler($config);
        self::assertTrue($handler->open('', ''));
        self::assertSame('', $handler->read('abc'));
        self::assertTrue($handler->write('abc', 'data'));
        self::assertTrue($handler->close());
        self::assertTrue($handler->validateId('abc'));
        self::assertSame('data', $handler->read('abc'));
        self::assertTrue($handler->updateTimestamp('abc', 'data'));
        self::assertTrue($handler->destroy('abc'));
        $handler->close();
        self::assertFalse($handler->validateId('abc'));
        self::assertNotFalse($handler->gc(1));
        $this->expectExceptionMessage('set session/larder/dsn in app/etc/env.php');
        self::handler(new DeploymentConfig([]));
    }

    public function testASessionThatCannotBeReadIsNoEmptyOne(): void
    {
        require_once __DIR__ . '/Magento.php';
        $handler = self::handler(new DeploymentConfig(['session/larder/dsn' => "redis+unix:{$this->pools->path()}/nobody.sock?timeout=1"]));
        self::assertTrue($handler->open('', ''));
        $before = ini_set('error_log', "{$this->pools->path()}/php.log");
        try {
            $handler->read('abc');
            self::fail('It began.');
        } catch (\RuntimeException $failure) {
            self::assertStringContainsString('The session cannot be read', $failure->getMessage());
        } finally {
            ini_set('error_log', (string) $before);
        }
    }

    /** @return iterable<string, array{string, int}> */
    public static function lifetimes(): iterable
    {
        yield 'a customer' => ['frontend', 7200];
        yield 'the administration' => ['adminhtml', 86400];
    }

    #[DataProvider('lifetimes')]
    public function testASessionLivesAsLongAsMagentoSays(string $area, int $seconds): void
    {
        require_once __DIR__ . '/Magento.php';
        $dsn = $this->pools->dsn('SQLite');
        $before = time();
        $handler = self::handler(new DeploymentConfig(['session/larder/dsn' => $dsn]), $area, ['store web/cookie/cookie_lifetime' => '7200', 'default admin/security/session_lifetime' => '86400']);
        self::assertTrue($handler->open('', ''));
        self::assertSame('', $handler->read('abc'));
        self::assertTrue($handler->write('abc', 'data'));
        self::assertTrue($handler->close());
        $expiry = Cache::open($dsn)->fetch(['session:abc'])->items['session:abc']->expiry ?? 0;
        self::assertGreaterThanOrEqual($before + $seconds, $expiry);
        self::assertLessThanOrEqual(time() + $seconds + 1, $expiry);
    }

    /** @param array<string, string> $settings by scope and path */
    private static function handler(DeploymentConfig $config, string $area = 'frontend', array $settings = []): SessionHandler
    {
        $shop = new class ($settings) implements ScopeConfigInterface {
            /** @param array<string, string> $settings */
            public function __construct(
                private readonly array $settings,
            ) {}

            public function getValue($path, $scopeType = 'default', $scopeCode = null): ?string
            {
                return $this->settings["{$scopeType} {$path}"] ?? null;
            }
        };

        return new SessionHandler($config, $shop, new State($area));
    }
}
