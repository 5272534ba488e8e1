<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Bench\FileSystem;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\WorkerProcess;

/**
 * nginx and one worker of php-fpm, whose requests fetch one value each and say how long that took.
 *
 * The request has loaded the classes of all values before it looks at the clock. An application would have, or pay for it with
 * every cache.
 */
final class ShapedSite
{
    public const OURS = 'shared-memory';
    public const THEIRS = 'apcu-php';
    private const MEGABYTES = 64;
    private const WARM = 3;

    private function __construct(private readonly ScriptSite $site) {}

    /**
     * @param list<string> $values names of what is stored
     * @throws ServerFailed
     * @throws \RuntimeException when it cannot be stored
     */
    public static function start(Laboratory $laboratory, array $values): self
    {
        $pool = 'bench-' . bin2hex(random_bytes(6));
        $begin = sprintf('require %s; $values = Larder\Bench\Subject\ShapedValues::all(); ', var_export(WorkerProcess::autoloader(), true));
        $open = sprintf("\$pool = Larder\\SharedMemory::open('%s', %d); ", $pool, self::MEGABYTES << 20);
        // What is to be fetched is made first: with it come its classes, as in a request that made it or its like before.
        $made = '$made = $values[$_GET["value"]]->make(0); $begin = $end = hrtime(true); ';
        $answer = '$end = hrtime(true); echo json_encode(["ns" => $end - $begin, "same" => serialize($value) === serialize($made)]);';
        $scripts = [
            'fill' => "{$begin}{$open}foreach (" . var_export($values, true) . ' as $name) { $value = $values[$name]->make(0); $pool->set($name, $value); apcu_store($name, $value); } echo "filled";',
            self::OURS => "{$begin}{$open}{$made}\$begin = hrtime(true); \$value = \$pool->get(\$_GET['value']); {$answer}",
            self::THEIRS => "{$begin}{$made}\$begin = hrtime(true); \$value = apcu_fetch(\$_GET['value']); {$answer}",
            'clean' => "{$open}Larder\\SharedMemory::remove(\$pool->statistics()['name']);",
        ];
        $settings = ['memory_limit' => '256M', 'apc.serializer' => 'php', 'apc.shm_size' => self::MEGABYTES . 'M', 'larder.zero_copy' => 'on'];
        $site = new self(ScriptSite::start($laboratory, TemporaryDirectory::make(FileSystem::onDisk()), $scripts, $settings, 1));
        $site->site->expect('/fill.php', 'filled');
        // The first requests compile what they run.
        foreach ([self::OURS, self::THEIRS] as $subject) {
            for ($i = 0; $i < self::WARM; $i++) {
                foreach ($values as $value) {
                    $site->fetch($subject, $value);
                }
            }
        }

        return $site;
    }

    /** @return float how long the one fetch of a request took, in ns */
    public function fetch(string $subject, string $value): float
    {
        $answer = $this->site->answer("/{$subject}.php?value={$value}");
        $found = Fields::ofJson($answer, 'page');

        return $found->bool('same') ? $found->float('ns') : throw new \UnexpectedValueException("A request got something else for {$value} than was stored: its figures would be worth nothing.");
    }
}
