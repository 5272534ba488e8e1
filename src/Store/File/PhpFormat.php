<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Key;
use Larder\Serializer\Contents;
use Larder\Serializer\Payload;

/**
 * Two files for each item. One is PHP code that returns the item, under a name that is never used again. The other is a link to it
 * under the item's own name, which is replaced at once:
 *
 *     ab/cdef…                 -> cdef….01234567-89abcdef012345.php
 *     ab/cdef….0123…-89ab….php <?php //head
 *                              return [head, kind, value];
 *
 * opcache may take a file for unchanged for seconds, or for good (opcache.validate_timestamps=0). The command line cannot tell the
 * opcache of a web server about a change. A name that was never used is in no opcache, so neither matters. Symfony's PhpFilesAdapter,
 * from which the form of the code comes, keeps the name and invalidates it.
 *
 * The second half of the name is a checksum of the file's contents. After a power cut, files of the half minute before may be empty or
 * have zeros in them, as no write waits for the disk. So a file is run only if its checksum is right. It is checked unless opcache
 * already has the file: that was checked since the machine started.
 *
 * Scalars and arrays of them are literals, which opcache hands out without copying. Other values are a serialised literal. The head
 * stands in the file once more as a comment, so that a search for dead items does not make opcache keep it. The cache's own
 * entries, such as leases, are never run. They come and go, and opcache would not get their memory back.
 */
final class PhpFormat implements Format
{
    /** Deeper arrays are serialised, as the compiler's stack has an end. */
    private const DEEPEST = 64;

    private const LITERAL = '0,';

    private const SERIALIZED = '1,';

    /** What a body ends with that is not to be run. */
    private const ASIDE = '/**/';

    private const BEGIN = '<?php //';

    private const END = '];';

    /** What one read brings of an item's head, which mostly is all of it. */
    private const GLANCE = 1_024;

    /** Younger files are not kept by opcache (opcache.file_update_protection), which fears that they are not complete. */
    private const SECONDS_OLD = 10;

    /** Both may be replaced between the look at the link and that at the file. */
    private const TRIES = 8;

    public function __construct(
        private readonly Payload $payload,
        private readonly Folder $folder,
    ) {}

    public function encode(string $key, mixed $value): string
    {
        if (Key::isInternal(Key::withoutNamespaces($key))) {
            return self::SERIALIZED . self::quoted($this->payload->encode($key, $value)) . self::ASIDE;
        }
        $literal = Contents::isPlain($value) ? self::literal($value, self::DEEPEST) : null;

        return $literal === null
            ? self::SERIALIZED . self::quoted($this->payload->encode($key, $value))
            : self::LITERAL . $literal;
    }

    public function write(string $path, Head $head, string $body): ?int
    {
        $code = self::code($head) . $body . self::END;
        $name = basename($path) . '.' . bin2hex(random_bytes(4)) . self::checksum($code);
        $old = self::target($path);
        $file = \dirname($path) . "/{$name}";
        if (!$this->folder->replace($file, $code)) {
            return null;
        }
        @touch($file, time() - self::SECONDS_OLD);
        $link = \dirname($path) . '/.' . bin2hex(random_bytes(12)) . '.tmp';
        if (!@symlink($name, $link) || !@rename($link, $path)) {
            @unlink($link);
            @unlink($file);

            return null;
        }
        if ($old !== null) {
            self::forget($old);
        }

        return \strlen($code);
    }

    public function head(string $path): ?Head
    {
        $target = self::target($path);
        $bytes = $target === null ? null : $this->folder->directory->contents($target, self::GLANCE);
        if ($target === null || $bytes === null) {
            return null;
        }

        return self::headIn(str_contains($bytes, "\n") ? $bytes : (string) $this->folder->directory->contents($target));
    }

    public function read(string $path, object $foreign): ?array
    {
        if (!$this->folder->directory->isStillTrusted()) {
            // Another user's code.
            return null;
        }
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            $target = self::target($path);
            try {
                $found = $target === null ? null : $this->run($target);
            } catch (\Throwable) {
                // Not what was written there.
                $found = null;
            }
            if ($found !== false) {
                return \is_array($found) && \count($found) === 7 ? $this->found($found, $foreign) : null;
            }
        }

        return null;
    }

    public function body(string $path): ?array
    {
        $target = self::target($path);
        $code = $target === null ? null : $this->folder->directory->contents($target);
        $head = $target === null || $code === null || !self::isWhole($target, $code) ? null : self::headIn($code);
        if ($code === null || $head === null) {
            return null;
        }
        $begin = self::code($head);

        return str_starts_with($code, $begin) && str_ends_with($code, self::END) ? [$head, substr($code, \strlen($begin), -2)] : null;
    }

    public function remove(string $path): ?int
    {
        $size = $this->size($path);
        $target = self::target($path);
        if (!Folder::unlink($path)) {
            return null;
        }
        if ($target !== null) {
            self::forget($target);
        }

        return $size;
    }

    public function size(string $path): int
    {
        clearstatcache(true, $path);

        return (int) @filesize($path);
    }

    /**
     * @return ?string the path of the code; null: there is none of ours
     *
     * @phpstan-impure others change it
     */
    private static function target(string $path): ?string
    {
        $name = @readlink($path);

        return $name !== false && str_ends_with($name, '.php') && str_starts_with($name, basename($path) . '.') && !str_contains($name, '/')
            ? \dirname($path) . "/{$name}"
            : null;
    }

    /** @return mixed what the code returns; null: it is not what was written there; false: it is not there any more */
    private function run(string $file): mixed
    {
        if (!\function_exists('opcache_is_script_cached') || !@opcache_is_script_cached($file)) {
            $code = $this->folder->directory->contents($file);
            if ($code === null || !self::isWhole($file, $code)) {
                return $code === null ? false : null;
            }
            if (str_ends_with($code, self::ASIDE . self::END)) {
                return self::readOut($code);
            }
        }

        return self::included($file);
    }

    /** @return ?list<mixed> what the code would return, of what is aside */
    private static function readOut(string $code): ?array
    {
        $head = self::headIn($code);
        if ($head === null) {
            return null;
        }
        $quoted = substr($code, \strlen(self::code($head) . self::SERIALIZED), -\strlen(self::ASIDE . self::END));

        return [$head->key, $head->expiry, $head->tags, $head->epoch, $head->version, 1, stripslashes(substr($quoted, 1, -1))];
    }

    private static function isWhole(string $file, string $code): bool
    {
        return str_ends_with($file, self::checksum($code));
    }

    /** What a name ends with. A longer one would not fit into the inode of the link that leads there: ext4 has 59 bytes for it. */
    private static function checksum(string $code): string
    {
        return '-' . substr(hash('xxh3', $code), 0, 14) . '.php';
    }

    /** Without a variable that the code could see. */
    private static function included(string $file): mixed
    {
        return @include $file;
    }

    /**
     * @param array<mixed> $found
     *
     * @return ?array{Head, mixed}
     */
    private function found(array $found, object $foreign): ?array
    {
        [$key, $expiry, $tags, $epoch, $version, $kind, $value] = array_values($found);
        if (!\is_string($key) || !(\is_int($expiry) || $expiry === null) || !\is_array($tags) || !\is_string($epoch) || !\is_int($version)) {
            return null;
        }
        if ($kind !== 0) {
            $value = \is_string($value) ? $this->payload->decode($value, $foreign, $key) : $foreign;
        }

        return $value === $foreign ? null : [Head::read($key, $expiry, array_values(array_filter($tags, is_string(...))), $epoch, $version), $value];
    }

    /** The file is gone, and its code in this process's opcache is of no use. */
    private static function forget(string $file): void
    {
        @unlink($file);
        if (\function_exists('opcache_invalidate')) {
            @opcache_invalidate($file, true);
        }
    }

    /** What comes before the body. */
    private static function code(Head $head): string
    {
        $tags = implode(',', array_map(self::quoted(...), $head->tags));
        $expiry = $head->expiry ?? 'null';
        $version = $head->written();

        return self::BEGIN . base64_encode(serialize([$head->key, $head->expiry, $head->tags, $head->epoch, $version])) . "\n"
            . 'return [' . self::quoted($head->key) . ",{$expiry},[{$tags}]," . self::quoted($head->epoch) . ",{$version},";
    }

    private static function headIn(string $code): ?Head
    {
        $end = strpos($code, "\n");
        if ($end === false || !str_starts_with($code, self::BEGIN)) {
            return null;
        }
        $begin = \strlen(self::BEGIN);
        $found = @unserialize((string) base64_decode(substr($code, $begin, $end - $begin), true), ['allowed_classes' => false]);
        if (!\is_array($found) || \count($found) !== 5) {
            return null;
        }
        [$key, $expiry, $tags, $epoch, $version] = array_values($found);

        return \is_string($key) && (\is_int($expiry) || $expiry === null) && \is_array($tags) && \is_string($epoch) && \is_int($version)
            ? Head::read($key, $expiry, array_values(array_filter($tags, is_string(...))), $epoch, $version)
            : null;
    }

    /** @return ?string null: it is too deep */
    private static function literal(mixed $value, int $deepest): ?string
    {
        if (!\is_array($value)) {
            return match (true) {
                \is_string($value) => self::quoted($value),
                // There is no such literal: it would be the negative of something that is a float.
                $value === \PHP_INT_MIN => '-9223372036854775807-1',
                default => var_export($value, true),
            };
        }
        if ($deepest === 0) {
            return null;
        }
        $parts = [];
        $isList = array_is_list($value);
        foreach ($value as $key => $part) {
            $literal = self::literal($part, $deepest - 1);
            if ($literal === null) {
                return null;
            }
            $parts[] = $isList ? $literal : self::literal($key, 0) . "=>{$literal}";
        }

        return '[' . implode(',', $parts) . ']';
    }

    private static function quoted(string $text): string
    {
        return "'" . addcslashes($text, "'\\") . "'";
    }
}
