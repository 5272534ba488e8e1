<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** Which extensions a worker will have: those of this process, and the one that was built into the checkout. */
final class Extension
{
    /** @return string|null what to do when the worker will lack the extension */
    public static function missing(string $name, string $package): ?string
    {
        return extension_loaded($name) || ($name === 'larder' && self::built() !== null)
            ? null
            : "the PHP extension {$name} is not loaded: install {$package}";
    }

    /** @return string|null the extension as `make ext` leaves it, where a new process does not load it by itself */
    public static function built(): ?string
    {
        $file = dirname(__DIR__, 2) . '/ext/modules/larder.so';

        return is_file($file) && !self::isConfigured('larder') ? $file : null;
    }

    /** @return array<string, string> settings of php.ini that load it in a new process, where they have to */
    public static function settings(): array
    {
        return array_filter(['extension' => (string) self::built()]);
    }

    /** The serialiser for stores that keep bytes: the fastest that is there. */
    public static function hasIgbinary(): bool
    {
        return function_exists('igbinary_serialize');
    }

    /** A call that turns the expression into bytes. */
    public static function serialize(string $expression): string
    {
        return (self::hasIgbinary() ? 'igbinary_serialize' : 'serialize') . "({$expression})";
    }

    /** A call that turns the bytes into the value again. */
    public static function unserialize(string $expression): string
    {
        return (self::hasIgbinary() ? 'igbinary_unserialize' : 'unserialize') . "({$expression})";
    }

    /** Whether php.ini loads the extension, so that every process of PHP has it without our help. */
    private static function isConfigured(string $extension): bool
    {
        $files = [(string) php_ini_loaded_file(), ...explode(',', (string) php_ini_scanned_files())];
        foreach ($files as $file) {
            $file = trim($file);
            if ($file !== '' && preg_match("/^\s*extension\s*=.*{$extension}/m", (string) @file_get_contents($file)) === 1) {
                return true;
            }
        }

        return false;
    }
}
