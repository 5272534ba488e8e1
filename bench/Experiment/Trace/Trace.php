<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Trace;

use Larder\Bench\Server\Program;
use Symfony\Component\Process\Process;

/** A recorded order of accesses: big-endian 32-bit integers, each a key, perhaps compressed by xz. */
final readonly class Trace
{
    /** @param non-empty-list<int> $keys in the order they were accessed */
    private function __construct(public string $name, public array $keys) {}

    /** @throws \RuntimeException when it cannot be read */
    public static function read(string $file): self
    {
        $keys = [];
        // In pieces, because unpack makes a key of text for each integer before there is a list.
        foreach (str_split(self::bytes($file), 1 << 20) as $piece) {
            foreach (unpack('N*', $piece) ?: [] as $key) {
                $keys[] = is_int($key) ? $key : 0;
            }
        }

        return $keys === []
            ? throw new \LogicException("The trace {$file} had bytes and has no keys.")
            : new self(basename(basename($file, '.xz'), '.trace'), $keys);
    }

    private static function bytes(string $file): string
    {
        $bytes = str_ends_with($file, '.xz') ? self::decompress($file) : @file_get_contents($file);

        return match (true) {
            $bytes === false => throw new \RuntimeException("The trace {$file} cannot be read: give the path of a file of 32-bit integers."),
            $bytes === '' => throw new \RuntimeException("The trace {$file} is empty: give a file of 32-bit integers."),
            strlen($bytes) % 4 !== 0 => throw new \RuntimeException(sprintf('The trace %s has %d bytes, which are not whole 32-bit integers: it is damaged, or of another form.', $file, strlen($bytes))),
            default => $bytes,
        };
    }

    /** @throws \RuntimeException when it could not be read */
    public static function check(string $file): void
    {
        self::bytes($file);
    }

    public function distinct(): int
    {
        return count(array_flip($this->keys));
    }

    private static function decompress(string $file): string
    {
        $xz = Program::find('xz') ?? throw new \RuntimeException("The trace {$file} cannot be read because xz is not installed: install the package xz-utils.");
        $process = new Process([$xz, '-dc', '--', $file], timeout: null);

        return $process->run() === 0 ? $process->getOutput() : throw new \RuntimeException("The trace {$file} cannot be read: " . trim($process->getErrorOutput()));
    }
}
