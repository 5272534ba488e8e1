--TEST--
Tags precede a tick if each is known, and was invalidated last at that tick or before
--FILE--
<?php
require __DIR__ . '/pool.inc';

use function Larder\tags_precede;

/** As the library packs them. */
function packed(string ...$tags): string
{
    return implode('', array_map(static fn (string $tag): string => chr(strlen($tag)) . $tag, $tags));
}

$long = str_repeat('l', 255);
// The last is what lies behind the bytes of a string.
$hashes = ['a' => 'hash of a', 'b' => 'hash of b', '17' => '42', $long => "binary\0\xff", "\0" => 'hash of a'];
$ticks = ['hash of a' => 3, 'hash of b' => 5, '42' => 0, "binary\0\xff" => 5];
check(tags_precede('', [], [], 0), 'no tags precede all');
check(tags_precede(packed('a'), $hashes, $ticks, 3), 'at the tick');
check(!tags_precede(packed('a'), $hashes, $ticks, 2), 'after the tick');
check(tags_precede(packed('a', 'b', '17', $long), $hashes, $ticks, 5), 'all of them');
check(!tags_precede(packed('a', '17', 'b'), $hashes, $ticks, 4), 'all but the last');
check(!tags_precede(packed($long, 'a'), $hashes, $ticks, 4), 'all but the first');
check(!tags_precede(packed('a', 'unknown'), $hashes, $ticks, 9), 'a tag without a hash');
check(!tags_precede(packed('a'), $hashes, [], 9), 'a hash without a tick');
check(!tags_precede(substr(packed('a', 'b'), 0, -1), $hashes, $ticks, 9), 'bytes that end too soon');
check(!tags_precede(packed('a') . "\1", $hashes, $ticks, 9), 'a length without a tag');
check(!tags_precede(packed(''), $hashes, $ticks, 9), 'an empty tag');
check(!tags_precede(packed('a'), ['a' => 7], [7 => 1], 9), 'a hash that is none');
check(!tags_precede(packed('a'), $hashes, ['hash of a' => '1'], 9), 'a tick that is none');
check($hashes['a'] === 'hash of a' && $ticks['hash of a'] === 3, 'nothing is changed');
echo "done\n";
?>
--EXPECT--
done
