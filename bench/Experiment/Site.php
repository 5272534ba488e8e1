<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\NginxServer;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Bench\Server\Server;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\Value;
use Larder\Bench\Subject\WorkerProcess;

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
        private readonly TemporaryDirectory $root,
        private readonly PhpFpmServer $fpm,
        private readonly NginxServer $nginx,
        private readonly array $stores,
    ) {}

    public function __destruct()
    {
        // The scripts' own clean-up first: a pool of shared memory outlives php-fpm.
        $this->answer('/clean.php');
        $this->nginx->stop();
        $this->fpm->stop();
        $this->root->remove();
    }

    /**
     * @param array<string, WebScript> $scripts by the subject's name
     * @param non-empty-list<Value> $values
     * @param list<Server> $stores
     */
    public static function start(Laboratory $laboratory, array $scripts, array $values, array $stores, TemporaryDirectory $directory): self
    {
        $root = $directory->path;
        foreach ($values as $value) {
            file_put_contents("{$root}/{$value->name}.value", serialize($value->make(0)));
            foreach ($scripts as $name => $script) {
                $before = "\$key = '{$value->name}'; \$isString = " . var_export($value->isString, true) . '; ';
                $written = "\$value = unserialize(file_get_contents('{$root}/{$value->name}.value')); ";
                file_put_contents("{$root}/{$name}-{$value->name}.php", "<?php {$before}{$script->read}");
                file_put_contents("{$root}/fill-{$name}-{$value->name}.php", "<?php {$before}{$written}{$script->write} echo 'filled';");
                file_put_contents(
                    "{$root}/check-{$name}-{$value->name}.php",
                    "<?php \$value = null; {$before}{$script->read} \$read = \$value; {$written} echo " . ($name === 'empty' ? 'true' : '$read === $value') . " ? 'same' : 'other';",
                );
            }
        }
        file_put_contents("{$root}/clean.php", '<?php ' . implode(' ', array_map(static fn(WebScript $script): string => $script->clean, $scripts)) . " echo 'clean';");
        $settings = [...WorkerProcess::SETTINGS, ...self::SETTINGS];
        if (Extension::built() !== null) {
            $settings['extension'] = Extension::built();
        }
        $fpm = PhpFpmServer::start($settings, self::WORKERS, $laboratory->placement->server);
        $site = new self($directory, $fpm, NginxServer::start($root, $fpm->socket, 1, $laboratory->placement->server), $stores);
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
        return $this->nginx->port;
    }

    /** @return array<string, array{version: string, command: string, memory?: string}> */
    public function descriptions(): array
    {
        return ['nginx' => $this->nginx->description(), 'php-fpm' => $this->fpm->description()];
    }

    /** @return list<int> of all servers, those behind the scripts included */
    public function processIds(): array
    {
        $processes = [...$this->nginx->processIds(), ...$this->fpm->processIds()];
        foreach ($this->stores as $store) {
            array_push($processes, ...$store->processIds());
        }

        return $processes;
    }

    /** @throws \RuntimeException when a script answers something else */
    public function expect(string $path, string $expected): void
    {
        $answer = $this->answer($path);
        if ($answer !== $expected) {
            throw new \RuntimeException(sprintf('The script %s answered "%s" instead of "%s": its figures would be worth nothing.', $path, trim(strip_tags(substr($answer, 0, 300))), $expected));
        }
    }

    public function answer(string $path): string
    {
        $context = stream_context_create(['http' => ['ignore_errors' => true, 'timeout' => 10]]);

        return (string) @file_get_contents("http://127.0.0.1:{$this->nginx->port}{$path}", false, $context);
    }
}
