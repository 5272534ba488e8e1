<?php

declare(strict_types=1);

namespace Larder\Tools;

use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;
use SplFileInfo;

/** The files of a checkout. */
final readonly class Files
{
    public function __construct(private string $root) {}

    /**
     * @param list<string> $folders below the root; those that are not there have none
     * @param string       $pattern of their names
     *
     * @return list<string> paths below the root, sorted
     */
    public function in(array $folders, string $pattern): array
    {
        $files = [];
        foreach ($folders as $folder) {
            if (!is_dir($this->root . '/' . $folder)) {
                continue;
            }
            $iterator = new RecursiveIteratorIterator(new RecursiveDirectoryIterator($this->root . '/' . $folder, RecursiveDirectoryIterator::SKIP_DOTS));
            foreach ($iterator as $file) {
                if ($file instanceof SplFileInfo && preg_match($pattern, $file->getFilename()) === 1) {
                    $files[] = substr($file->getPathname(), strlen($this->root) + 1);
                }
            }
        }
        sort($files);

        return $files;
    }
}
