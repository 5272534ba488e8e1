<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Larder\Bench\Server\RedisFlavour;

/** All subjects, and those that the reader brings. */
final class Subjects
{
    /**
     * @param string|null $file a PHP file that returns a Subject of the reader's own
     * @return non-empty-array<string, Subject> by name
     */
    public static function all(?string $file = null): array
    {
        $subjects = [
            MemorySubjects::none(),
            MemorySubjects::array(),
            MemorySubjects::arrayObject(),
            MemorySubjects::sharedMemory(true),
            MemorySubjects::sharedMemory(false),
            MemorySubjects::sharedMemoryWithTags(),
            MemorySubjects::remembering(),
            MemorySubjects::many(),
            MemorySubjects::apcu('default'),
            MemorySubjects::apcu('php'),
            MemorySubjects::apcu('igbinary'),
            FileSubjects::sqliteBehindApcu(),
            FileSubjects::sqlite(),
            FileSubjects::sqliteRows(),
            FileSubjects::plain(false),
            FileSubjects::plain(true),
            FileSubjects::php(),
            MemcachedSubjects::over(true),
            MemcachedSubjects::over(false),
            MemcachedSubjects::over(false, 100),
        ];
        foreach (RedisFlavour::cases() as $flavour) {
            foreach (RedisLink::cases() as $link) {
                $subjects[] = RedisSubjects::over($link, $flavour);
            }
        }
        array_push(
            $subjects,
            // Before the library's: it flushes the server that they share, when it is told of the next value.
            RedisSubjects::many(),
            LibrarySubjects::sharedMemory(),
            LibrarySubjects::remembering(),
            LibrarySubjects::beginning(),
            LibrarySubjects::sharedMemoryMany(),
            LibrarySubjects::namespaceOfSharedMemory(),
            LibrarySubjects::apcu(),
            LibrarySubjects::sqlite(),
            LibrarySubjects::file(),
            LibrarySubjects::phpFile(),
            LibrarySubjects::apcuBeforeSqlite(false),
            LibrarySubjects::apcuBeforeSqlite(true),
            LibrarySubjects::sharedMemoryBeforeSqlite(),
            LibrarySubjects::apcuBeforeRedis(),
            LibrarySubjects::sharedMemoryBeforeRedis(false),
            LibrarySubjects::sharedMemoryBeforeRedis(true),
            LibrarySubjects::redis(),
            LibrarySubjects::redisByPredis(),
            LibrarySubjects::redisMany(),
            LibrarySubjects::redisWithTags(),
            LibrarySubjects::redisScript(),
            LibrarySubjects::memcached(),
        );
        if ($file !== null) {
            $subjects[] = self::fromFile($file);
        }
        $byName = [];
        foreach ($subjects as $subject) {
            $byName[$subject->name] = $subject;
        }

        return $byName;
    }

    private static function fromFile(string $file): Subject
    {
        if (!is_file($file)) {
            throw new \InvalidArgumentException("The file {$file} given as --subject-php does not exist: give the path of a PHP file that returns a Larder\\Bench\\Subject\\Subject.");
        }
        $subject = require $file;
        if (!$subject instanceof Subject) {
            throw new \InvalidArgumentException("The file {$file} given as --subject-php returned " . get_debug_type($subject) . ': let it return a Larder\Bench\Subject\Subject.');
        }

        return $subject;
    }
}
