<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Exception\StoreUnavailable;
use Larder\System\Process;

/**
 * 32 random bytes in a file, made when first needed. A client that knows them can have its bytes unserialised. So a secret that another
 * user has put there, or that others may read, is refused. The directory's owner replaces a secret that root made. The two users
 * cannot share signed items then, and the directory is the owner's.
 */
final class Secret
{
    private const BYTES = 32;

    private ?string $bytes = null;

    public function __construct(
        private readonly Folder $folder,
    ) {}

    /** @return ?string null: there is none, so nothing was signed with it */
    public function read(): ?string
    {
        if ($this->bytes === null) {
            // To open a named pipe would wait for a process that writes into it.
            $file = @fopen("{$this->folder->path}/secret", 'rn');
            if ($file !== false) {
                $bytes = self::isOurs(fstat($file)) ? fread($file, self::BYTES + 1) : false;
                fclose($file);
                // A power cut may have left zeros, which are no secret.
                $this->bytes = $bytes !== false && \strlen($bytes) === self::BYTES && trim($bytes, "\0") !== '' ? $bytes : null;
            }
        }

        return $this->bytes;
    }

    /** @throws StoreUnavailable */
    public function readOrMake(): string
    {
        return $this->read() ?? $this->make()
            ?? throw $this->folder->unavailable('its secret cannot be made, or is another user\'s', remedy: 'run this as the owner of the directory, and see that its disk has room');
    }

    /** The first process to link has made it; a linked file is complete. */
    private function make(): ?string
    {
        $path = "{$this->folder->path}/secret";
        $temporary = "{$this->folder->path}/.secret-" . bin2hex(random_bytes(12));
        $file = $this->folder->directory->make($temporary, isGiven: false);
        $made = $file !== false && @fwrite($file, random_bytes(self::BYTES)) === self::BYTES && fclose($file);
        if ($made && !self::link($temporary, $path) && $this->read() === null
            && (@filesize($path) !== self::BYTES || self::isOurs(@lstat($path), 0) || $this->isOfAGuest(@lstat($path)))) {
            // A secret of the wrong length, or that others could read, is none; another user may still need theirs.
            @rename($temporary, $path);
        }
        @unlink($temporary);

        return $this->read();
    }

    /** @param array<array-key, int>|false $status */
    private function isOfAGuest(array|false $status): bool
    {
        return $status !== false && $status['uid'] === 0 && self::isOurs(@stat($this->folder->path), 0);
    }

    /** Where a host has disabled link(), of two that make it at the same moment the second wins, which is misses. */
    private static function link(string $temporary, string $path): bool
    {
        return \function_exists('link') ? @link($temporary, $path) : !file_exists($path) && @rename($temporary, $path);
    }

    /**
     * @param array<array-key, int>|false $status
     * @param int                         $others the rights of others that are too many
     */
    private static function isOurs(array|false $status, int $others = 0o077): bool
    {
        return $status !== false && ($status['mode'] & $others) === 0 && \in_array(Process::user(), [-1, $status['uid']], true);
    }
}
