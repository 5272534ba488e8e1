--TEST--
A hundred thousand levels, shared arrays and long chains neither overflow the stack nor take for ever
--INI--
memory_limit=1G
--FILE--
<?php
require __DIR__ . '/values.inc';

function depth_of(array $a): int
{
    $depth = 0;
    while ($a) {
        $a = $a[0];
        $depth++;
    }
    return $depth;
}

$deep = [];
for ($i = 0; $i < 100_000; $i++) {
    $deep = [$deep];
}
foreach (readings(new Image($deep)) as $how => $read) {
    check(depth_of($read) === 100_000, "deep $how");
    unset($read);
}

// An object at the bottom: everything above is made anew.
$bottom = [new Point(5)];
for ($i = 0; $i < 100_000; $i++) {
    $bottom = [$bottom];
}
foreach (readings(new Image($bottom)) as $how => $read) {
    for ($i = 0; $i < 100_000; $i++) {
        $read = $read[0];
    }
    check($read[0]->x === 5, "bottom $how");
    unset($read);
}

// One that is asked what it is made of.
$bottom = [new WithMagic()];
$bottom[0]->parts = ['p'];
for ($i = 0; $i < 100_000; $i++) {
    $bottom = [$bottom];
}
foreach (readings(new Image($bottom)) as $how => $read) {
    for ($i = 0; $i < 100_000; $i++) {
        $read = $read[0];
    }
    check($read[0]->parts === ['p'], "told at the bottom $how");
    unset($read);
}

// A chain of objects that PHP itself can still free.
$chain = null;
for ($i = 0; $i < 5_000; $i++) {
    $point = new Point($i);
    $point->any = $chain;
    $chain = $point;
}
foreach (readings(new Image($chain)) as $how => $read) {
    check($read->any->any->x === 4997, "chain $how");
    unset($read);
}

// 2^40 elements if it were spelled out.
foreach ([['x'], [new Point(1)]] as $leaf) {
    for ($i = 0; $i < 40; $i++) {
        $leaf = [$leaf, $leaf];
    }
    $image = new Image($leaf);
    check($image->size() < 10_000, 'shared arrays are written once');
    foreach (readings($image) as $how => $read) {
        for ($i = 0; $i < 40; $i++) {
            $read = $read[$i & 1];
        }
        check(count($read) === 1, "shared $how");
    }
}

// Rows with the same keys hold them once, wherever they came from.
$rows = array_fill(0, 1000, null);
foreach ($rows as $i => $_) {
    $rows[$i] = ['a long name of a column' => $i, 'another long name of a column' => $i];
}
$decoded = json_decode(json_encode($rows), true);
check((new Image($rows))->size() === (new Image($decoded))->size(), 'keys are written once');
check((new Image($decoded))->size() < 220_000, 'keys are written once, and rows are small');
echo "done\n";
?>
--EXPECT--
done
