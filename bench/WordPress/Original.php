<?php

declare(strict_types=1);

namespace Larder\Bench\WordPress;

use Larder\Bench\FileSystem;

/** A published plugin that has a drop-in, from the directory that --wordpress-peers names. */
final readonly class Original
{
    public const OBJECT_CACHE = 'object-cache.php';
    public const PAGE_CACHE = 'advanced-cache.php';

    /**
     * @param string $folder of the plugin
     * @param string $dropIn the path of its drop-in
     */
    private function __construct(
        private string $folder,
        private string $dropIn,
    ) {}

    /**
     * Plugins that have a drop-in.
     *
     * @param string|null $directory with a folder a plugin
     * @param string      $dropIn    the name of the file
     *
     * @return array<string, self> by the name of the folder
     */
    public static function all(?string $directory, string $dropIn): array
    {
        $found = [];
        foreach ($directory === null ? [] : (glob("{$directory}/*", \GLOB_ONLYDIR) ?: []) as $plugin) {
            $files = new \RecursiveIteratorIterator(new \RecursiveDirectoryIterator($plugin, \FilesystemIterator::SKIP_DOTS));
            $paths = [];
            foreach ($files as $file) {
                if ($file instanceof \SplFileInfo && $file->getFilename() === $dropIn) {
                    $paths[] = $file->getPathname();
                }
            }
            // The least deep is the plugin's; what it brings along may have others.
            usort($paths, static fn(string $one, string $other): int => substr_count($one, '/') <=> substr_count($other, '/'));
            if ($paths !== []) {
                $found[basename($plugin)] = new self($plugin, $paths[0]);
            }
        }

        return $found;
    }

    /** Puts it into a site, always active, with its drop-in in place. */
    public function add(Installation $site): void
    {
        FileSystem::copy($this->folder, $site->plugin(basename($this->folder)));
        copy($this->dropIn, "{$site->root}/wp-content/" . basename($this->dropIn));
        $main = $this->main();
        if ($main !== null) {
            file_put_contents("{$site->root}/wp-content/mu-plugins/original.php", '<?php require WP_PLUGIN_DIR . ' . var_export("/{$main}", true) . ';');
        }
    }

    /** @return string|null its main file as WordPress names it; null: it has none */
    public function main(): ?string
    {
        foreach (glob("{$this->folder}/*.php") ?: [] as $file) {
            if (basename($file) !== basename($this->dropIn) && preg_match('/^[ \t\/*#@]*Plugin Name:/mi', (string) file_get_contents($file, false, null, 0, 8_192)) === 1) {
                return basename($this->folder) . '/' . basename($file);
            }
        }

        return null;
    }
}
