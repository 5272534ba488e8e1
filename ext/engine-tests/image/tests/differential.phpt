--TEST--
Whatever PHP does to a value that was read, it does as to any other, and the next reader sees nothing of it
--INI--
memory_limit=512M
--FILE--
<?php
require __DIR__ . '/values.inc';
require __DIR__ . '/walk.inc';

if (str_contains((string) getenv('IMAGE_TESTS_ARGUMENTS'), 'opcache')) {
    check(opcache_get_status(false)['jit']['on'], 'the JIT is on');
}

set_error_handler(fn () => true);
$rounds = (int) (getenv('IMAGE_TESTS_ROUNDS') ?: 400);
$first = (int) (getenv('IMAGE_TESTS_SEED') ?: 1);
$kinds = [];
for ($seed = $first; $seed < $first + $rounds; $seed++) {
    $value = make($seed);
    $before = serialize($value);
    if (strlen($before) > 100_000) {
        continue; // its walk would be long, and no other one
    }
    $image = new Image($value);
    $kinds[$image->kind()] = true;
    check(serialize($value) === $before, "storing leaves the value alone, seed $seed");
    foreach (readings($image, inUse: true) as $how => $read) {
        check(serialize($read) === $before, "$how, seed $seed");
        $ordinary = make($seed);
        $walk = $seed + strlen($how);
        $expected = walk($ordinary, $walk);
        $walked = walk($read, $walk);
        check($walked === $expected, "a walk on what was read $how, seed $seed");
        unset($read, $ordinary);
    }
    check(serialize($image->get()) === $before, "after all, seed $seed");
}
check(count($kinds) > 6, 'the values are of many kinds');
echo "done\n";
?>
--EXPECT--
done
