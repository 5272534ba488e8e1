<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Says in sentences which store is in use, why, and its problems. */
final class Report
{
    /** Bytes: what a store has to have room for. */
    private const ROOM = 64 << 10;

    /** Seconds for which a caller that asks again and again believes that it has. */
    private const BELIEVED = 60;

    /** @var ?list<string> what is wrong, after the first question */
    private ?array $problems = null;

    /** @param bool $isRepeated whether it is asked for every few seconds, so that a store is not filled to see whether it is full */
    public function __construct(
        private readonly Plugin $plugin,
        private readonly bool $isRepeated = false,
    ) {}

    public function isOn(): bool
    {
        return ObjectCache::current() !== null;
    }

    public function state(): string
    {
        $choice = $this->plugin->choice();
        if ($this->isOn() && $this->problems() === []) {
            /* translators: %s: a store, such as "shared memory". */
            return sprintf(__('The object cache is on and uses %s.', 'larder'), $choice->title);
        }

        return $this->isOn() ? __('The object cache is on, but something is wrong.', 'larder') : __('The object cache is off: WordPress asks the database for everything in each request.', 'larder');
    }

    public function why(): string
    {
        return $this->plugin->choice()->why;
    }

    /** @return list<array{string, string}> the store's own figures: the name and the figure of each, in words */
    public function figures(): array
    {
        $names = [
            'pool' => __('Pool', 'larder'),
            'size' => __('At most', 'larder'),
            'capacity' => __('At most', 'larder'),
            'used' => __('In use', 'larder'),
            'bytes' => __('In use', 'larder'),
            'items' => __('Items', 'larder'),
            'hits' => __('Hits', 'larder'),
            'misses' => __('Misses', 'larder'),
            'sets' => __('Writes', 'larder'),
            'deletes' => __('Deletes', 'larder'),
            'evictions' => __('Removed to make room', 'larder'),
            'expired' => __('Removed after their time', 'larder'),
            'conflicts' => __('Not stored, as it had changed meanwhile', 'larder'),
            'refused' => __('Not stored, as it was too large or there was no room', 'larder'),
        ];
        $figures = [];
        foreach (ObjectCache::current()?->backend()->statistics() ?? [] as $name => $figure) {
            $figures[] = [$names[$name] ?? $name, match (true) {
                \is_int($figure) && \in_array($name, ['size', 'capacity', 'used', 'bytes'], true) => (string) size_format($figure, 1),
                \is_int($figure) => number_format_i18n($figure),
                default => (string) $figure,
            }];
        }

        return $figures;
    }

    /** @return list<string> what is wrong and what to change, a sentence each */
    public function problems(): array
    {
        return $this->problems ??= $this->find();
    }

    /** @return list<string> */
    private function find(): array
    {
        $problems = [];
        $dropIn = $this->plugin->dropIn;
        $choice = $this->plugin->choice();
        $isWritable = is_writable(WP_CONTENT_DIR);
        if ($choice->store === null) {
            $problems[] = $choice->why;
        }
        if (!$dropIn->exists()) {
            // Without a store none is of use.
            if ($choice->store !== null) {
                $problems[] = $isWritable
                    /* translators: %s: the path of a file. */
                    ? sprintf(__('There is no drop-in %s; enable the object cache in the settings, or by `wp larder enable`.', 'larder'), $dropIn->path)
                    /* translators: %s: the path of a folder. */
                    : sprintf(__('PHP may not write to %s, so the object cache has no drop-in there; make it writable while you enable the cache in the settings.', 'larder'), WP_CONTENT_DIR);
            }
        } elseif (!$dropIn->isOurs()) {
            /* translators: 1: the path of a file, 2: the name of another plugin. */
            $problems[] = sprintf(__('The drop-in %1$s is that of another plugin (%2$s); deactivate it, or say `wp larder enable --force`.', 'larder'), $dropIn->path, $dropIn->name());
        } elseif (Settings::isOutdated()) {
            /* translators: %s: the path of a file. */
            $problems[] = sprintf(__('The drop-in %s is of another version than the plugin, or for another store than wp-config.php names, and is not used. The plugin writes it anew where it may: make it writable for PHP, or say `wp larder enable`.', 'larder'), $dropIn->path);
        } elseif (!$this->isOn()) {
            $problems[] = __('The drop-in is there, but WordPress has not loaded it; look for WP_LARDER_DISABLED in wp-config.php, a PHP before 8.2, or missing files.', 'larder');
        }
        array_push($problems, ...WrongConstants::sentences(Directory::find(Settings::identity())));
        $settings = Settings::ofThisSite();
        $cache = ObjectCache::current();
        if ($cache !== null) {
            // What is not asked does not fail, and a full disk can be read.
            $cache->get('larder', 'larder-report', true);
            $isKept = $cache->trouble() === null && $this->isKept($cache->backend(), $settings->prefix());
            if ($cache->trouble() !== null) {
                /* translators: %s: a sentence that says what has failed. */
                $problems[] = sprintf(__('The site goes on without a cache: %s', 'larder'), $cache->trouble());
            } elseif (!$isKept) {
                $problems[] = __('The store takes no new values: it is full, or the disk that it lies on; make room there, or give it another place.', 'larder');
            }
        }
        $journal = $settings->journal();
        if ($journal !== null && is_file($journal) && filesize($journal) > 0 && !($settings->pool !== null && PHP_SAPI !== 'cli')) {
            /* translators: %s: the path of a file. */
            $problems[] = sprintf(__('The journal %s has deletes that are not delivered yet; the next request of the web server that reaches the store delivers them.', 'larder'), $journal);
        }
        foreach (PHP_SAPI === 'cli' ? [] : array_filter([$settings->directory, $journal], static fn(?string $path): bool => $path !== null && file_exists($path)) as $path) {
            if (!is_writable($path)) {
                /* translators: 1: the path of a folder or file, 2: the number of a user. */
                $problems[] = sprintf(__('PHP may not write to %1$s, which a command of another user has made; say `chown -R %2$d %1$s` as root.', 'larder'), $path, Settings::user());
            }
        }
        if ($this->isOn() && !$isWritable) {
            /* translators: %s: the path of a folder. */
            $problems[] = sprintf(__('PHP may not write to %s, so the drop-in stays as it is when the plugin changes; make it writable while you update the plugin.', 'larder'), WP_CONTENT_DIR);
        }

        return $problems;
    }

    /** Whether the store takes a value that needs some room. */
    private function isKept(Backend $backend, string $prefix): bool
    {
        // It is none of the site's calls, of which the dashboard shows the slowest.
        $backend = $backend instanceof Measured ? $backend->backend() : $backend;
        $name = "{$prefix}larder-report:room";
        if ($this->isRepeated && $backend->get($name, null) === true) {
            return true;
        }
        $isKept = $backend->set($name, random_bytes(self::ROOM), self::BELIEVED, []);
        $isKept && $this->isRepeated ? $backend->set($name, true, self::BELIEVED, []) : $backend->delete([$name]);

        return $isKept;
    }

    /** @return ?int Unix time at which a command line last used this site's cache; null: never heard */
    public function commandLineHeard(): ?int
    {
        $directory = Settings::ofThisSite()->directory;
        $heard = $directory === null ? false : @filemtime("{$directory}/heard-on-the-command-line");

        return $heard === false ? null : $heard;
    }
}
