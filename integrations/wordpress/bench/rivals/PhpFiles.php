<?php

declare(strict_types=1);

namespace Larder\WordPress\Bench;

/** A file of PHP for each key, which opcache keeps. */
final readonly class PhpFiles implements Store
{
    public function __construct(private string $directory) {}

    public function read(string $group, array $keys): array
    {
        $values = [];
        foreach ($keys as $key) {
            $item = @include $this->file($group, $key);
            if (\is_array($item) && ($item['expires'] === 0 || $item['expires'] > time())) {
                $values[$key] = isset($item['bytes']) && \is_string($item['bytes']) ? unserialize($item['bytes']) : $item['value'];
            }
        }

        return $values;
    }

    public function write(string $group, array $values, int $seconds): void
    {
        foreach ($values as $key => $value) {
            $item = ['expires' => $seconds === 0 ? 0 : time() + $seconds] + ($this->isPlain($value) ? ['value' => $value] : ['bytes' => serialize($value)]);
            $file = $this->file($group, $key);
            $pending = $file . bin2hex(random_bytes(4));
            if (@file_put_contents($pending, '<?php return ' . var_export($item, true) . ';') === false) {
                @mkdir(\dirname($file), 0o700, true);
                file_put_contents($pending, '<?php return ' . var_export($item, true) . ';');
            }
            rename($pending, $file);
            // Else the former one is used for as long as opcache does not look.
            opcache_invalidate($file, true);
        }
    }

    public function add(string $group, int|string $key, mixed $value, int $seconds): bool
    {
        if ($this->read($group, [$key]) !== []) {
            return false;
        }
        $this->write($group, [$key => $value], $seconds);

        return true;
    }

    public function delete(string $group, array $keys): void
    {
        foreach ($keys as $key) {
            $file = $this->file($group, $key);
            if (@unlink($file)) {
                opcache_invalidate($file, true);
            }
        }
    }

    public function clear(): void
    {
        foreach (glob("{$this->directory}/*/*.php") ?: [] as $file) {
            unlink($file);
            opcache_invalidate($file, true);
        }
    }

    private function file(string $group, int|string $key): string
    {
        return $this->directory . '/' . rawurlencode($group) . '/' . md5((string) $key) . '.php';
    }

    private function isPlain(mixed $value): bool
    {
        if (!\is_array($value)) {
            return \is_scalar($value) || $value === null;
        }
        foreach ($value as $element) {
            if (!$this->isPlain($element)) {
                return false;
            }
        }

        return true;
    }
}
