<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\NginxServer;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Subject\Extension;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\WorkerProcess;

/** nginx and php-fpm with a few small scripts. The one called "clean" removes what would outlive them, such as a pool, when the site goes. */
final class ScriptSite
{
    private function __construct(
        private readonly TemporaryDirectory $root,
        public readonly PhpFpmServer $fpm,
        public readonly NginxServer $nginx,
    ) {}

    public function __destruct()
    {
        $this->answer('/clean.php');
        $this->nginx->stop();
        $this->fpm->stop();
        $this->root->remove();
    }

    /**
     * @param array<string, string> $scripts by name; each is code in `<?php`
     * @param array<string, string|int> $settings of php.ini, beside those of every worker
     *
     * @throws ServerFailed
     */
    public static function start(Laboratory $laboratory, TemporaryDirectory $root, array $scripts, array $settings, int $workers): self
    {
        foreach ($scripts as $name => $script) {
            file_put_contents("{$root->path}/{$name}.php", "<?php {$script}");
        }
        $fpm = PhpFpmServer::start([...Extension::settings(), ...WorkerProcess::SETTINGS, ...$settings], $workers, $laboratory->placement->server);

        return new self($root, $fpm, NginxServer::start($root->path, $fpm->socket, 1, $laboratory->placement->server));
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
        $context = stream_context_create(['http' => ['ignore_errors' => true, 'timeout' => 60]]);

        return (string) @file_get_contents("http://127.0.0.1:{$this->nginx->port}{$path}", false, $context);
    }
}
