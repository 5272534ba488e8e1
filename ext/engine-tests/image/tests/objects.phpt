--TEST--
An object comes back as a new one each time, with its identity, visibility, readonly and unset properties
--FILE--
<?php
require __DIR__ . '/values.inc';

class Guarded
{
    public int $never;
    public int $unset = 1;

    public function __get(string $name): mixed
    {
        return 42;
    }
}

// Twice in one value: one object.
$one = new Point(1);
$parent = new stdClass();
$parent->child = new stdClass();
$parent->child->parent = $parent;
$shared = [$one, 'x'];
$holder = [$shared, $shared, 'again' => ['deeper' => $shared], $one, Suit::Hearts, [Suit::Hearts, $parent]];
foreach (readings(new Image($holder)) as $how => $read) {
    check($read[0][0] === $read[1][0], "one object $how");
    check($read[0][0] === $read['again']['deeper'][0] && $read[0][0] === $read[2], "one object, deeper, $how");
    check($read[0][0] !== $one, "a new object $how");
    check($read[3] === Suit::Hearts && $read[4][0] === Suit::Hearts, "a case $how");
    $other = $read[4][1];
    check($other->child->parent === $other && $other !== $parent, "a cycle $how");
    $read[0][0]->x = 99;
    check($read[2]->x === 99 && $one->x === 1, "the objects of $how are its own");
    unset($read, $other);
}
gc_collect_cycles();

// An object that contains itself in an array.
$self = new Point(1);
$self->any = [[$self], 'k' => $self];
foreach (readings(new Image($self)) as $how => $read) {
    check($read->any[0][0] === $read && $read->any['k'] === $read, "itself $how");
    unset($read);
}
$read = (new Image($self))->get();
$weak = WeakReference::create($read);
unset($read);
check($weak->get() !== null && gc_collect_cycles() > 0 && $weak->get() === null, 'cycles are collected');
$self->any = null;

// Two reads: two objects.
$image = new Image($one);
$a = $image->get();
$b = $image->get();
check($a !== $b && $a == $b, 'two reads');

// Readonly, typed, never set, private in two classes, unset.
$child = new Child(7);
$child->fix(['r' => [1]]);
unset($child->any);
foreach (readings(new Image($child)) as $how => $read) {
    check((array) $read === (array) $child, "all properties $how");
    check(!isset($read->any) && !property_exists(Child::class, 'nothing'), "unset $how");
    $errors = [];
    foreach ([
        fn () => $read->fixed = [],
        fn () => $read->fixed['r'][] = 2,
        fn () => $read->never,
        fn () => $read->x = 'seven',
    ] as $wrong) {
        try {
            $wrong();
            $errors[] = 'nothing';
        } catch (Error $e) {
            $errors[] = str_replace('indirectly ', '', $e->getMessage()); // as later versions have it
        }
    }
    check($errors === [
        'Cannot modify readonly property Child::$fixed',
        'Cannot modify readonly property Child::$fixed',
        'Typed property Child::$never must not be accessed before initialization',
        'Cannot assign string to property Point::$x of type int',
    ], "properties are guarded $how: " . implode('; ', $errors));
    $read->x = 8;
    $read->never = 9;
    $clone = clone $read;
    $clone->label = 'c';
    check($read->label === null && $child->x === 7, "a clone $how");
    unset($read, $clone);
}

// PHP asks __get for a typed property that was unset, not for one that was never set.
$guarded = new Guarded();
unset($guarded->unset);
foreach (readings(new Image($guarded)) as $how => $read) {
    check($read->unset === 42, "__get of a property that was unset $how");
    try {
        $read->never;
        check(false, "__get of a property that was never set $how");
    } catch (Error $e) {
        check(str_contains($e->getMessage(), 'must not be accessed before initialization'), $e->getMessage());
    }
    unset($read);
}

// Declared before dynamic ones, as PHP has them; writable; removable.
$mixed = new Point(1);
$mixed->zeta = [1];
$mixed->alpha = new Point(2);
foreach (readings(new Image($mixed)) as $how => $read) {
    check(array_keys(get_object_vars($read)) === ['x', 'label', 'any', 'zeta', 'alpha'], "order $how");
    $read->zeta[] = 2;
    $read->x++;
    unset($read->alpha);
    $read->omega = 1;
    check(json_encode($read) === '{"x":2,"label":null,"any":null,"zeta":[1,2],"omega":1}', "changes $how");
    $array = (array) $read;
    $array['x'] = 5;
    check($read->x === 2, "a cast $how");
    unset($read);
}

// Other objects' methods see the object's own store.
$storage = new SplObjectStorage();
$storage[$image->get()] = 1;
check(count($storage) === 1, 'a key of a storage');

// PHP gives an array the very table of an object's properties: what that holds is in the value twice.
$outer = new stdClass();
$outer->inner = new Point(1);
$table = ['inner' => new Point(2)];
foreach (readings(new Image([(object) $table, (object) $table])) as $how => $read) {
    check($read[0]->inner === $read[1]->inner, "an object in a table that two objects share, $how");
    unset($read);
}
foreach ([[$outer, (array) $outer], [(array) $outer, $outer]] as $i => $value) {
    foreach (readings(new Image($value)) as $how => $read) {
        check($read[$i]->inner === $read[1 - $i]['inner'], "an object in a table that an array and an object share, $i, $how");
        unset($read);
    }
}
echo "done\n";
?>
--EXPECT--
done
