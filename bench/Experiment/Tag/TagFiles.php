<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

/**
 * The design of the file back end that Magento 1 is delivered with, re-created plainly.
 *
 * Each item is two files in one of sixteen directories. One has its value; the other a serialised record with its expiry, its
 * tags and a checksum. Both are read and written under flock. There is no index: cleaning by tag reads the record of every
 * item.
 */
final readonly class TagFiles implements Indexed
{
    public function __construct(private string $root)
    {
        for ($directory = 0; $directory < 16; $directory++) {
            @mkdir(sprintf('%s/%x', $root, $directory), 0o700);
        }
    }

    public function load(string $id, array $tags = []): ?string
    {
        $record = $this->record($this->file($id, 'record'));
        if ($record === null || $record['expiry'] < time()) {
            return null;
        }
        $value = self::read($this->file($id, 'value'));

        return $value !== null && crc32($value) === $record['checksum'] ? $value : null;
    }

    public function save(string $id, string $value, array $tags, int $lifetime): void
    {
        $record = ['expiry' => time() + $lifetime, 'tags' => $tags, 'checksum' => crc32($value)];
        self::write($this->file($id, 'record'), serialize($record));
        self::write($this->file($id, 'value'), $value);
    }

    public function clean(array $tags): void
    {
        foreach ($this->withAny($tags) as $id) {
            $this->remove($id);
        }
    }

    public function withAny(array $tags): array
    {
        $found = [];
        foreach (glob("{$this->root}/*/record-*") ?: [] as $file) {
            $record = $this->record($file);
            if ($record !== null && array_intersect($tags, $record['tags']) !== []) {
                $found[] = substr(basename($file), 7);
            }
        }

        return $found;
    }

    public function remove(string $id): void
    {
        @unlink($this->file($id, 'value'));
        @unlink($this->file($id, 'record'));
    }

    private function file(string $id, string $kind): string
    {
        return sprintf('%s/%x/%s-%s', $this->root, crc32($id) & 15, $kind, $id);
    }

    /** @return array{expiry: int, tags: list<string>, checksum: int}|null */
    private function record(string $file): ?array
    {
        $bytes = self::read($file);
        $record = $bytes === null ? false : @unserialize($bytes, ['allowed_classes' => false]);
        if (!is_array($record) || !is_int($record['expiry'] ?? null) || !is_array($record['tags'] ?? null) || !is_int($record['checksum'] ?? null)) {
            return null;
        }

        return ['expiry' => $record['expiry'], 'tags' => array_values(array_filter($record['tags'], is_string(...))), 'checksum' => $record['checksum']];
    }

    private static function read(string $file): ?string
    {
        $stream = @fopen($file, 'rb');
        if ($stream === false) {
            return null;
        }
        flock($stream, LOCK_SH);
        $bytes = stream_get_contents($stream);
        flock($stream, LOCK_UN);
        fclose($stream);

        return $bytes === false ? null : $bytes;
    }

    private static function write(string $file, string $bytes): void
    {
        $stream = fopen($file, 'cb');
        if ($stream === false) {
            throw new \RuntimeException("The file {$file} cannot be written: free some space or inodes on that disk.");
        }
        flock($stream, LOCK_EX);
        ftruncate($stream, 0);
        fwrite($stream, $bytes);
        flock($stream, LOCK_UN);
        fclose($stream);
    }
}
