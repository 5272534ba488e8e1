<?php
/**
 * Two PHPs that lay values out differently have one pool: each has copies of its own of what it cannot read of the other's,
 * and writes, deletes, tags, clears and counters reach both.
 *
 *     php -n -d extension=OURS.so phps.php OURS.so OTHER-PHP THEIRS.so LOOK
 *
 * LOOK is the program made of look.c.
 */

require __DIR__ . '/share.inc';

use Larder\SharedMemory;

/** Another process that does what it is told. */
final class Other
{
    /** @var resource */
    private $process;

    /** @var list<resource> what it hears and says */
    private array $pipes = [];

    /** @param list<string> $command */
    public function __construct(array $command)
    {
        $this->process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $this->pipes);
    }

    public function __call(string $method, array $arguments): mixed
    {
        fwrite($this->pipes[0], json_encode([$method, $arguments]) . "\n");
        $line = fgets($this->pipes[1]);
        check($line !== false && json_validate_line($line), "the other PHP's answer to $method: $line");

        return json_decode($line, true);
    }

    public function end(): int
    {
        array_map(fclose(...), $this->pipes);

        return proc_close($this->process);
    }
}

/** PHP 8.2 has no json_validate(). */
function json_validate_line(string $line): bool
{
    return json_decode($line, true) !== null || trim($line) === 'null';
}

function step_by_step(SharedMemory $ours, Other $theirs): void
{
    // A request of each, that has missed nothing yet.
    $begin = function () use ($ours, $theirs): void {
        $ours->beginRequest();
        $theirs->beginRequest();
    };

    $ours->set('list', [1, 2, 3], null, ['tag']);
    same($theirs->get('list'), null, 'an array of ours, to them');
    same($theirs->set('list', [1, 2, 3], null, ['tag']), true, 'what they keep because of that miss');
    same([$ours->get('list'), $theirs->get('list')], [[1, 2, 3], [1, 2, 3]], 'each has a copy');

    $begin();
    $theirs->set('list', [4], null, ['tag']);
    same([$ours->get('list'), $theirs->get('list')], [null, [4]], 'a write of theirs clears our copy');
    same($ours->set('list', [4], null, ['tag']), true, 'a fill of ours leaves theirs alone');
    same([$ours->get('list'), $theirs->get('list')], [[4], [4]], 'each has a copy again');
    $begin();
    $ours->set('list', [4], null, ['tag']);
    same([$ours->get('list'), $theirs->get('list')], [[4], null], 'a write of ours clears their copy');

    $begin();
    same([$theirs->delete('list'), $ours->get('list')], [true, null], 'a delete of theirs reaches our copy');
    $theirs->get('list');
    same([$theirs->set('list', [5]), $ours->set('list', [5])], [true, true], 'both fill');
    same([$ours->get('list'), $theirs->get('list')], [[5], [5]], 'and read their own');

    $begin();
    $ours->get('late');
    $theirs->delete('late');
    same($ours->set('late', [6]), false, 'a fill that is older than a delete of theirs');

    $begin();
    foreach ([$ours, $theirs] as $php) {
        $php->set('tagged by ' . ($php === $ours ? 'us' : 'them'), ['text' => str_repeat('x', 9_000)], null, ['tag']);
    }
    same([count($ours->get('tagged by us')), count($theirs->get('tagged by them'))], [1, 1], 'tagged by each');
    $theirs->invalidateTags(['tag']);
    same([$ours->get('tagged by us'), $theirs->get('tagged by them')], [null, null], 'a tag that they invalidate');

    $begin();
    same([$ours->increment('count'), $theirs->increment('count'), $ours->get('count')], [1, 2, 2], 'one counter');
    $ours->set('text', 'short');
    same([$theirs->get('text'), $theirs->set('text', 'new'), $ours->get('text')], ['short', true, 'new'], 'one short text');
    $theirs->set('text', [7]);
    same([$ours->get('text'), $theirs->get('text')], [null, [7]], 'an array of theirs in the place of a text of all');

    $ours->clear();
    same([$ours->get('text'), $theirs->get('text'), $theirs->get('count')], [null, null, null], 'a clear');
}

/** Processes of both at once, one after the other under each number. */
function at_once(string $name, array $commands, int $seed, int $operations, int $incarnations): void
{
    for ($incarnation = 0; $incarnation < $incarnations; $incarnation++) {
        $running = [];
        for ($number = 0; $number < PROCESSES; $number++) {
            $arguments = [__DIR__ . '/process.php', $name, $number, $seed + $incarnation * PROCESSES + $number, $operations];
            $running[] = proc_open([...$commands[$number % 2], ...array_map(strval(...), $arguments)], [], $pipes);
        }
        same(array_map(proc_close(...), $running), array_fill(0, PROCESSES, 0), "how they ended, LARDER_TEST_SEED=$seed");
    }
}

[, $our_extension, $other_php, $other_extension, $look] = $argv;
$commands = [[PHP_BINARY, '-n', '-d', "extension=$our_extension"], [$other_php, '-n', '-d', "extension=$other_extension"]];
$seed = (int) (getenv('LARDER_TEST_SEED') ?: random_int(1, 1 << 30));
$name = 'two-phps-' . getmypid();
$pools = array_map(fn (string $pool): string => "$name-$pool", ['steps', 'values', 'histories', 'truth']);
register_shutdown_function(fn () => array_map(SharedMemory::remove(...), $pools));

$theirs = new Other([...$commands[1], __DIR__ . '/answer.php', $pools[0]]);
step_by_step(SharedMemory::open($pools[0], 4 << 20), $theirs);
same($theirs->end(), 0, 'how the other PHP ended');

at_once($name, $commands, $seed, (int) (getenv('LARDER_TEST_ROUNDS') ?: 4_000), 3);
look_back($name);
passthru(implode(' ', array_map(escapeshellarg(...), [$look, ...$pools])), $status);
same($status, 0, "the pools are whole, LARDER_TEST_SEED=$seed");
echo 'PHP ', PHP_VERSION, PHP_ZTS ? ' for threads' : '', PHP_DEBUG ? ' (debug)' : '', " and $other_php on one pool: done\n";
