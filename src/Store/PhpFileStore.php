<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\InvalidOption;
use Larder\Serializer\Payload;
use Larder\Serializer\PhpSerializer;
use Larder\Store\File\Directory;
use Larder\Store\File\DirectoryStore;
use Larder\Store\File\Folder;
use Larder\Store\File\PhpFormat;

/**
 * Items in files of PHP code (see PhpFormat), which opcache keeps in its shared memory. It suits values that rarely change: opcache
 * does not reuse the memory of replaced files before it restarts. Without opcache it works, but each read compiles.
 *
 * PHP runs these files. So the directory is made for its owner alone (0700), and belongs outside the web server's document root. It is
 * refused if another user owns it or may write to it. So nothing is signed.
 */
final class PhpFileStore extends DirectoryStore
{
    /** The options of its DSN. */
    public const OPTIONS = [...self::BOUNDS, 'serializer', 'classes'];

    /**
     * @param string           $directory used by this store alone; made if it is not there
     * @param float            $timeout   seconds to wait for another writer
     * @param ?int             $size      bytes at most; null: as many as there is room for
     * @param ?int             $files     items at most, each of which is two files
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
        $folder = new Folder($directory, $timeout, isCode: true);
        if (!\function_exists('symlink') || !\function_exists('readlink')) {
            throw InvalidOption::iniSetting('PhpFileStore', 'symlink() or readlink() is disabled', 'take them out of disable_functions, or use FileStore');
        }
        if (\ini_get('zend.multibyte') === '1') {
            throw InvalidOption::iniSetting('PhpFileStore', 'PHP converts the encoding of its files', 'set zend.multibyte=0');
        }
        parent::__construct(new Directory($folder, new PhpFormat($payload, $folder), $size, $files, $evict, $clock ?? time(...)));
    }

    /** Options: those of bounds(); serializer and classes, as Payload::fromDsn() has them, for values with objects in them. */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow(...self::OPTIONS);

        return new self($dsn->absolutePath(), Payload::fromDsn($dsn, ''), ...self::bounds($dsn));
    }
}
