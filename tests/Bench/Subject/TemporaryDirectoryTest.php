<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Subject;

use Larder\Bench\FileSystem;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Tests\Scratch;
use Larder\Tests\Wait;
use PHPUnit\Framework\TestCase;

final class TemporaryDirectoryTest extends TestCase
{
    private Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    public function testItGoesWithItsObjectAndWithAllThatIsInIt(): void
    {
        $directory = TemporaryDirectory::make($this->scratch->path);
        $path = $directory->path;
        file_put_contents($directory->part('code') . '/loop.php', '');
        self::assertDirectoryExists($path);
        unset($directory);

        self::assertDirectoryDoesNotExist($path);
    }

    public function testWhatIsHeldIsNotTakenForADeadRuns(): void
    {
        $held = TemporaryDirectory::make($this->scratch->path);
        $other = "{$this->scratch->path}/anothers";
        mkdir($other);
        // As a killed process leaves one: there, and not locked.
        $left = dirname($held->path) . '/larder-benchmark-0123456789ab';
        mkdir("{$left}/items", recursive: true);
        symlink($other, dirname($held->path) . '/larder-benchmark-ba9876543210');

        self::assertSame(['larder-benchmark-0123456789ab'], TemporaryDirectory::removeLeftBehind($this->scratch->path, '/nowhere', $this->scratch->path));
        self::assertDirectoryDoesNotExist($left);
        self::assertDirectoryExists($held->path);
        self::assertDirectoryExists($other);
    }

    /** A worker that is busy when its run is killed removes what it has itself, a moment later. */
    public function testWhatAProcessOfAKilledRunStillHoldsIsNotTakenForADeadRuns(): void
    {
        $script = 'require ' . var_export(dirname(__DIR__, 3) . '/vendor/autoload.php', true) . ';'
            . '$directory = Larder\Bench\Subject\TemporaryDirectory::make($argv[1]); echo $directory->name(), "\n";'
            . '$worker = proc_open(["cat"], [STDIN, ["file", "/dev/null", "w"], STDERR], $pipes); posix_kill(getmypid(), SIGKILL);';
        $run = proc_open([PHP_BINARY, '-r', $script, $this->scratch->path], [['pipe', 'r'], ['pipe', 'w']], $pipes);
        self::assertIsResource($run);
        $name = trim((string) fgets($pipes[1]));
        Wait::until('a run has killed itself', static fn(): bool => !proc_get_status($run)['running']);

        self::assertSame([], TemporaryDirectory::removeLeftBehind($this->scratch->path));
        self::assertDirectoryExists("{$this->scratch->path}/{$name}");
        // Now its worker ends.
        fclose($pipes[0]);
        Wait::until('what it left is removed', fn(): bool => TemporaryDirectory::removeLeftBehind($this->scratch->path) === [$name]);
        proc_close($run);
    }

    public function testWhatAnotherProcessRemovesAtTheSameTimeIsNoError(): void
    {
        $directory = TemporaryDirectory::make($this->scratch->path);
        FileSystem::remove($directory->path);
        $directory->remove();

        self::assertDirectoryDoesNotExist($directory->path);
    }

    public function testWhereNothingCanBeMadeItIsSaidWhatToDo(): void
    {
        $this->expectExceptionMessageMatches('~^The directory /proc/larder-benchmark-[0-9a-f]+ could not be made: free some space there, or set TMPDIR~');

        TemporaryDirectory::make('/proc');
    }
}
