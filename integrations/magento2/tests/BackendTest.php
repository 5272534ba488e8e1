<?php

declare(strict_types=1);

namespace Larder\Magento2\Tests;

use Larder\Magento2\Backend;
use Larder\Magento2\SessionHandler;
use Larder\Tests\Scratch;
use Magento\Framework\App\DeploymentConfig;
use Magento\Framework\Component\ComponentRegistrar;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversNothing]
final class BackendTest extends TestCase
{
    /** @return iterable<string, array{int}> */
    public static function numbersOfTags(): iterable
    {
        yield 'few tags' => [2];
        yield 'many tags' => [30];
    }

    #[DataProvider('numbersOfTags')]
    public function testCleaningInOneCacheTypeLeavesTheOthers(int $more): void
    {
        $backend = new Backend(['dsn' => 'array:']);
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
        $backend->save('data', 'menu', ['BLOCK_HTML', 'store', 'cat_c']);
        (new CacheType($backend, 'BLOCK_HTML'))->clean(['store']);
        self::assertFalse($backend->test('menu'));
        $backend->save('data', 'menu', ['BLOCK_HTML', 'store', 'cat_c']);
        $backend->clean('matchingTag', ['cat_c', 'store', 'BLOCK_HTML']);
        self::assertFalse($backend->test('menu'));
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
        $handler = new SessionHandler($config);
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
        new SessionHandler(new DeploymentConfig([]));
    }
}
