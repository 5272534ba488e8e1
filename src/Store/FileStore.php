<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Dsn;
use Larder\Exception;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store\File\BinaryFormat;
use Larder\Store\File\Directory;
use Larder\Store\File\DirectoryStore;
use Larder\Store\File\Folder;
use Larder\Store\File\Secret;

/**
 * Items in files (see BinaryFormat): page caches, and anything large. Directory says how they are kept and judged.
 *
 * The directory is made for its owner alone (0700). One that others may write to is refused (see PrivateDirectory).
 */
final class FileStore extends DirectoryStore
{
    /** The options of its DSN. */
    public const OPTIONS = [...self::BOUNDS, ...Payload::OPTIONS];

    /**
     * @param string           $directory used by this store alone; made if it is not there
     * @param float            $timeout   seconds to wait for another writer
     * @param ?int             $size      bytes at most; null: as many as there is room for
     * @param ?int             $files     items at most, each of which is a file
     * @param bool             $evict     whether a full directory makes room by dropping items, or refuses
     * @param ?\Closure(): int $clock     the time in Unix seconds; for tests that cannot wait
     *
     * @throws Exception
     */
    public function __construct(
        string $directory,
        Payload $payload = new Payload(new PhpSerializer()),
        float $timeout = 1.0,
        ?int $size = null,
        ?int $files = null,
        bool $evict = true,
        ?\Closure $clock = null,
    ) {
        $folder = new Folder($directory, $timeout);
        parent::__construct(new Directory($folder, new BinaryFormat($payload, new Secret($folder), $folder), $size, $files, $evict, $clock ?? time(...)));
    }

    /** Options: those of bounds() and of Payload::fromDsn(). */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow(...self::OPTIONS);

        return new self($dsn->absolutePath(), Payload::fromDsn($dsn, ''), ...self::bounds($dsn));
    }
}
