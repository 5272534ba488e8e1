<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * Which tables a query of SQL names. Names in a quoted text may be among them: a tag too many, or a page that dies for nothing.
 *
 * WordPress's own tables go together as its hooks tell of them: meta of posts, for instance, with the posts.
 */
final class PageTables
{
    /** What a query does with tables, by the first three letters of its first word. */
    private const VERBS = [
        'sel' => 'reads', 'wit' => 'reads',
        'ins' => 'writes', 'rep' => 'writes', 'upd' => 'writes', 'del' => 'writes', 'tru' => 'writes', 'alt' => 'writes', 'dro' => 'writes', 'ren' => 'writes', 'loa' => 'writes', 'cre' => 'writes',
        'sta' => 'begins', 'beg' => 'begins', 'com' => 'ends', 'rol' => 'ends', 'set' => 'sets',
    ];

    private const TOGETHER = [
        'posts' => 'posts', 'postmeta' => 'posts', 'term_relationships' => 'posts', 'terms' => 'terms', 'termmeta' => 'terms', 'term_taxonomy' => 'terms',
        'comments' => 'comments', 'commentmeta' => 'comments', 'users' => 'users', 'usermeta' => 'users', 'options' => 'options', 'links' => 'links',
    ];

    /** Tables of WordPress of which no hook tells. */
    private const UNTOLD = ['blogs' => true, 'blogmeta' => true, 'blog_versions' => true, 'site' => true, 'sitemeta' => true, 'sitecategories' => true, 'signups' => true, 'registration_log' => true];

    /** A part of the path of Action Scheduler's code. */
    public const QUEUE = '/action-scheduler/';

    /** Tables of widespread plugins that many visits read and something writes all the time, and the folder of the code that reads them for no page. */
    private const BOOKKEEPING = [
        '~(?:^|_)actionscheduler_(?:actions|claims|groups|logs)$~iD' => self::QUEUE,
        '~(?:^|_)(?:woocommerce_(?:sessions|log)|wc_rate_limits)$~iD' => '/plugins/woocommerce/',
        '~(?:^|_)redirection_(?:logs|404)$~iD' => '/plugins/redirection/',
        '~(?:^|_)(?:wf(?:config|hits|blocks7|logins|crawlers|reversecache|status|notifications|trafficrates|livetraffichuman)|wfls_settings)$~iD' => '/plugins/wordfence/',
    ];

    private const NAME = '(?:(?:`[^`]+`|[\w$]+)\s*\.\s*)?(?:`[^`]+`|[\w$]+)';

    private const NAMES = self::NAME . '(?:\s+(?:AS\s+)?(?!(?:STRAIGHT_JOIN|JOIN|FROM|TO)\b)`?\w+`?)?';

    private const LISTED = '(?:[\s(]+|(?=`))(?!SELECT\b)(' . self::NAMES . '(?:\s*,\s*' . self::NAMES . ')*)~i';

    // PHP finds a pattern that is a constant faster than one that is put together, and it is asked for each query.
    private const READ = '~\b(?:FROM|(?:STRAIGHT_)?JOIN)' . self::LISTED;

    private const WRITTEN = '~\b(?:(?:INSERT|REPLACE)(?:\s+(?:LOW_PRIORITY|HIGH_PRIORITY|DELAYED|IGNORE|INTO|TABLE))*|UPDATE(?:\s+(?:LOW_PRIORITY|IGNORE))*|(?:TRUNCATE\s+)?TABLE(?:\s+IF\s+(?:NOT\s+)?EXISTS)?|TRUNCATE(?!\s+TABLE\b)|TO|FROM|(?:STRAIGHT_)?JOIN)' . self::LISTED;

    /** A list of tables that goes on behind a query in parentheses, or behind what index to use. */
    private const BEHIND = '~\)\s*(?:(?:AS\s+)?`?\w+`?\s*)?,\s*(' . self::NAMES . '(?:\s*,\s*' . self::NAMES . ')*)~i';

    /** A write behind common expressions. */
    private const BEHIND_WITH = '~\)\s*((?:UPDATE|DELETE)\b)~i';

    /** Comments. What is none is passed over in one go, a quoted text that nothing ends with all behind it: the time grows with the length alone. */
    private const REMARKS = '~(?:[^\'"`#/-]++|\'(?:[^\'\\\\]++|\\\\.?)*+(?:\'|\z)|"(?:[^"\\\\]++|\\\\.?)*+(?:"|\z)|`[^`]*+(?:`|\z)|-(?!-\s)|/(?!\*)|/\*!)++(*SKIP)(*FAIL)|/\*.*?(?:\*/|\z)|(?:--|#)[^\n]*+~s';

    private function __construct() {}

    /** @return string reads, writes, begins or ends a transaction, or nothing of these */
    public static function verb(string $sql): string
    {
        if (strncasecmp($sql, 'SELECT', 6) === 0) {
            // Most do.
            return 'reads';
        }
        $start = strspn($sql, " \t\r\n(");
        if (isset($sql[$start]) && \in_array($sql[$start], ['/', '-', '#'], true)) {
            preg_match('~\G(?:[\s(]|/\*.*?\*/|(?:--|#)[^\n]*\n)+~s', $sql, $comment, 0, $start);
            $start += \strlen($comment[0] ?? '');
        }
        $verb = self::VERBS[strtolower(substr($sql, $start, 3))] ?? '';

        return match (true) {
            $verb === 'reads' && strncasecmp(substr($sql, $start, 4), 'with', 4) === 0 && preg_match(self::BEHIND_WITH, self::plain($sql)) === 1 => 'writes',
            $verb === 'ends' && preg_match('~^\W*rollback\s+(?:work\s+)?to\b~i', $sql) === 1 => '',
            $verb === 'sets' => preg_match('~\bautocommit\s*=\s*(\w+)~i', $sql, $set) !== 1 ? '' : (\in_array(strtolower($set[1]), ['0', 'off', 'false'], true) ? 'begins' : 'ends'),
            default => $verb,
        };
    }

    /** @return list<string> */
    public static function read(string $sql): array
    {
        return self::listed(self::plain($sql), self::READ);
    }

    /** @return list<string> what is written, and perhaps what is read for that */
    public static function written(string $sql): array
    {
        // Values may be long, and say anything.
        $plain = self::plain(substr($sql, 0, 4_096));
        if (preg_match('~^\W*WITH\b~i', $plain) === 1 && preg_match(self::BEHIND_WITH, $plain, $write, \PREG_OFFSET_CAPTURE) === 1) {
            // The queries before it are read for it.
            $plain = substr($plain, $write[1][1]);
        }
        $head = (string) preg_replace('~\'(?:[^\'\\\\]|\\\\.)*+\'|"(?:[^"\\\\]|\\\\.)*+"~s', "''", $plain);
        // Of an update a list of tables may stand in parentheses, and a query may be one of them.
        $parts = preg_split(preg_match('~^\W*UPDATE\b~i', $head) === 1 ? '~\bSET\b~i' : '~\b(?:SET|VALUES?|WHERE)\b|\(~i', $head, 2);

        return self::listed(\is_array($parts) ? $parts[0] : $head, self::WRITTEN);
    }

    /** @return string the table that stands for it in tags */
    public static function together(string $table, \wpdb $database): string
    {
        $own = match ($table) {
            $database->users, $database->usermeta => 'users',
            default => self::own($table, $database),
        };

        return $own === 'users' ? $database->users : (isset(self::TOGETHER[$own]) ? substr($table, 0, -\strlen($own)) . self::TOGETHER[$own] : $table);
    }

    /** @return string a part of the path of its own plugin's code, if that reads the table for no page; empty: there is none */
    public static function bookkeeper(string $table): string
    {
        foreach (self::BOOKKEEPING as $tables => $folder) {
            if (preg_match($tables, $table) === 1) {
                return $folder;
            }
        }

        return '';
    }

    /** Whether it is one of WordPress's, so that WordPress's own code may read it in a way that is known closer. */
    public static function isOwn(string $table, \wpdb $database): bool
    {
        $own = self::own($table, $database);

        return isset(self::TOGETHER[$own]) || isset(self::UNTOLD[$own]) || $table === $database->users || $table === $database->usermeta;
    }

    /** Whether it is one of which hooks of WordPress tell, when WordPress's own code writes to it. */
    public static function isTold(string $table, \wpdb $database): bool
    {
        return self::isOwn($table, $database) && !isset(self::UNTOLD[self::own($table, $database)]);
    }

    /** @return string its name without the prefixes; empty: it is none of this installation */
    public static function own(string $table, \wpdb $database): string
    {
        $prefix = $database->base_prefix;

        return str_starts_with($table, $prefix) ? (string) preg_replace('~^\d+_~', '', substr($table, \strlen($prefix))) : '';
    }

    /** @return string without comments, which may stand anywhere and say anything */
    private static function plain(string $sql): string
    {
        if (!str_contains($sql, '/*') && !str_contains($sql, '--') && !str_contains($sql, '#')) {
            return $sql;
        }

        return preg_replace(self::REMARKS, ' ', $sql) ?? $sql;
    }

    /** @return list<string> */
    private static function listed(string $sql, string $pattern): array
    {
        $tables = self::named($sql, $pattern);
        // Few queries have what looks like it, which is found sooner than where such a list may stand.
        $behind = str_contains($sql, ')') ? self::named($sql, self::BEHIND) : [];
        if ($behind !== [] && preg_match('~\bFROM\s*\(|\bUPDATE\s*\(|\bJOIN\s*\(|\b(?:INDEX|KEY|PARTITION)\b~i', $sql) === 1) {
            array_push($tables, ...array_diff($behind, $tables));
        }

        return $tables;
    }

    /** @return list<string> */
    private static function named(string $sql, string $pattern): array
    {
        preg_match_all($pattern, $sql, $found);
        $tables = [];
        foreach ($found[1] as $names) {
            foreach (explode(',', $names) as $name) {
                if (strpbrk($name, '`.') === false) {
                    $name = ltrim($name);
                    $table = substr($name, 0, strcspn($name, " \t\r\n\f\v"));
                } else {
                    preg_match('~^\s*(' . self::NAME . ')~', $name, $parts);
                    $last = strrchr($parts[1] ?? '', '.');
                    $table = trim($last === false ? $parts[1] ?? '' : $last, ".` \t\r\n");
                }
                $tables[$table] = $table;
            }
        }

        return array_values($tables);
    }
}
