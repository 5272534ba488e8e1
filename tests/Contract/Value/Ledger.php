<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/**
 * The truth behind a cache, as a test of many processes needs it: for each of some numbered things its present
 * version, and the latest version of which every cache must have learnt. A process that changes a thing holds its lock
 * until the cache was told, as an application does whose writes to one row follow each other.
 */
final class Ledger
{
    private const CELL = 16;

    /** @var resource */
    private readonly mixed $file;

    /** @param string $path of a file that is there and empty when the first process begins */
    public function __construct(
        private readonly string $path,
    ) {
        $file = fopen($path, 'c+');
        if ($file === false) {
            throw new \RuntimeException("{$path} cannot be opened");
        }
        stream_set_read_buffer($file, 0);
        stream_set_write_buffer($file, 0);
        $this->file = $file;
    }

    /** The present version. */
    public function version(int $thing): int
    {
        return $this->read($thing * self::CELL);
    }

    /** The latest version that every request from now on has to see, or a later one. */
    public function told(int $thing): int
    {
        return $this->read($thing * self::CELL + 8);
    }

    /**
     * Changes things, and tells the cache.
     *
     * @param non-empty-list<int>             $things in ascending order
     * @param \Closure(array<int, int>): void $tell   gets the new versions; if it throws, the cache may not know
     */
    public function change(array $things, \Closure $tell): void
    {
        $locks = $versions = [];
        foreach ($things as $thing) {
            $lock = fopen("{$this->path}.{$thing}", 'c');
            if ($lock === false || !flock($lock, \LOCK_EX)) {
                throw new \RuntimeException("{$this->path}.{$thing} cannot be locked");
            }
            $locks[] = $lock;
            $versions[$thing] = $this->version($thing) + 1;
            $this->write($thing * self::CELL, $versions[$thing]);
        }
        $tell($versions);
        foreach ($versions as $thing => $version) {
            $this->tell($thing, $version);
        }
        foreach ($locks as $lock) {
            fclose($lock);
        }
    }

    /** From now on every request has to see this version of a thing, or a later one. The caller changes the thing. */
    public function tell(int $thing, int $version): void
    {
        $this->write($thing * self::CELL + 8, $version);
    }

    private function read(int $offset): int
    {
        fseek($this->file, $offset);
        $number = unpack('J', str_pad((string) fread($this->file, 8), 8, "\0"))[1] ?? 0;

        return \is_int($number) ? $number : 0;
    }

    private function write(int $offset, int $number): void
    {
        fseek($this->file, $offset);
        fwrite($this->file, pack('J', $number));
    }
}
