<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Says in sentences which store is in use, why, and its problems. */
final class Report
{
    public function __construct(
        private readonly Plugin $plugin,
    ) {}

    public function isOn(): bool
    {
        return ObjectCache::current() !== null;
    }

    public function state(): string
    {
        $choice = $this->plugin->choice();
        if ($this->isOn() && $this->problems() === []) {
            return "The object cache is on and uses {$choice->title}.";
        }

        return $this->isOn() ? 'The object cache is on, but something is wrong.' : 'The object cache is off: WordPress asks the database for everything in each request.';
    }

    public function why(): string
    {
        return $this->plugin->choice()->why;
    }

    /** @return list<string> what is wrong and what to change, a sentence each */
    public function problems(): array
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
                    ? "There is no drop-in {$dropIn->path}; enable the object cache in the settings, or by `wp larder enable`."
                    : 'PHP may not write to ' . WP_CONTENT_DIR . ', so that the object cache has no drop-in there; make it writable while you enable the cache in the settings.';
            }
        } elseif (!$dropIn->isOurs()) {
            $problems[] = "The drop-in {$dropIn->path} is that of another plugin ({$dropIn->name()}); deactivate it, or say `wp larder enable --force`.";
        } elseif (Settings::isOutdated()) {
            $problems[] = "The drop-in {$dropIn->path} is of another version than the plugin, and is not used. The plugin writes it anew where it may: make it writable for PHP, or say `wp larder enable`.";
        } elseif (!$this->isOn()) {
            $problems[] = 'The drop-in is there, but WordPress has not loaded it; look for WP_LARDER_DISABLED in wp-config.php, and for another PHP before 8.2.';
        }
        $cache = ObjectCache::current();
        if ($cache !== null) {
            // What is not asked does not fail.
            $cache->get('larder', 'larder-report', true);
            if ($cache->trouble() !== null) {
                $problems[] = 'The site goes on without a cache: ' . $cache->trouble();
            }
        }
        $settings = Settings::ofThisSite();
        $journal = $settings->journal();
        if ($journal !== null && is_file($journal) && filesize($journal) > 0 && !($settings->pool !== null && PHP_SAPI !== 'cli')) {
            $problems[] = "The journal {$journal} has deletes that are not delivered yet; the next request of the web server delivers them.";
        }
        if ($this->isOn() && !$isWritable) {
            $problems[] = 'PHP may not write to ' . WP_CONTENT_DIR . ', so that the drop-in stays as it is when the plugin changes; make it writable while you update the plugin.';
        }

        return $problems;
    }

    /** @return ?int Unix time at which a command line last used this site's cache; null: never heard */
    public function commandLineHeard(): ?int
    {
        $directory = Settings::ofThisSite()->directory;
        $heard = $directory === null ? false : @filemtime("{$directory}/heard-on-the-command-line");

        return $heard === false ? null : $heard;
    }
}
