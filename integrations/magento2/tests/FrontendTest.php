<?php

declare(strict_types=1);

namespace Larder\Magento2\Tests;

use Larder\Magento2\Backend;
use Larder\Magento2\FrontendFactory;
use Larder\Tests\Pools;
use Magento\Framework\App\Cache\Frontend\Factory;
use Magento\Framework\Cache\Core;
use Magento\Framework\Cache\Frontend\Adapter\Zend;
use Magento\Framework\Filesystem;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversNothing]
final class FrontendTest extends TestCase
{
    private Pools $pools;

    public static function setUpBeforeClass(): void
    {
        require_once __DIR__ . '/Magento.php';
    }

    protected function setUp(): void
    {
        $this->pools = new Pools();
    }

    public function testTheModuleTakesThePlaceOfMagentosFactory(): void
    {
        $xml = simplexml_load_file(__DIR__ . '/../etc/di.xml') ?: self::fail();
        self::assertSame([Factory::class, FrontendFactory::class], [(string) $xml->preference['for'], (string) $xml->preference['type']]);
        self::assertSame([(new \ReflectionClassConstant(FrontendFactory::class, 'OTHERS'))->getValue(), Factory::class], [(string) $xml->virtualType['name'], (string) $xml->virtualType['type']]);
    }

    public function testTheFrontendsOfThePageForUsersAreOverLarder(): void
    {
        $objects = new Objects();
        $factory = new FrontendFactory($objects, new Filesystem(), ['backend_options' => ['namespace' => 'shop']], [['class' => Scope::class, 'parameters' => ['tag' => 'MAGE']], ['class' => Scope::class, 'parameters' => ['tag' => 'deep']]]);
        foreach ([Backend::class, '\\' . Backend::class] as $class) {
            $frontend = $factory->create(['backend' => $class, 'backend_options' => ['dsn' => $this->pools->dsn('SQLite'), 'cache_dir' => 'page_cache'], 'id_prefix' => '69d_']);
            self::assertInstanceOf(Scope::class, $frontend);
            self::assertSame(['deep', 'MAGE'], [$frontend->tag, $frontend->frontend instanceof Scope ? $frontend->frontend->tag : null]);
            $backend = $frontend->getBackend();
            self::assertInstanceOf(Backend::class, $backend);
            self::assertTrue($frontend->save('data', 'global.plugin-list', ['Cat_P_1', 'store.de'], 100));
            self::assertSame(['69d_GLOBAL__PLUGIN_LIST'], $backend->getIds());
            self::assertSame(['69d_CAT_P_1', '69d_STORE__DE'], ($backend->getMetadatas('69d_GLOBAL__PLUGIN_LIST') ?: self::fail())['tags']);
            self::assertSame(['data', true], [$frontend->load('GLOBAL.plugin-list'), \is_int($frontend->test('global.plugin-list'))]);
            self::assertSame([1, 0], [\count($frontend->core()->getIdsMatchingTags(['CAT_P_1'])), \count($frontend->core()->getIdsMatchingTags(['CAT_P_2']))]);
            self::assertTrue($frontend->clean('matchingTag', ['store.de', 'cat_p_1']));
            self::assertFalse($frontend->load('global.plugin-list'));
            $frontend->save('data', 'one');
            self::assertSame([true, false], [$frontend->remove('ONE'), $frontend->remove('ONE')]);
            $frontend->save('data', 'one');
            self::assertTrue($frontend->clean());
            self::assertFalse($frontend->test('one'));
        }
        self::assertSame([], $objects->made);
    }

    public function testAnItemLivesAsLongAsMagentoSays(): void
    {
        $factory = new FrontendFactory(new Objects(), new Filesystem());
        $options = ['backend' => Backend::class, 'backend_options' => ['dsn' => $this->pools->dsn('SQLite')]];
        $prefix = substr(md5('/shop/etc/'), 0, 3) . '_';
        foreach ([[$options, false, 7_200], [['lifetime' => 60] + $options, false, 60], [['frontend_options' => ['lifetime' => 70]] + $options, false, 70], [$options, 50, 50]] as [$of, $lifetime, $seconds]) {
            $frontend = $factory->create($of);
            self::assertTrue($frontend->save('data', 'id', [], $lifetime));
            $backend = $frontend->getBackend();
            self::assertInstanceOf(Backend::class, $backend);
            self::assertEqualsWithDelta(time() + $seconds, ($backend->getMetadatas("{$prefix}ID") ?: self::fail())['expire'], 2);
        }
        $frontend = $factory->create($options);
        $frontend->save('data', 'id');
        $backend = $frontend->getBackend();
        self::assertInstanceOf(Backend::class, $backend);
        self::assertSame(9_999_999_999, ($backend->getMetadatas("{$prefix}ID") ?: self::fail())['expire']);
        self::assertFalse($factory->create(['frontend_options' => ['caching' => false]] + $options)->load('id'));
    }

    public function testMagentoMakesTheOtherFrontendsWithItsOwnFactory(): void
    {
        $objects = new Objects();
        $factory = new FrontendFactory($objects, new Filesystem(), ['lifetime' => 5]);
        foreach ([['backend' => 'redis'], ['backend' => \ArrayObject::class], ['backend' => 'No\Such'], ['backend' => 7], []] as $options) {
            try {
                $factory->create($options);
                self::fail('It was made.');
            } catch (\LogicException $made) {
                self::assertSame('It caches in files: ' . json_encode($options), $made->getMessage());
            }
        }
        self::assertSame([['Larder\Magento2\FactoryOfOthers', []]], $objects->made);
    }

    public function testAWrongOptionEndsTheRequest(): void
    {
        $before = ini_set('error_log', "{$this->pools->path()}/php.log");
        try {
            $this->expectExceptionMessage('did you mean "dsn"?');
            (new FrontendFactory(new Objects(), new Filesystem()))->create(['backend' => Backend::class, 'backend_options' => ['dns' => 'array:']]);
        } finally {
            ini_set('error_log', (string) $before);
        }
    }

    /** What reaches behind a frontend, such as Magento's currencies, asks for these classes or for what they implement. */
    public function testTheFrontendsAreOfMagentosOwnClasses(): void
    {
        $factory = new FrontendFactory(new Objects(), new Filesystem());
        $options = ['backend' => Backend::class, 'backend_options' => ['dsn' => 'array:']];
        $frontend = $factory->create($options);
        self::assertInstanceOf(Zend::class, $frontend);
        self::assertSame(Core::class, $frontend->getLowLevelFrontend()::class);
        self::assertNotSame($frontend->getBackend(), ($frontend->frontendFactory)()->getBackend());
        $own = new class extends Core {};
        self::assertInstanceOf(Zend::class, $frontend = $factory->create(['frontend' => $own::class] + $options));
        self::assertInstanceOf($own::class, $frontend->getLowLevelFrontend());
    }

    /** Its nightly job has frontends clean what is old, and its administration flushes a storage by a method of the backend. */
    public function testMagento249CleansAndFlushesIt(): void
    {
        $factory = new FrontendFactory(new Objects(), new Filesystem(), [], [['class' => Scope::class, 'parameters' => ['tag' => 'MAGE']]]);
        $frontend = $factory->create(['backend' => Backend::class, 'backend_options' => ['dsn' => $this->pools->dsn('SQLite')]]);
        $frontend->save('data', 'page', ['MAGE']);
        self::assertTrue($frontend->clean('old', ['MAGE']));
        self::assertSame('data', $frontend->load('page'));
        $backend = $frontend->getBackend();
        self::assertInstanceOf(Backend::class, $backend);
        self::assertTrue($backend->clear());
        self::assertSame([false, []], [$frontend->load('page'), $backend->getIds()]);
        $this->expectException(\InvalidArgumentException::class);
        $frontend->clean('notMatchingTag', ['MAGE']);
    }

    /** @return iterable<string, array{array<string, mixed>, string}> */
    public static function mistakes(): iterable
    {
        yield 'a frontend that is none' => [['backend' => Backend::class, 'frontend' => \ArrayObject::class], 'The option "frontend"'];
        yield 'a backend that is not there' => [['backend' => 'Larder\Magento2\Backed'], 'take Larder\Magento2\Backend'];
        yield 'the backend of Magento 1' => [['backend' => '\Larder_Cache_Backend'], 'take Larder\Magento2\Backend'];
        yield 'no class' => [['backend' => 'larder'], 'take Larder\Magento2\Backend'];
    }

    /** @param array<string, mixed> $options */
    #[DataProvider('mistakes')]
    public function testAMistakeInEnvPhpEndsTheRequest(array $options, string $says): void
    {
        $this->expectException(\Zend_Cache_Exception::class);
        $this->expectExceptionMessage($says);
        (new FrontendFactory(new Objects(), new Filesystem()))->create($options + ['backend_options' => ['dsn' => 'array:']]);
    }

    public function testADecoratorThatIsNoneIsAnError(): void
    {
        foreach ([[[], 'has no class'], [['class' => \ArrayObject::class], 'ArrayObject is no cache frontend']] as [$decorator, $says]) {
            try {
                (new FrontendFactory(new Objects(), new Filesystem(), [], [$decorator]))->create(['backend' => Backend::class, 'backend_options' => ['dsn' => 'array:']]);
                self::fail('It was made.');
            } catch (\LogicException|\UnexpectedValueException $mistake) {
                self::assertStringContainsString($says, $mistake->getMessage());
            }
        }
    }
}
