<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\System\PrivateDirectory;

/**
 * The use of a bounded directory: a file with two numbers for each shard, bytes and items. Only the holder of the shard's lock changes
 * them. One read tells the sum.
 */
final class Usage
{
    private const BYTES = 4_096;

    public function __construct(
        private readonly string $path,
        private readonly PrivateDirectory $directory,
    ) {}

    public function isThere(): bool
    {
        return @filesize($this->path) === self::BYTES;
    }

    /** @return array{int, int} bytes and items */
    public function total(): array
    {
        /** @var array<int> $numbers */
        $numbers = unpack('J*', (string) $this->directory->contents($this->path)) ?: [];
        $bytes = $items = 0;
        foreach (array_values($numbers) as $i => $number) {
            $i % 2 === 0 ? $bytes += $number : $items += $number;
        }

        return [$bytes, $items];
    }

    /** @return array{int, int} */
    public function of(int $shard): array
    {
        /** @var array{1: int, 2: int} $numbers */
        $numbers = unpack('J2', str_pad((string) $this->directory->contents($this->path, 16, 16 * $shard), 16, "\0")) ?: [1 => 0, 2 => 0];

        return [$numbers[1], $numbers[2]];
    }

    public function put(int $shard, int $bytes, int $items): void
    {
        $file = $this->directory->open($this->path);
        if ($file === false || !$this->directory->holds($file, $this->path)) {
            return;
        }
        // All of it at once, so that a process that finds it finds it whole.
        $end = fstat($file);
        if ($end !== false && $end['size'] < self::BYTES) {
            ftruncate($file, self::BYTES);
        }
        fseek($file, 16 * $shard);
        @fwrite($file, pack('J2', max(0, $bytes), max(0, $items)));
        fclose($file);
    }

    public function add(int $shard, int $bytes, int $items): void
    {
        if ($bytes !== 0 || $items !== 0) {
            [$oldBytes, $oldItems] = $this->of($shard);
            $this->put($shard, $oldBytes + $bytes, $oldItems + $items);
        }
    }
}
