<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\Server;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\Value;

/**
 * nginx and php-fpm with one small script for each subject.
 *
 * The scripts print nothing, and use no autoloader but where the library is measured: an empty one does what all the others do besides reading.
 */
final class Site
{
    public const WORKERS = 4;
    /** APCu copies arrays faster by itself than through a serialiser, where a request reads one. */
    private const SETTINGS = ['display_errors' => '1', 'apc.serializer' => 'default'];

    /** @param list<Server> $stores the servers behind the scripts, whose processor time counts too */
    private function __construct(
        private readonly ScriptSite $site,
        private readonly array $stores,
    ) {}

    /**
     * @param array<string, WebScript> $scripts by the subject's name
     * @param non-empty-list<Value> $values
     * @param list<Server> $stores
     */
    public static function start(Laboratory $laboratory, array $scripts, array $values, array $stores, TemporaryDirectory $directory): self
    {
        $root = $directory->path;
        $pages = ['clean' => implode(' ', array_map(static fn(WebScript $script): string => $script->clean, $scripts)) . " echo 'clean';"];
        foreach ($values as $value) {
            file_put_contents("{$root}/{$value->name}.value", serialize($value->make(0)));
            foreach ($scripts as $name => $script) {
                $before = "\$key = '{$value->name}'; \$isString = " . var_export($value->isString, true) . '; ';
                $written = "\$value = unserialize(file_get_contents('{$root}/{$value->name}.value')); ";
                $pages["{$name}-{$value->name}"] = $before . $script->read;
                $pages["fill-{$name}-{$value->name}"] = "{$before}{$written}{$script->write} echo 'filled';";
                $pages["check-{$name}-{$value->name}"] = "\$value = null; {$before}{$script->read} \$read = \$value; {$written} echo " . ($name === 'empty' ? 'true' : '$read === $value') . " ? 'same' : 'other';";
            }
        }
        $site = new self(ScriptSite::start($laboratory, $directory, $pages, self::SETTINGS, self::WORKERS), $stores);
        foreach ($values as $value) {
            foreach (array_keys($scripts) as $name) {
                $site->expect("/fill-{$name}-{$value->name}.php", 'filled');
                $site->expect("/check-{$name}-{$value->name}.php", 'same');
            }
        }

        return $site;
    }

    public function port(): int
    {
        return $this->site->nginx->port;
    }

    /** @return array<string, array{version: string, command: string, memory?: string}> */
    public function descriptions(): array
    {
        return ['nginx' => $this->site->nginx->description(), 'php-fpm' => $this->site->fpm->description()];
    }

    /** @return list<int> of all servers, those behind the scripts included */
    public function processIds(): array
    {
        $processes = [...$this->site->nginx->processIds(), ...$this->site->fpm->processIds()];
        foreach ($this->stores as $store) {
            array_push($processes, ...$store->processIds());
        }

        return $processes;
    }

    /** @throws \RuntimeException when a script answers something else */
    public function expect(string $path, string $expected): void
    {
        $this->site->expect($path, $expected);
    }

    public function answer(string $path): string
    {
        return $this->site->answer($path);
    }
}
