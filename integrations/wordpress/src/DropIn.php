<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** A drop-in in wp-content, object-cache.php or advanced-cache.php: writes, recognises and removes ours, and leaves any other alone. */
final class DropIn
{
    /** What only ours has in its first lines. */
    private const MARK = 'Plugin Name: Larder (drop-in)';

    public readonly string $path;

    public function __construct(
        private readonly string $plugin,
        private readonly string $content,
        private readonly string $file = 'object-cache.php',
        private readonly string $kind = 'an object cache',
    ) {
        $this->path = "{$content}/{$file}";
    }

    public function exists(): bool
    {
        return is_file($this->path);
    }

    public function isOurs(): bool
    {
        return $this->exists() && str_contains((string) file_get_contents($this->path, false, null, 0, 1024), self::MARK);
    }

    /** What the drop-in calls itself, if it is another plugin's. */
    public function name(): string
    {
        $beginning = (string) @file_get_contents($this->path, false, null, 0, 4096);

        return preg_match('/Plugin Name:\s*(.+)/i', $beginning, $name) === 1 ? trim($name[1]) : 'a drop-in without a name';
    }

    /**
     * @param array<string, mixed> $settings what Settings reads
     *
     * @return ?string why it could not be written, in a sentence
     */
    public function write(array $settings, bool $overForeign = false): ?string
    {
        if ($this->exists() && !$this->isOurs() && !$overForeign) {
            return sprintf(
                $this->kind === 'a page cache'
                    /* translators: %s: the name of another plugin. */
                    ? __('There is a page cache already (%s); deactivate its plugin, or say that it may be replaced.', 'larder')
                    /* translators: %s: the name of another plugin. */
                    : __('There is an object cache already (%s); deactivate its plugin, or say that it may be replaced.', 'larder'),
                $this->name(),
            );
        }
        $text = $this->text($settings);
        if ($this->exists() && file_get_contents($this->path) === $text) {
            return null;
        }
        $pending = $this->path . '.' . bin2hex(random_bytes(6));
        // Complete before it has its name: a request that comes meanwhile must not load half of it.
        if (@file_put_contents($pending, $text) !== \strlen($text) || !@chmod($pending, 0o644) || !@rename($pending, $this->path)) {
            @unlink($pending);

            return "{$this->path} could not be written; make the directory {$this->content} writable for PHP while you enable the cache.";
        }
        $this->forgetCode();

        return null;
    }

    /** @return ?string why it could not be removed, in a sentence */
    public function remove(): ?string
    {
        if (!$this->isOurs()) {
            return null;
        }
        if (!@unlink($this->path)) {
            return "{$this->path} could not be removed; remove it yourself.";
        }
        $this->forgetCode();

        return null;
    }

    /** @param array<string, mixed> $settings */
    private function text(array $settings): string
    {
        $inside = str_starts_with($this->plugin, $this->content . '/');
        $settings['plugin'] = $inside ? substr($this->plugin, \strlen($this->content) + 1) : $this->plugin;

        return strtr((string) file_get_contents("{$this->plugin}/drop-in/{$this->file}"), [
            '[ /* settings */ ]' => str_replace("\n", ' ', var_export($settings, true)),
            'LARDER_VERSION' => Plugin::VERSION,
        ]);
    }

    private function forgetCode(): void
    {
        clearstatcache(true, $this->path);
        if (\function_exists('opcache_invalidate')) {
            @opcache_invalidate($this->path, true);
        }
    }
}
