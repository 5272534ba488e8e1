<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Dsn;
use Larder\Store\Sqlite\DatabaseFile;
use Larder\System\Guests;
use Larder\System\PrivateDirectory;

/** Whether another user may have a hand in what a store keeps on a disk: such a store is not used (see PrivateDirectory). */
final class PlaceChecks
{
    private function __construct() {}

    /** @return list<Finding> one at most */
    public static function of(string $what, Dsn $dsn): array
    {
        // Of tiers, the last one may lie somewhere; those in front of it are memory.
        while ($dsn->far !== null) {
            $dsn = $dsn->far;
        }
        $distrust = match ($dsn->scheme) {
            'sqlite' => DatabaseFile::distrust(PrivateDirectory::followed($dsn->absolutePath()) ?? $dsn->absolutePath()),
            'file' => (new PrivateDirectory($dsn->absolutePath(), Guests::Root))->distrust(),
            'php' => (new PrivateDirectory($dsn->absolutePath(), Guests::None))->distrust(),
            default => null,
        };

        return $distrust === null ? [] : [Finding::problem($what, 'It cannot be used: ' . $distrust->reason() . '.', $distrust->remedy)];
    }
}
