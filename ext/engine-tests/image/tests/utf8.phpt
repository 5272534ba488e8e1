--TEST--
A long string that is valid UTF-8 is marked so, and no other is
--FILE--
<?php
require __DIR__ . '/values.inc';

/** PHP's own answer, of a string that it has not marked. */
function is_valid(string $string): bool
{
    return preg_match('//u', substr($string, 0, 100) . substr($string, 100)) === 1;
}

// Every byte that can begin a character, and others; then bytes at both sides of each bound of what may follow.
$texts = [];
foreach (range(0x7f, 0xff) as $lead) {
    foreach ([0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0] as $second) {
        foreach ([0x7f, 0x80, 0xbf, 0xc0] as $third) {
            $begin = str_repeat('a', 250 + count($texts) % 40) . chr($lead) . chr($second) . chr($third);
            array_push($texts, "$begin\x7f", "$begin\x80", "$begin\xbf rest of it", "$begin\xc0");
        }
    }
}
// What ends in the middle of a character.
foreach (['ä', '€', '😀'] as $character) {
    for ($length = 1; $length <= strlen($character); $length++) {
        foreach (range(255, 300) as $before) {
            $texts[] = str_repeat('a', $before) . substr($character, 0, $length);
        }
    }
}
// Text in which one byte, or none, is another one.
$sample = str_repeat("Ein Wörterbuch — словарь — 辞書 — 😀😀; and much that is ASCII, for the words of a machine.\n", 5);
foreach ([null, "\x80", "\xc3", "\xff", 'x', "\0"] as $byte) {
    for ($at = 0; $at < strlen($sample); $at += $byte === null ? strlen($sample) : 1) {
        $text = substr($sample, 0);
        if ($byte !== null) {
            $text[$at] = $byte;
        }
        $texts[] = $text;
    }
}
$texts[] = str_repeat('a', 100_000);
$texts[] = str_repeat('a', 100_000) . "\xff";

$read = (new Image($texts))->get();
$valid = 0;
foreach ($texts as $i => $text) {
    $valid += $expected = is_valid($text);
    if (strlen($text) >= 256) {
        check(Image::isMarkedAsUtf8($read[$i]) === $expected, "text $i: " . urlencode(substr($text, -200)));
    }
}
check($valid > 1000 && $valid < count($texts) - 1000, "$valid of " . count($texts) . ' are valid');

// In place on its own, as a key, as a property, and after a move.
$long = str_repeat('ä', 3000);
$image = new Image($long);
check(Image::isMarkedAsUtf8($image->get()), 'on its own');
$image->move();
check(Image::isMarkedAsUtf8($image->get()), 'moved');
check(!Image::isMarkedAsUtf8((new Image("$long\xff"))->get()), 'on its own, but not valid');
check(Image::isMarkedAsUtf8(array_key_first((new Image([$long => 1]))->get())), 'a key');
check(Image::isMarkedAsUtf8((new Image((object) ['text' => $long]))->get()->text), 'a property');

// What PHP has marked itself stays so, however short.
$short = implode('', ['ä', random_int(100, 999)]);
preg_match('/./u', $short);
check(Image::isMarkedAsUtf8($short) && Image::isMarkedAsUtf8((new Image([$short]))->get()[0]), 'marked by PHP');

// A copy that is written loses it.
$changed = $image->get();
$changed[0] = "\xff";
check(!is_valid($changed) && preg_match('//u', $changed) === false, 'changed');
echo "done\n";
?>
--EXPECT--
done
