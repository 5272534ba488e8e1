<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use PhpParser\Node\Param;
use PhpParser\Node\Stmt\Function_;
use PhpParser\NodeFinder;
use PhpParser\ParserFactory;
use PhpParser\PrettyPrinter\Standard;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What WordPress's documentation says of each function of its object cache, in a network. */
#[CoversNothing]
final class FunctionsTest extends TestCase
{
    private static Site $site;

    public static function setUpBeforeClass(): void
    {
        self::$site = new Site(isNetwork: true);
        self::$site->activate();
    }

    public static function tearDownAfterClass(): void
    {
        self::$site->removePool();
    }

    /** @return iterable<string, list<array{string, string}>> the function => its requests: expressions, and what they are in JSON */
    private static function promises(): iterable
    {
        yield 'wp_cache_init' => [
            ['wp_cache_set("key", "stored", "init"), wp_cache_init(), $GLOBALS["wp_object_cache"] instanceof WP_Object_Cache, wp_cache_get("key", "init")', '[true,null,true,"stored"]'],
        ];
        yield 'wp_cache_add' => [
            ['wp_cache_add("key", 1, "add"), wp_cache_add("key", 2, "add"), wp_cache_get("key", "add")', '[true,false,1]'],
            ['wp_cache_add("key", 3, "add"), wp_cache_get("key", "add"), wp_suspend_cache_addition(true), wp_cache_add("other", 4, "add")', '[false,1,true,false]'],
        ];
        yield 'wp_cache_add_multiple' => [
            ['wp_cache_set("b", 1, "adds"), wp_cache_add_multiple(["a" => 2, "b" => 2], "adds")', '[true,{"a":true,"b":false}]'],
            ['wp_cache_get_multiple(["a", "b"], "adds")', '[{"a":2,"b":1}]'],
        ];
        yield 'wp_cache_replace' => [
            ['wp_cache_replace("key", 1, "replace"), wp_cache_get("key", "replace"), wp_cache_set("key", 2, "replace")', '[false,false,true]'],
            ['wp_cache_replace("key", 3, "replace"), wp_cache_get("key", "replace")', '[true,3]'],
            ['wp_cache_get("key", "replace")', '[3]'],
        ];
        yield 'wp_cache_set' => [
            ['wp_cache_set("key", ["a" => null], "set"), wp_cache_set("key", ["a" => false], "set"), wp_cache_set("", 1, "set"), wp_cache_set("of default", 1), wp_cache_set("gone", 1, "set", -1)', '[true,true,false,true,true]'],
            ['wp_cache_get("key", "set"), wp_cache_get("of default", "default"), wp_cache_get("gone", "set")', '[{"a":false},1,false]'],
        ];
        yield 'wp_cache_set_multiple' => [
            ['wp_cache_set_multiple(["a" => 1, 7 => 2], "sets")', '[{"a":true,"7":true}]'],
            ['wp_cache_get("a", "sets"), wp_cache_get(7, "sets"), wp_cache_get("7", "sets")', '[1,2,2]'],
        ];
        yield 'wp_cache_get' => [
            ['wp_cache_set("false", false, "get"), wp_cache_get("false", "get", false, $found), $found, wp_cache_get("absent", "get", false, $found), $found', '[true,false,true,false,false]'],
            ['wp_cache_get("false", "get", true, $found), $found, wp_cache_get("absent", "get", true, $found), $found', '[false,true,false,false]'],
        ];
        yield 'wp_cache_get_multiple' => [
            ['wp_cache_set("a", 1, "gets"), wp_cache_get_multiple(["b", "a"], "gets")', '[true,{"b":false,"a":1}]'],
            ['wp_cache_get_multiple(["a", "b"], "gets"), wp_cache_get_multiple(["a", "b"], "gets", true), wp_cache_get_multiple([], "gets")', '[{"a":1,"b":false},{"a":1,"b":false},[]]'],
        ];
        yield 'wp_cache_delete' => [
            ['wp_cache_delete("key", "delete"), wp_cache_set("key", 1, "delete")', '[false,true]'],
            ['wp_cache_delete("key", "delete"), wp_cache_delete("key", "delete"), wp_cache_get("key", "delete")', '[true,false,false]'],
            ['wp_cache_get("key", "delete")', '[false]'],
        ];
        yield 'wp_cache_delete_multiple' => [
            ['wp_cache_set_multiple(["a" => 1, "b" => 2], "deletes")', '[{"a":true,"b":true}]'],
            ['wp_cache_delete_multiple(["a", "absent"], "deletes"), wp_cache_get_multiple(["a", "b"], "deletes")', '[{"a":true,"absent":false},{"a":false,"b":2}]'],
        ];
        yield 'wp_cache_incr' => [
            ['wp_cache_incr("key", 1, "incr"), wp_cache_set("key", 1, "incr"), wp_cache_incr("key", 1, "incr"), wp_cache_set("text", "none", "incr"), wp_cache_incr("text", 5, "incr")', '[false,true,2,true,5]'],
            ['wp_cache_incr("key", 3, "incr"), wp_cache_get("key", "incr")', '[5,5]'],
        ];
        yield 'wp_cache_decr' => [
            ['wp_cache_decr("key", 1, "decr"), wp_cache_set("key", 9, "decr"), wp_cache_decr("key", 1, "decr")', '[false,true,8]'],
            ['wp_cache_decr("key", 3, "decr"), wp_cache_decr("key", 30, "decr"), wp_cache_get("key", "decr")', '[5,0,0]'],
        ];
        yield 'wp_cache_flush' => [
            ['wp_cache_set("key", 1, "flush"), wp_cache_switch_to_blog(2), wp_cache_set("key", 2, "flush")', '[true,null,true]'],
            ['wp_cache_flush(), wp_cache_get("key", "flush")', '[true,false]'],
            ['wp_cache_get("key", "flush"), wp_cache_switch_to_blog(2), wp_cache_get("key", "flush")', '[false,null,false]'],
        ];
        yield 'wp_cache_flush_runtime' => [
            ['wp_cache_set("key", 1, "runtime"), wp_cache_flush_runtime(), $GLOBALS["wp_object_cache"]->cache, wp_cache_get("key", "runtime")', '[true,true,[],1]'],
        ];
        yield 'wp_cache_flush_group' => [
            ['wp_cache_set("key", 1, "group"), wp_cache_set("key", 2, "another"), wp_cache_switch_to_blog(2), wp_cache_set("key", 3, "group")', '[true,true,null,true]'],
            ['wp_cache_flush_group("group"), wp_cache_get("key", "group"), wp_cache_get("key", "another")', '[true,false,2]'],
            ['wp_cache_get("key", "group"), wp_cache_get("key", "another"), wp_cache_switch_to_blog(2), wp_cache_get("key", "group")', '[false,2,null,false]'],
        ];
        yield 'wp_cache_supports' => [
            ['array_map("wp_cache_supports", ["add_multiple", "set_multiple", "get_multiple", "delete_multiple", "flush_runtime", "flush_group", "anything else"])', '[[true,true,true,true,true,true,false]]'],
        ];
        yield 'wp_cache_close' => [
            ['wp_cache_get("key", "posts"), wp_cache_add("key", "filled", "posts"), wp_cache_close()', '[false,true,true]'],
            ['wp_cache_get("key", "posts")', '["filled"]'],
        ];
        yield 'wp_cache_add_global_groups' => [
            ['wp_cache_add_global_groups(["everywhere"]), wp_cache_set("key", 1, "everywhere"), wp_cache_set("key", 1, "here"), wp_cache_switch_to_blog(2), wp_cache_get("key", "everywhere"), wp_cache_get("key", "here")', '[null,true,true,null,1,false]'],
            ['wp_cache_add_global_groups("everywhere"), wp_cache_switch_to_blog(2), wp_cache_get("key", "everywhere"), wp_cache_get("key", "here")', '[null,null,1,false]'],
        ];
        yield 'wp_cache_add_non_persistent_groups' => [
            ['wp_cache_add_non_persistent_groups(["local"]), wp_cache_set("key", 1, "local"), wp_cache_get("key", "local", true)', '[null,true,1]'],
            ['wp_cache_get("key", "local")', '[false]'],
        ];
        yield 'wp_cache_switch_to_blog' => [
            ['wp_cache_set("key", 1, "blog"), wp_cache_switch_to_blog(2), wp_cache_get("key", "blog"), wp_cache_set("key", 2, "blog"), wp_cache_switch_to_blog(1), wp_cache_get("key", "blog")', '[true,null,false,true,null,1]'],
            ['wp_cache_get("key", "blog"), wp_cache_switch_to_blog(2), wp_cache_get("key", "blog")', '[1,null,2]'],
        ];
        yield 'wp_cache_reset' => [
            ['wp_cache_set("key", 1, "users"), wp_cache_set("key", 1, "reset"), wp_cache_reset(), isset($GLOBALS["wp_object_cache"]->cache["users"]["key"]), isset($GLOBALS["wp_object_cache"]->cache["reset"])', '[true,true,null,true,false]'],
        ];
        yield 'wp_cache_set_salted' => [
            ['wp_cache_set_salted("key", [1], "salted", ["a", "b"]), wp_cache_get("key", "salted")', '[true,{"data":[1],"salt":"a:b"}]'],
        ];
        yield 'wp_cache_get_salted' => [
            ['wp_cache_set_salted("key", "data", "salted", "a:b"), wp_cache_set("plain", "data", "salted")', '[true,true]'],
            ['wp_cache_get_salted("key", "salted", "a:b"), wp_cache_get_salted("key", "salted", ["a", "b"]), wp_cache_get_salted("key", "salted", "c"), wp_cache_get_salted("plain", "salted", ""), wp_cache_get_salted("absent", "salted", "a:b")', '["data","data",false,false,false]'],
        ];
        yield 'wp_cache_set_multiple_salted' => [
            ['wp_cache_set_multiple_salted(["a" => 1, "b" => [2]], "salteds", "now")', '[{"a":true,"b":true}]'],
            ['wp_cache_get_multiple(["a", "b"], "salteds")', '[{"a":{"data":1,"salt":"now"},"b":{"data":[2],"salt":"now"}}]'],
        ];
        yield 'wp_cache_get_multiple_salted' => [
            ['wp_cache_set_multiple_salted(["a" => 1, "b" => 2], "salteds", ["now", "then"]), wp_cache_set_salted("c", 3, "salteds", "before"), wp_cache_set("d", 4, "salteds")', '[{"a":true,"b":true},true,true]'],
            ['wp_cache_get_multiple_salted(["a", "b", "c", "d", "absent"], "salteds", "now:then")', '[{"a":1,"b":2,"c":false,"d":false,"absent":false}]'],
        ];
    }

    /** @return iterable<string, array{string}> */
    public static function functions(): iterable
    {
        foreach (self::promises() as $function => $requests) {
            yield $function => [$function];
        }
    }

    #[DataProvider('functions')]
    public function testTheFunctionDoesWhatWordPressSays(string $function): void
    {
        foreach (iterator_to_array(self::promises())[$function] as [$expressions, $expected]) {
            self::assertSame($expected, self::$site->run("echo json_encode([{$expressions}]);"), $expressions);
        }
    }

    public function testEveryFunctionOfThisWordPressIsThereWithItsParametersAndHasATest(): void
    {
        $of = self::declared(\dirname(__DIR__) . '/functions.php');
        self::assertSame([], array_diff(array_keys($of), array_keys(iterator_to_array(self::promises()))));
        foreach (['cache.php', 'cache-compat.php'] as $file) {
            $declared = self::declared(Site::wordpress() . "/wp-includes/{$file}");
            self::assertNotSame([], $declared);
            self::assertSame($declared, array_replace($declared, array_intersect_key($of, $declared)));
            self::assertSame([], array_keys(array_diff_key($declared, $of)));
        }
    }

    /** @return array<string, list<string>> the functions of the object cache that a file declares => their parameters */
    private static function declared(string $file): array
    {
        $statements = (new ParserFactory())->createForHostVersion()->parse((string) file_get_contents($file)) ?? [];
        $declared = [];
        foreach ((new NodeFinder())->findInstanceOf($statements, Function_::class) as $function) {
            if (str_starts_with($function->name->name, 'wp_cache_')) {
                $declared[$function->name->name] = array_map(static fn(Param $parameter): string => (new Standard())->prettyPrint([$parameter]), array_values($function->params));
            }
        }

        return $declared;
    }
}
