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
        $isKnown = class_exists(InstalledVersions::class) && InstalledVersions::isInstalled(self::PACKAGE);
        $version = $isKnown ? InstalledVersions::getPrettyVersion(self::PACKAGE) ?? 'of this checkout' : 'of this checkout';
        $reference = $isKnown ? InstalledVersions::getReference(self::PACKAGE) : null;
        $extension = phpversion('larder');

        return \sprintf(
            '%s%s, %s, PHP %s',
            $version,
            $reference === null ? '' : ' (' . substr($reference, 0, 12) . ')',
            $extension === false ? 'without the extension' : "extension {$extension}",
            \PHP_VERSION,
        );
    }
}
