--TEST--
Whatever value a fuzzer thinks of is read as it was stored, changes like any other, and leaves nothing behind
--INI--
memory_limit=512M
opcache.jit=disable
--FILE--
<?php
// Without the JIT: that of PHP 8.2 crashes in some of these walks with values that were never stored, too.
function check(bool $holds, string $what): void
{
    $holds || throw new LogicException($what);
}
require __DIR__ . '/../fuzz/try.inc';

/** A few bytes changed, put in or left out, or the end of another. */
function vary(string $bytes, string $other): string
{
    for ($i = mt_rand(1, 5); $i > 0 && $bytes !== ''; $i--) {
        $at = mt_rand(0, strlen($bytes) - 1);
        $bytes = match (mt_rand(0, 3)) {
            0 => substr_replace($bytes, chr(mt_rand(0, 255)), $at, 1),
            1 => substr_replace($bytes, random_text(), $at, 0),
            2 => substr_replace($bytes, '', $at, mt_rand(1, 3)),
            3 => substr($bytes, 0, $at) . substr($other, mt_rand(0, strlen($other))),
        };
    }

    return $bytes;
}

function random_text(): string
{
    return implode('', array_map(fn (): string => chr(mt_rand(0, 255)), range(1, mt_rand(1, 8))));
}

$corpus = array_map(file_get_contents(...), glob(__DIR__ . '/../../fuzz/corpus/image/*'));
check(count($corpus) > 50, 'there is a corpus');
$seed = (int) (getenv('IMAGE_TESTS_SEED') ?: random_int(1, 1 << 30));
$inputs = $corpus;
mt_srand($seed);
for ($i = (int) (getenv('IMAGE_TESTS_ROUNDS') ?: 200); $i > 0; $i--) {
    $inputs[] = vary($corpus[array_rand($corpus)], $corpus[array_rand($corpus)]);
}
foreach ($inputs as $i => $bytes) {
    try {
        fuzz($bytes); // some of PHP's own code keeps something when it first runs
        $before = memory_get_usage();
        fuzz($bytes);
        check(memory_get_usage() <= $before, 'nothing is left of it');
    } catch (Throwable $wrong) {
        echo 'FAILED: ', $wrong->getMessage(), ' (bytes ', bin2hex($bytes), ", number $i of IMAGE_TESTS_SEED=$seed)\n";
        exit(1);
    }
}
echo "done\n";
?>
--EXPECT--
done
