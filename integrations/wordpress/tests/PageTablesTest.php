<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\WordPress\PageTables;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

#[CoversClass(PageTables::class)]
final class PageTablesTest extends TestCase
{
    /** @return iterable<string, array{string, list<string>}> */
    public static function reads(): iterable
    {
        yield 'one' => ['SELECT * FROM wp_things WHERE a = 1', ['wp_things']];
        yield 'quoted, in another database' => ['select * from `shop`.`wp-things`', ['wp-things']];
        yield 'joined' => ['SELECT t.a FROM wp_things t JOIN wp_others ON a = b LEFT JOIN wp_more AS m USING (a)', ['wp_things', 'wp_others', 'wp_more']];
        yield 'joined without another name' => ['SELECT a FROM wp_things JOIN wp_others STRAIGHT_JOIN wp_more', ['wp_things', 'wp_others', 'wp_more']];
        yield 'listed' => ["SELECT a FROM wp_things AS t, wp_others o ,\n `wp_more` WHERE a = b", ['wp_things', 'wp_others', 'wp_more']];
        yield 'one within another' => ['(SELECT a FROM (SELECT b FROM wp_things) x WHERE a IN (SELECT c FROM wp_others)) UNION (SELECT d FROM(wp_more))', ['wp_things', 'wp_others', 'wp_more']];
        yield 'over lines, with remarks' => ["/* why */ -- so\n  SELECT a\n\tFROM\n\t\twp_things\n", ['wp_things']];
        yield 'a common expression' => ['WITH x AS (SELECT a FROM wp_things) SELECT * FROM x', ['wp_things', 'x']];
        yield 'listed behind a query' => ['SELECT a FROM (SELECT @n := 0) AS r, wp_things t ORDER BY a', ['wp_things']];
        yield 'listed behind an index' => ['SELECT a FROM wp_things t FORCE INDEX (a), wp_others o WHERE a = b', ['wp_things', 'wp_others']];
        yield 'behind a remark' => ["SELECT a FROM /* all */ wp_things JOIN -- more\n wp_others ON b = '-- JOIN'", ['wp_things', 'wp_others']];
        yield 'quoted, without a space' => ['SELECT*FROM`wp_things`', ['wp_things']];
        yield 'none' => ['SELECT FOUND_ROWS()', []];
    }

    /** @param list<string> $tables */
    #[DataProvider('reads')]
    public function testTheTablesThatAQueryReadsAreKnown(string $sql, array $tables): void
    {
        self::assertSame(['reads', $tables], [PageTables::verb($sql), PageTables::read($sql)]);
    }

    public function testALongQueryWithARemarkIsReadToItsEnd(): void
    {
        $values = implode(', ', array_map(static fn(int $n): string => "'-- \\'{$n}\\' /* #'", range(1, 50_000)));
        self::assertSame(['wp_things', 'wp_others'], PageTables::read("SELECT a FROM wp_things # JOIN wp_more\n WHERE a IN ({$values}) AND b IN (SELECT c FROM /* all */ wp_others) AND d = 'FROM /*"));
    }

    /** @return iterable<string, array{string, list<string>}> */
    public static function writes(): iterable
    {
        yield 'INSERT' => ['INSERT INTO `wp_things` (`a`) VALUES (\'from wp_posts\')', ['wp_things']];
        yield 'INSERT, of what is not there' => ['INSERT IGNORE wp_things SET a = 1', ['wp_things']];
        yield 'INSERT, of what another has' => ['insert into wp_things select a from wp_others', ['wp_things', 'wp_others']];
        yield 'REPLACE' => ['REPLACE INTO wp_things VALUES (1)', ['wp_things']];
        yield 'UPDATE' => ['UPDATE LOW_PRIORITY `wp_things` SET a = "join wp_posts" WHERE b = 2', ['wp_things']];
        yield 'UPDATE, of two' => ['UPDATE wp_things t JOIN wp_others o ON t.a = o.a SET t.b = o.b', ['wp_things', 'wp_others']];
        yield 'UPDATE, of a list' => ['UPDATE wp_things t, wp_others o SET t.b = o.b', ['wp_things', 'wp_others']];
        yield 'UPDATE, of a list in parentheses' => ['UPDATE (wp_things t, wp_others o) SET t.b = o.b', ['wp_things', 'wp_others']];
        yield 'UPDATE, of one and a query' => ['UPDATE (SELECT 1 AS a) x, wp_things t SET t.b = x.a', ['wp_things']];
        yield 'with a remark that has words of SQL' => ["/* Votes::save() where set */ UPDATE /* it's */ wp_things SET a = '/*'", ['wp_things']];
        yield 'DELETE' => ['DELETE FROM wp_things WHERE a IN (SELECT b FROM wp_posts)', ['wp_things']];
        yield 'DELETE, of a joined one' => ['DELETE t FROM wp_things AS t LEFT JOIN wp_others AS o ON t.a = o.a WHERE o.a IS NULL', ['wp_things', 'wp_others']];
        yield 'TRUNCATE' => ['TRUNCATE wp_things', ['wp_things']];
        yield 'TRUNCATE TABLE' => ['truncate table wp_things', ['wp_things']];
        yield 'ALTER' => ['ALTER TABLE wp_things ADD COLUMN a INT', ['wp_things']];
        yield 'DROP' => ['DROP TABLE IF EXISTS wp_things, wp_others', ['wp_things', 'wp_others']];
        yield 'UPDATE behind a common expression' => ['WITH x AS (SELECT a FROM wp_others) UPDATE wp_things t JOIN x ON t.a = x.a SET t.b = 1', ['wp_things', 'x']];
        yield 'DELETE behind a common expression' => ['with x as (select a from wp_others) delete from wp_things where a in (select a from x)', ['wp_things']];
        yield 'CREATE' => ['CREATE TABLE IF NOT EXISTS wp_things (a INT)', ['wp_things']];
        yield 'CREATE, of what another has' => ['CREATE OR REPLACE TABLE `wp_things` AS SELECT a FROM wp_others', ['wp_things', 'wp_others']];
        yield 'RENAME' => ['RENAME TABLE wp_new TO wp_things', ['wp_new', 'wp_things']];
        yield 'LOAD' => ['LOAD DATA LOCAL INFILE "a" INTO TABLE wp_things', ['wp_things']];
        yield 'LOAD, of a file with an odd name' => ["LOAD DATA INFILE '/set/a (1)' REPLACE INTO TABLE wp_things", ['wp_things']];
    }

    /** @param list<string> $tables */
    #[DataProvider('writes')]
    public function testTheTablesThatAQueryWritesAreKnown(string $sql, array $tables): void
    {
        self::assertSame(['writes', $tables], [PageTables::verb($sql), PageTables::written($sql)]);
    }

    public function testTheBeginAndTheEndOfATransactionAreKnown(): void
    {
        $verbs = [];
        foreach (['START TRANSACTION', 'begin', 'SET autocommit = 0', 'COMMIT', 'Rollback', 'SET @@autocommit=1', 'ROLLBACK TO SAVEPOINT a', 'rollback work to a', 'SAVEPOINT a', 'SET NAMES utf8mb4', 'SHOW TABLES', ''] as $sql) {
            $verbs[$sql] = PageTables::verb($sql);
        }
        self::assertSame([
            'START TRANSACTION' => 'begins', 'begin' => 'begins', 'SET autocommit = 0' => 'begins', 'COMMIT' => 'ends', 'Rollback' => 'ends', 'SET @@autocommit=1' => 'ends',
            'ROLLBACK TO SAVEPOINT a' => '', 'rollback work to a' => '', 'SAVEPOINT a' => '', 'SET NAMES utf8mb4' => '', 'SHOW TABLES' => '', '' => '',
        ], $verbs);
    }
}
