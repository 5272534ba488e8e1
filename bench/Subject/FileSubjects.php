<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** What keeps its items in files. Keys are safe as file names here; a real store would hash them. */
final class FileSubjects
{
    public static function plain(bool $tmpfs): Subject
    {
        return new Subject(
            name: $tmpfs ? 'file-tmpfs' : 'file-disk',
            title: 'file_get_contents ' . ($tmpfs ? 'on tmpfs' : 'on disk'),
            family: Family::File,
            open: static fn(Place $place): string => ($tmpfs ? $place->tmpfs : $place->disk) . '/',
            read: self::readFile(...),
            write: static fn(Value $value): string => 'file_put_contents("$client$key.new", '
                . ($value->isString ? '$value' : Extension::serialize('$value')) . '); rename("$client$key.new", "$client$key");',
            close: self::removeFiles(...),
            connect: static fn(Value $value): string => '$value = ' . self::readFile($value) . ';',
        );
    }

    public static function php(): Subject
    {
        return new Subject(
            name: 'php-file',
            title: 'a PHP file in opcache',
            family: Family::File,
            open: static fn(Place $place): string => $place->disk . '/',
            read: static fn(): string => 'include "$client$key.php"',
            write: static fn(Value $value): string => 'file_put_contents("$client$key.new", "<?php return "'
                . ' . \Larder\Bench\Subject\FileSubjects::export($value) . ";");'
                . ' rename("$client$key.new", "$client$key.php"); opcache_invalidate("$client$key.php", true);',
            close: self::removeFiles(...),
            missing: static fn(): ?string => Extension::missing('Zend OPcache', 'php-opcache'),
        );
    }

    public static function sqlite(): Subject
    {
        return new Subject(
            name: 'sqlite',
            title: 'SQLite, its file mapped',
            family: Family::File,
            open: static fn(Place $place): SqliteTable => new SqliteTable("{$place->disk}/cache.sqlite"),
            read: static fn(Value $value): string => $value->isString ? '$client->get($key)' : Extension::unserialize('$client->get($key)'),
            write: static fn(Value $value): string => '$client->set($key, ' . ($value->isString ? '$value' : Extension::serialize('$value')) . ');',
            close: static function (mixed $client, Place $place): void {
                if ($client instanceof SqliteTable) {
                    $client->close();
                }
                self::removeFiles("{$place->disk}/");
            },
            connect: static fn(Value $value): string => '$fresh = new \Larder\Bench\Subject\SqliteTable($place->disk . "/cache.sqlite"); $value = '
                . ($value->isString ? '$fresh->get($key)' : Extension::unserialize('$fresh->get($key)')) . '; $fresh->close();',
            missing: static fn(): ?string => Extension::missing('sqlite3', 'php-sqlite3'),
        );
    }

    /** For comparison with the library. */
    public static function sqliteRows(): Subject
    {
        return new Subject(
            name: 'sqlite-rows',
            title: 'the tables of Larder\Cache over SQLite, by hand',
            family: Family::File,
            open: static fn(Place $place): SqliteRows => new SqliteRows("{$place->disk}/cache.sqlite"),
            read: static fn(Value $value): string => $value->isString ? '$client->get($key)' : Extension::unserialize('$client->get($key)'),
            write: static fn(Value $value): string => '$client->set($key, ' . ($value->isString ? '$value' : Extension::serialize('$value')) . ');',
            close: static function (mixed $client, Place $place): void {
                if ($client instanceof SqliteRows) {
                    $client->close();
                }
                self::removeFiles("{$place->disk}/");
            },
            missing: static fn(): ?string => Extension::missing('sqlite3', 'php-sqlite3'),
            exempt: static fn(Operation $operation): ?string => in_array($operation, [Operation::Get, Operation::Set], true) ? null : 'it is there for comparison with the library',
        );
    }

    public static function sqliteBehindApcu(): Subject
    {
        return new Subject(
            name: 'sqlite-apcu',
            title: 'SQLite behind APCu',
            family: Family::File,
            open: static fn(Place $place): SqliteBehindApcu => new SqliteBehindApcu(new SqliteTable("{$place->disk}/cache.sqlite")),
            read: static fn(): string => '$client->get($key)',
            write: static fn(): string => '$client->set($key, $value);',
            close: static function (mixed $client, Place $place): void {
                if ($client instanceof SqliteBehindApcu) {
                    $client->close();
                }
                self::removeFiles("{$place->disk}/");
            },
            missing: static fn(): ?string => Extension::missing('sqlite3', 'php-sqlite3') ?? Extension::missing('apcu', 'php-apcu'),
            settings: ['apc.serializer' => Extension::hasIgbinary() ? 'igbinary' : 'php'],
        );
    }

    /** The value as PHP code: a literal that opcache can keep, or, for objects of classes, their serialisation. */
    public static function export(mixed $value): string
    {
        return is_object($value) && !$value instanceof \stdClass
            ? 'unserialize(' . var_export(serialize($value), true) . ')'
            : var_export($value, true);
    }

    private static function readFile(Value $value): string
    {
        return $value->isString ? 'file_get_contents($client . $key)' : Extension::unserialize('file_get_contents($client . $key)');
    }

    /** @param mixed $client the directory, with a slash at its end */
    private static function removeFiles(mixed $client): void
    {
        if (is_string($client)) {
            array_map(unlink(...), glob($client . '*') ?: []);
        }
    }
}
