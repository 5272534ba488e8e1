--TEST--
A pool file that was damaged before it is opened is replaced by an empty one; other pools are left alone
--EXTENSIONS--
posix
pcntl
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

$seed = (int) (getenv('LARDER_TEST_SEED') ?: random_int(1, 1 << 30));
$other = fresh_pool(4 << 20, suffix: '-other');
$other->set('k', range(1, 1000));
$id = $other->statistics()['id'];

// The pool is made, and later opened, by processes that do not live on: this one never has it open.
run_php('$pool = fresh_pool(4 << 20, true);
    for ($i = 0; $i < 2000; $i++) { $pool->set("key $i", ["n" => $i, "text" => str_repeat("x", $i)]); }
    $pool->increment("counter", 7);');
$sound = file_get_contents(pool_path());
check(strlen($sound) === 4 << 20, 'a pool');

/** What a new process finds, and whether it can work with it. */
function visit(string $what, bool $evicts = true): void
{
    global $seed;
    $ends = await(fork(function () use ($what, $evicts) {
        $pool = SharedMemory::open(pool_name(), 4 << 20, $evicts);
        $found = 0;
        for ($i = 0; $i < 2000; $i++) {
            $value = $pool->get("key $i");
            if ($value !== null) {
                check($value === ['n' => $i, 'text' => str_repeat('x', $i)], "$what: a wrong value");
                $found++;
            }
        }
        for ($i = 0; $i < 500; $i++) {
            check($pool->set("new $i", [$i, str_repeat('y', 1000)]) && $pool->get("new $i") === [$i, str_repeat('y', 1000)], "$what: works");
        }
        for ($i = 0; $i < 2000 && !$evicts; $i++) {
            $pool->delete("key $i");
        }
        for ($i = 0; $i < 1500 && !$evicts; $i++) {
            check($pool->set("more $i", [$i, str_repeat('z', 1000)]), "$what: has the room of what was deleted");
        }
        check($pool->increment("new counter") >= 1 && $pool->delete('new 5') && !$pool->has('new 5'), "$what: works");
        [...$pool->keys()];
        $pool->statistics();
        $pool->clear();
        echo "$what: $found found\n";
    }));
    $ends === ['0'] or print "$what: ended with $ends[0], seed $seed\n";
}

visit('untouched');
foreach ([0, 1, 100, 4095, 4096, 100_000, (4 << 20) - 4096, (4 << 20) - 1] as $length) {
    file_put_contents(pool_path(), substr($sound, 0, $length));
    visit("cut to $length bytes");
}
foreach ([1, 4096, 4 << 20] as $more) {
    file_put_contents(pool_path(), $sound . str_repeat("\0", $more));
    visit("$more bytes longer");
}
mt_srand($seed);
$noise = (new Random\Randomizer(new Random\Engine\Mt19937($seed)))->getBytes(4 << 20);
foreach (['zeros' => str_repeat("\0", 4 << 20), 'ones' => str_repeat("\xff", 4 << 20), 'text' => str_repeat("text\n", 1 << 20), 'noise' => $noise] as $what => $bytes) {
    file_put_contents(pool_path(), substr($bytes, 0, 4 << 20));
    visit("overwritten with $what");
    file_put_contents(pool_path(), substr($bytes, 0, 4096) . substr($sound, 4096));
    visit("the header overwritten with $what");
}

echo "-- any byte of the header's description\n";
$replaced = 0;
for ($at = 0; $at < 8 + 4 + 4 + 16 + 4 * 8 + 14 * 8 + 16 * 4; $at++) {
    $bytes = $sound;
    $bytes[$at] = chr(ord($bytes[$at]) ^ (1 << mt_rand(0, 7)));
    file_put_contents(pool_path(), $bytes);
    $ends = await(fork(function () {
        $pool = SharedMemory::open(pool_name(), 4 << 20);
        $value = $pool->get('key 5');
        check($value === null || $value === ['n' => 5, 'text' => 'xxxxx'], 'a wrong value');
        check($pool->set('k', 'v') && $pool->get('k') === 'v', 'works');

        return $value !== null;
    }));
    $replaced += $ends === ['1'];
    check($ends === ['1'], "byte $at: ended with $ends[0]");
}
echo "$replaced times replaced\n";

echo "-- the tables overwritten, under a sound header\n";
// Where the segments begin; whatever lies there are values, and their bytes are taken as they are.
$table = unpack('P', $sound, 0)[1] === unpack('P', "LARDER\r\n", 0)[1];
check($table, 'the mark');
// The parts of a pool in their order: their places follow each other in the header, behind 64 bytes.
preg_match('/uint64_t (slots_at, [a-z_, \n]+segments_at);/', file_get_contents(__DIR__ . '/../engine/format.h'), $parts);
$parts = preg_split('/,\s+/', $parts[1]);
function place(string $part): int
{
    global $sound, $parts;

    return unpack('P', $sound, 64 + array_search("{$part}_at", $parts, true) * 8)[1];
}
$segments_at = place('segments');
check($segments_at % 4096 === 0 && $segments_at > 4096 && $segments_at < 1 << 20, 'where segments begin');
foreach (['zeros' => str_repeat("\0", 4 << 20), 'ones' => str_repeat("\xff", 4 << 20), 'noise' => $noise] as $what => $bytes) {
    file_put_contents(pool_path(), substr($sound, 0, 4096) . substr($bytes, 4096, $segments_at - 4096) . substr($sound, $segments_at));
    ob_start();
    visit("the tables overwritten with $what");
    $said = ob_get_clean();
    echo preg_replace('/: \d+ found/', ': some or none found', $said);
}

echo "-- the index alone overwritten, under sound tables of segments\n";
/** From where one part of the pool begins to where another does. */
function overwritten(string $sound, string $first, string $end, string $bytes): string
{
    [$from, $to] = [place($first), place($end)];
    check($from % 64 === 0 && $to > $from && $to < 1 << 20, 'where the index is');

    return substr($sound, 0, $from) . substr($bytes, $from, $to - $from) . substr($sound, $to);
}
run_php('$pool = fresh_pool(4 << 20, false);
    for ($i = 1000; $i < 2000; $i++) { $pool->set("key $i", ["n" => $i, "text" => str_repeat("x", $i)]); }');
foreach (['evicts' => $sound, 'refuses' => file_get_contents(pool_path())] as $kind => $whole) {
    foreach (['zeros' => str_repeat("\0", 4 << 20), 'ones' => str_repeat("\xff", 4 << 20), 'text' => str_repeat("text\n", 1 << 20), 'noise' => $noise] as $what => $bytes) {
        foreach (['the buckets' => ['buckets', 'deletions'], 'the deletions' => ['deletions', 'ghosts'], 'both' => ['buckets', 'ghosts']] as $part => [$first, $end]) {
            file_put_contents(pool_path(), overwritten($whole, $first, $end, $bytes));
            visit("$part of a pool that $kind overwritten with $what", $kind === 'evicts');
        }
    }
}

echo "-- removed, or not ours to open, before it is opened\n";
unlink(pool_path());
visit('removed');
same($other->statistics()['id'], $id, 'the other pool is the same');
same($other->get('k'), range(1, 1000), 'with its values');
echo "done\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools('-other');
?>
--EXPECT--
untouched: 2000 found
cut to 0 bytes: 0 found
cut to 1 bytes: 0 found
cut to 100 bytes: 0 found
cut to 4095 bytes: 0 found
cut to 4096 bytes: 0 found
cut to 100000 bytes: 0 found
cut to 4190208 bytes: 0 found
cut to 4194303 bytes: 0 found
1 bytes longer: 0 found
4096 bytes longer: 0 found
4194304 bytes longer: 0 found
overwritten with zeros: 0 found
the header overwritten with zeros: 0 found
overwritten with ones: 0 found
the header overwritten with ones: 0 found
overwritten with text: 0 found
the header overwritten with text: 0 found
overwritten with noise: 0 found
the header overwritten with noise: 0 found
-- any byte of the header's description
240 times replaced
-- the tables overwritten, under a sound header
the tables overwritten with zeros: 0 found
the tables overwritten with ones: 0 found
the tables overwritten with noise: 0 found
-- the index alone overwritten, under sound tables of segments
the buckets of a pool that evicts overwritten with zeros: 0 found
the deletions of a pool that evicts overwritten with zeros: 2000 found
both of a pool that evicts overwritten with zeros: 0 found
the buckets of a pool that evicts overwritten with ones: 0 found
the deletions of a pool that evicts overwritten with ones: 0 found
both of a pool that evicts overwritten with ones: 0 found
the buckets of a pool that evicts overwritten with text: 0 found
the deletions of a pool that evicts overwritten with text: 0 found
both of a pool that evicts overwritten with text: 0 found
the buckets of a pool that evicts overwritten with noise: 0 found
the deletions of a pool that evicts overwritten with noise: 0 found
both of a pool that evicts overwritten with noise: 0 found
the buckets of a pool that refuses overwritten with zeros: 0 found
the deletions of a pool that refuses overwritten with zeros: 1000 found
both of a pool that refuses overwritten with zeros: 0 found
the buckets of a pool that refuses overwritten with ones: 0 found
the deletions of a pool that refuses overwritten with ones: 0 found
both of a pool that refuses overwritten with ones: 0 found
the buckets of a pool that refuses overwritten with text: 0 found
the deletions of a pool that refuses overwritten with text: 0 found
both of a pool that refuses overwritten with text: 0 found
the buckets of a pool that refuses overwritten with noise: 0 found
the deletions of a pool that refuses overwritten with noise: 0 found
both of a pool that refuses overwritten with noise: 0 found
-- removed, or not ours to open, before it is opened
removed: 0 found
done
