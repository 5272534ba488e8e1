--TEST--
No history of remember, fills, writes, deletes, invalidations and clears by processes that are slow hands out what its cache was told of before
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/processes.inc';

use Larder\SharedMemory;

/**
 * The truth behind the cache: each thing's present version, and the one of which the cache was told. One process alone
 * changes a thing, so that no lock is needed.
 */
final class Truth
{
    public function __construct(private readonly SharedMemory $pool) {}

    public function version(string $key): int
    {
        return $this->pool->get("version $key", 0);
    }

    /** What a read that begins now has to see, or something later. */
    public function told(string $key): int
    {
        return $this->pool->get("told $key", 0);
    }

    /** @param callable(int): void $tell gets the new version */
    public function change(string $key, callable $tell): void
    {
        $tell($this->pool->increment("version $key"));
        $this->pool->increment("told $key");
    }
}

const PROCESSES = 4;
const THINGS = 8;

function pause(): void
{
    mt_rand(0, 3) === 0 && usleep(mt_rand(0, 400));
}

/** One process's share. False at the first value that must not be there any more. */
function live(SharedMemory $pool, Truth $truth, int $number, int $operations): bool
{
    for ($i = 0; $i < $operations; $i++) {
        $thing = mt_rand(0, THINGS - 1);
        $key = "thing $thing";
        $value = fn(): array => ['key' => $key, 'version' => $truth->version($key), 'ballast' => str_repeat('x', mt_rand(0, 9) * 900)];
        $compute = function () use ($value): array {
            $made = $value();
            pause();

            return $made;
        };
        $tags = ['all', 'group ' . $thing % 2];
        $die = mt_rand(0, 99);
        if ($die < 65) {
            $told = $truth->told($key);
            $found = $die < 30 ? $pool->remember($key, $compute, null, $tags) : $pool->get($key);
            if ($found !== null && ($found['key'] !== $key || $found['version'] < $told)) {
                echo "$key: version {$found['version']} was read by $number after the cache was told of $told\n";

                return false;
            }
            if ($found === null && $die < 50) {
                $pool->set($key, $compute(), null, $tags);
            }
        } elseif ($die < 75) {
            $token = $pool->token($key);
            $made = $compute();
            $die < 70 ? $pool->set($key, $made, null, $tags, $token) : $pool->fill($key, $made, $token, null, $tags);
        } elseif ($die < 80) {
            $pool->beginRequest();
        } elseif ($thing % PROCESSES === $number) {
            $truth->change($key, fn(int $version) => match (true) {
                $die < 84 => $pool->delete($key),
                // With a token, or after a miss it would be a fill, and say nothing of what others fill in.
                $die < 90 => $pool->set($key, ['version' => $version] + $value(), null, $tags, $pool->token($key)),
                $die < 99 => $pool->invalidateTags([$tags[$die % 2]]),
                default => $pool->clear(),
            });
        }
    }

    return true;
}

$operations = (int) (getenv('LARDER_TEST_ROUNDS') ?: 4_000);
$seed = (int) (getenv('LARDER_TEST_SEED') ?: random_int(1, 1 << 30));
$pool = fresh_pool(4 << 20);
$truth = new Truth(fresh_pool(4 << 20, false, '-truth'));
$children = [];
for ($number = 0; $number < PROCESSES; $number++) {
    $children[] = fork(function () use ($pool, $truth, $number, $operations, $seed): bool {
        mt_srand($seed + $number);

        return live($pool, $truth, $number, $operations);
    });
}
same(await(...$children), ['0', '0', '0', '0'], "LARDER_TEST_SEED=$seed");
$s = $pool->statistics();
check($s['hits'] > $operations / 10 && $s['conflicts'] > 0, "{$s['hits']} hits, {$s['conflicts']} came too late");
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-truth');
?>
--EXPECT--
done
