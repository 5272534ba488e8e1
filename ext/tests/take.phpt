--TEST--
take() gives each item to one process, and deletes nothing but what it gives
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/pool.inc';

$pool = fresh_pool();
same($pool->take('absent'), null, 'nothing is there');
foreach (['int' => 1, 'large int' => PHP_INT_MAX, 'string' => 'a', 'long' => str_repeat('a', 9000), 'array' => [1, [2]], 'object' => new ArrayObject([1]), 'null' => null] as $key => $value) {
    $pool->set($key, $value, 100, ['tag']);
    $known = $pool->fetch([$key])[$key];
    same(serialize($pool->take($key)), serialize($known), "$key is told as fetch() tells it");
    same($pool->has($key), false, "$key is gone");
    same($pool->take($key), null, "$key is taken once");
}
$pool->set('invalidated', 1, null, ['tag']);
$pool->invalidateTags(['tag']);
same($pool->take('invalidated'), null, 'what is dead is not taken');
$pool->set('filled', 'old');
$token = $pool->token('filled');
same(await(fork(fn () => $pool->take('filled')[0] === 'old')), ['0'], 'child');
same($pool->fill('filled', 'older', $token), false, 'a fill from before the take is refused');

// What cannot be read stays, for processes that have its class.
$gone = fork(function () use ($pool) {
    eval('class Gone { public $x = 1; }');
    $pool->set('unreadable', new Gone());
});
same(await($gone), ['0'], 'child');
same($pool->take('unreadable'), null, 'it cannot be read here');
$gone = fork(function () use ($pool) {
    eval('class Gone { public $x = 1; }');
    same($pool->take('unreadable')[0]->x ?? null, 1, 'it is there for those that can');
});

// delete() with a version is the same without the value.
same(await($gone), ['0'], 'child');
$pool->set('versioned', 'old');
$version = $pool->fetch(['versioned'])['versioned'][2];
$pool->set('versioned', 'new');
same($pool->delete('versioned', $version), false, 'what was stored since stays');
same($pool->get('versioned'), 'new', 'it is there');
same($pool->delete('versioned', $pool->fetch(['versioned'])['versioned'][2]), true, 'that very one');
same($pool->delete('versioned', 0), false, 'nothing is there');

/** A value that runs code while it is read. */
final class Job
{
    public function __construct(public string $id, public array $load = []) {}

    public function __wakeup(): void
    {
        usleep(mt_rand(0, 20));
    }
}

/** As an int, a short or long string, an array in place or an object. */
function job(int $number): mixed
{
    return match ($number % 5) {
        0 => $number,
        1 => (string) $number,
        2 => $number . '|' . str_repeat('.', 5_000),
        3 => ['id' => $number, 'load' => range(1, 300)],
        4 => new Job((string) $number, range(1, 50)),
    };
}

function number_of(mixed $job): int
{
    return match (true) {
        is_array($job) => $job['id'],
        $job instanceof Job => (int) $job->id,
        default => (int) $job,
    };
}

/** @return list<int> what a child wrote, one number a line */
function lines(string $file): array
{
    return array_map(intval(...), file($file, FILE_IGNORE_NEW_LINES));
}

// Takers of few keys. Setters only replace nothing: each adds its next job where there is none, or overwrites its own.
$folder = sys_get_temp_dir() . '/larder-take-' . getmypid();
mkdir($folder);
$count = (int) (getenv('LARDER_TEST_ROUNDS') ?: 1_500);
$setters = $takers = [];
for ($s = 0; $s < 2; $s++) {
    $setters[] = fork(function () use ($pool, $count, $s) {
        mt_srand($s);
        for ($i = 0; $i < $count; $i++) {
            $number = 2 * $i + $s;
            while (!$pool->add('queue ' . mt_rand(0, 2), job($number))) {
                $pool->beginRequest();
                $pool->delete('a neighbour ' . mt_rand(0, 50));
            }
        }
    });
}
for ($t = 0; $t < 4; $t++) {
    $takers[] = fork(function () use ($pool, $folder, $t) {
        $file = fopen("$folder/$t", 'w');
        while (true) {
            $taken = $pool->take('queue ' . mt_rand(0, 2));
            if ($taken !== null) {
                fwrite($file, number_of($taken[0]) . "\n");
            } elseif ($pool->has('end')) {
                // Every job is there by now; whatever is left is this one's or another's.
                for ($q = 0; $q < 3; $q++) {
                    if (($last = $pool->take("queue $q")) !== null) {
                        fwrite($file, number_of($last[0]) . "\n");
                    }
                }
                break;
            }
            $pool->beginRequest();
        }
    });
}
same(await(...$setters), ['0', '0'], 'setters');
$pool->set('end', true);
same(await(...$takers), ['0', '0', '0', '0'], 'takers');
$taken = array_merge(...array_map(fn (int $t): array => lines("$folder/$t"), range(0, 3)));
same(count($taken), count(array_unique($taken)), 'no job was taken twice');
sort($taken);
same($taken, range(0, 2 * $count - 1), 'every job was taken');

// What is counted while others take the count is in one of the counts.
$children = [];
for ($t = 0; $t < 4; $t++) {
    $children[] = fork(function () use ($pool, $folder, $t, $count) {
        $file = fopen("$folder/count $t", 'w');
        for ($i = 0; $i < $count; $i++) {
            if ($t < 2) {
                $pool->increment('counter');
            } else {
                fwrite($file, ($pool->take('counter')[0] ?? 0) . "\n");
            }
        }
    });
}
same(await(...$children), ['0', '0', '0', '0'], 'counters');
same(array_sum([...lines("$folder/count 2"), ...lines("$folder/count 3")]) + ($pool->take('counter')[0] ?? 0), 2 * $count, 'nothing that was counted is lost');
array_map(unlink(...), glob("$folder/*"));
rmdir($folder);
echo thrown(fn () => $pool->take('')), "\n";
echo thrown(fn () => $pool->take()), "\n";
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
ValueError: Larder\SharedMemory::take(): Argument #1 ($key) must not contain an empty key; a key has 1 to 65535 bytes
ArgumentCountError: Larder\SharedMemory::take() expects exactly 1 argument, 0 given
done
