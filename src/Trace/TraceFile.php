<?php

declare(strict_types=1);

namespace Larder\Trace;

use Larder\Exception\InvalidTrace;

/**
 * A file of accesses: a head, "# larder trace 1 rate 0.01", and one line each, "r 0123456789abcdef 512". Without the
 * head it is one of 32-bit integers in little-endian order, each of which stands for a read of an item of one byte.
 */
final class TraceFile
{
    private const HEAD = '# larder trace 1 rate ';

    private function __construct(
        private readonly string $path,
        public readonly float $rate,
        private readonly bool $isText,
    ) {}

    /**
     * @param bool $isIntegers whether it is one of integers; any bytes would be some, so that this has to be said
     *
     * @throws InvalidTrace
     */
    public static function open(string $path, bool $isIntegers = false): self
    {
        $file = is_file($path) ? @fopen($path, 'r') : false;
        if ($file === false) {
            throw InvalidTrace::unreadable($path);
        }
        $head = (string) fgets($file, 64);
        fclose($file);
        $isText = str_starts_with($head, self::HEAD);
        if (!$isText && !$isIntegers) {
            throw InvalidTrace::none($path);
        }
        $rate = $isText ? (float) substr($head, \strlen(self::HEAD)) : 1.0;
        if (!($rate > 0.0 && $rate <= 1.0)) {
            throw InvalidTrace::line($path, 1);
        }

        return new self($path, $rate, $isText);
    }

    public static function head(float $rate): string
    {
        return self::HEAD . "{$rate}\n";
    }

    public static function line(Verb $verb, string $key, int $bytes): string
    {
        return "{$verb->value} {$key} {$bytes}\n";
    }

    /**
     * @return iterable<int, Access>
     *
     * @throws InvalidTrace
     */
    public function accesses(): iterable
    {
        $file = @fopen($this->path, 'r');
        if ($file === false) {
            throw InvalidTrace::unreadable($this->path);
        }
        try {
            yield from $this->isText ? $this->lines($file) : $this->integers($file);
        } finally {
            fclose($file);
        }
    }

    /**
     * @param resource $file
     *
     * @return iterable<int, Access>
     */
    private function lines(mixed $file): iterable
    {
        for ($number = 1; ($line = fgets($file)) !== false; $number++) {
            if ($line[0] === '#') {
                continue;
            }
            if (preg_match('/^([rwd]) ([0-9a-f]{16}) (\d{1,15})$/D', rtrim($line, "\n"), $match) !== 1) {
                // The last line of a trace that is still being written.
                if (!str_ends_with($line, "\n")) {
                    return;
                }
                throw InvalidTrace::line($this->path, $number);
            }
            yield new Access(Verb::from($match[1]), $match[2], (int) $match[3]);
        }
    }

    /**
     * @param resource $file
     *
     * @return iterable<int, Access>
     */
    private function integers(mixed $file): iterable
    {
        while (($bytes = fread($file, 1 << 16)) !== false && $bytes !== '') {
            if (\strlen($bytes) % 4 !== 0) {
                throw InvalidTrace::line($this->path, 1);
            }
            foreach (unpack('V*', $bytes) ?: [] as $integer) {
                yield new Access(Verb::Read, \is_int($integer) ? (string) $integer : '', 1);
            }
        }
    }
}
