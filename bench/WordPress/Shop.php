<?php

declare(strict_types=1);

namespace Larder\Bench\WordPress;

use Larder\Bench\FileSystem;
use Larder\Bench\Server\MariaDbServer;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\WorkerProcess;
use Symfony\Component\Process\Process;

/** A MariaDB with the database of a shop, which sites with different object caches share. */
final readonly class Shop
{
    public const PRODUCTS = 1_350;
    public const ON_A_PAGE = 18;
    private const DATABASE = 'larder_bench';

    private function __construct(public MariaDbServer $database, private TemporaryDirectory $directory, private string $wordpress) {}

    public function __destruct()
    {
        $this->database->stop();
        $this->directory->remove();
    }

    /**
     * @param string       $wordpress where WordPress is
     * @param int          $products  how many the shop has
     * @param list<string> $placement a command that runs its arguments where servers run
     *
     * @throws ServerFailed
     * @throws \RuntimeException when WordPress cannot be installed
     */
    public static function open(string $wordpress, int $products, array $placement): self
    {
        $shop = new self(MariaDbServer::start($placement), TemporaryDirectory::make(FileSystem::onDisk()), $wordpress);
        $site = $shop->installation('first');
        $site->configure('define("WP_SITEURL", "http://' . Installation::HOST . '");');
        $shop->run($site, sprintf('(new mysqli("localhost", "root", "", "", 0, %s))->query("CREATE DATABASE %s"); %s', var_export($shop->database->socket, true), self::DATABASE, Installation::INSTALL));
        $shop->run($site, 'require ROOT . "/wp-load.php"; require ' . var_export(self::scripts() . '/fill.inc', true) . ';', [(string) $products]);

        return $shop;
    }

    /** Where the scripts of WordPress's side are. */
    public static function scripts(): string
    {
        return \dirname(__DIR__, 2) . '/integrations/wordpress/bench';
    }

    /** A directory of the shop's own, which goes with it. */
    public function part(string $name): string
    {
        return $this->directory->part($name);
    }

    /** A document root over the shop's database, with the catalogue in it. */
    public function installation(string $name): Installation
    {
        $site = Installation::make($this->wordpress, "{$this->directory->path}/{$name}", self::DATABASE, $this->database->socket);
        $plugins = "{$site->root}/wp-content/mu-plugins";
        copy(self::scripts() . '/shop.inc', "{$plugins}/shop.php");
        mkdir("{$plugins}/shop");
        copy(self::scripts() . '/catalogue.inc', "{$plugins}/shop/catalogue.php");
        copy(self::scripts() . '/visit.inc', "{$site->root}/visit.php");
        file_put_contents("{$site->root}/idle.php", '<?php echo "idle";');

        return $site;
    }

    /** @param list<string> $arguments */
    private function run(Installation $site, string $code, array $arguments = []): void
    {
        $file = "{$this->directory->path}/run.php";
        file_put_contents($file, '<?php $_SERVER["HTTP_HOST"] = ' . var_export(Installation::HOST, true) . '; $_SERVER["REQUEST_URI"] = "/"; $_SERVER["REMOTE_ADDR"] = "127.0.0.1"; const ROOT = ' . var_export($site->root, true) . '; ' . $code);
        $command = [PHP_BINARY];
        foreach (['error_reporting' => (string) (E_ALL & ~E_DEPRECATED)] + WorkerProcess::SETTINGS as $name => $value) {
            array_push($command, '-d', "{$name}={$value}");
        }
        $process = new Process([...$command, $file, ...$arguments], timeout: null);
        if ($process->run() !== 0) {
            throw new \RuntimeException('WordPress could not be installed: ' . trim($process->getOutput() . $process->getErrorOutput()));
        }
    }
}
