<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Fields;
use Larder\Bench\Server\Program;
use Symfony\Component\Process\Process;

/** The charts' runtime, Vega-Lite, as bench/package-lock.json pins it. */
final class Charts
{
    private const LIBRARIES = ['vega', 'vega-lite', 'vega-embed'];

    /**
     * Installs the runtime with npm, into the directory for what is built, if it is not there already.
     *
     * @return string|null why the report will have no charts, only tables; null when it will have them
     */
    public static function install(): ?string
    {
        if (self::areInstalled()) {
            return null;
        }
        $npm = Program::find('npm');
        if ($npm === null) {
            return 'The report has tables but no charts, because npm is not installed to fetch Vega-Lite.';
        }
        $directory = self::directory();
        if (!is_dir($directory)) {
            mkdir($directory, 0o777, true);
        }
        foreach (['package.json', 'package-lock.json'] as $file) {
            copy(dirname(__DIR__) . "/{$file}", "{$directory}/{$file}");
        }
        $process = new Process([$npm, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], $directory, timeout: null);

        return $process->run() === 0 && self::areInstalled()
            ? null
            : "The report has tables but no charts, because `npm ci` failed in {$directory}: run it there to see why.";
    }

    /** @return string|null the libraries' code, their names, versions and licences in front; null where they are not installed */
    public static function scripts(): ?string
    {
        $scripts = '';
        foreach (self::LIBRARIES as $library) {
            $package = self::directory() . "/node_modules/{$library}";
            $code = @file_get_contents("{$package}/build/{$library}.min.js");
            $manifest = @file_get_contents("{$package}/package.json");
            if ($code === false || $manifest === false) {
                return null;
            }
            $fields = Fields::ofJson($manifest, "{$library}/package.json");
            $licence = trim((string) @file_get_contents("{$package}/LICENSE"));
            $scripts .= sprintf("/* %s %s, licence %s\n%s\n*/\n%s\n", $library, $fields->string('version'), $fields->string('license'), $licence, $code);
        }

        // The source maps' names would be asked for by a browser's tools; the end of a script must not stand within one.
        return str_replace('</script', '<\/script', (string) preg_replace('~^//# sourceMappingURL=.*$~m', '', $scripts));
    }

    /** @phpstan-impure */
    private static function areInstalled(): bool
    {
        foreach (self::LIBRARIES as $library) {
            if (!is_file(self::directory() . "/node_modules/{$library}/build/{$library}.min.js")) {
                return false;
            }
        }

        return true;
    }

    private static function directory(): string
    {
        return dirname(__DIR__, 2) . '/build/charts';
    }
}
