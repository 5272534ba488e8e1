<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Exception\StoreUnavailable;

/** 32 random bytes in a file, made when first needed. */
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
            $bytes = @file_get_contents("{$this->folder->path}/secret");
            $this->bytes = $bytes !== false && \strlen($bytes) === self::BYTES ? $bytes : null;
        }

        return $this->bytes;
    }

    /** @throws StoreUnavailable */
    public function readOrMake(): string
    {
        return $this->read() ?? $this->make() ?? throw $this->folder->unavailable('its secret cannot be made');
    }

    /** Whoever links first has made it; a linked file is complete. */
    private function make(): ?string
    {
        $path = "{$this->folder->path}/secret";
        $temporary = "{$this->folder->path}/.secret-" . bin2hex(random_bytes(12));
        $made = @file_put_contents($temporary, random_bytes(self::BYTES)) === self::BYTES && @chmod($temporary, 0o600);
        if ($made && !@link($temporary, $path) && @filesize($path) !== self::BYTES) {
            // A secret of the wrong length is none.
            @rename($temporary, $path);
        }
        @unlink($temporary);

        return $this->read();
    }
}
