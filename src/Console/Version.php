<?php

declare(strict_types=1);

namespace Larder\Console;

use Composer\InstalledVersions;

/** What `larder -V` says: which library, which extension and which PHP these are. */
final class Version
{
    private const PACKAGE = 'larder/larder';

    private function __construct() {}

    public static function text(): string
    {
        $extension = phpversion('larder');

        return \sprintf(
            '%s, %s, PHP %s',
            self::ofCheckout(\dirname(__DIR__, 2)) ?? self::ofPackage() ?? 'of an unknown version',
            $extension === false ? 'without the extension' : "extension {$extension}",
            \PHP_VERSION,
        );
    }

    /** Composer knows the version of a checkout as it was when Composer was run there last. */
    private static function ofCheckout(string $directory): ?string
    {
        if (!file_exists("{$directory}/.git")) {
            return null;
        }
        $git = 'git';
        foreach (["--git-dir={$directory}/.git", "--work-tree={$directory}", 'describe', '--always', '--tags', '--dirty', '--abbrev=12'] as $word) {
            $git .= ' ' . escapeshellarg($word);
        }
        $described = \function_exists('shell_exec') ? trim((string) shell_exec("{$git} 2>/dev/null")) : '';

        return $described === '' ? 'of a checkout' : "of the checkout {$described}";
    }

    private static function ofPackage(): ?string
    {
        if (!class_exists(InstalledVersions::class) || !InstalledVersions::isInstalled(self::PACKAGE)) {
            return null;
        }
        $version = InstalledVersions::getPrettyVersion(self::PACKAGE);
        $reference = InstalledVersions::getReference(self::PACKAGE);

        return $version . ($reference === null ? '' : ' (' . substr($reference, 0, 12) . ')');
    }
}
