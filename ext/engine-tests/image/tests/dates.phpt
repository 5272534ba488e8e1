--TEST--
Dates, time zones and intervals of PHP's own come back as from unserialize(), in every zone and at every time
--FILE--
<?php
require __DIR__ . '/values.inc';

class Later extends DateTimeImmutable {}

class Named extends DateTimeZone {}

class Counted extends DateTime
{
    public static int $gone = 0;

    public function __destruct()
    {
        self::$gone++;
    }
}

class Labelled extends DateTimeImmutable
{
    public string $label = 'none';
    private ?array $settings = null;

    public function settle(array $settings): static
    {
        $this->settings = $settings;
        return $this;
    }
}

class Speaking extends DateTime
{
    public int $given = 0;

    public function __serialize(): array
    {
        return ['spoken' => $this->format('c')];
    }

    public function __unserialize(array $data): void
    {
        parent::__construct($data['spoken']);
        $this->given++;
    }
}

/** They have no property that would tell them from PHP's own. */
class Given extends DateTime
{
    public static int $given = 0;

    public function __unserialize(array $data): void
    {
        parent::__unserialize($data);
        self::$given++;
    }
}

class Asked extends DateTimeImmutable
{
    public function __serialize(): array
    {
        return ['date' => '2011-11-11 11:11:11.000000'] + parent::__serialize();
    }
}

class Woken extends DateTimeZone
{
    public bool $isAwake = false;

    public function __wakeup(): void
    {
        $this->isAwake = true;
    }
}

#[AllowDynamicProperties]
class Open extends DateTimeImmutable {}

/** All that a program can see of it, what PHP makes of it in calculations included. */
function seen(object $value): string
{
    ob_start();
    var_dump($value);
    $seen = [preg_replace('/#\d+/', '#', ob_get_clean()), var_export($value, true), serialize($value), json_encode($value), print_r((array) $value, true)];
    if ($value instanceof DateTimeInterface) {
        $own = clone $value;
        $seen[] = $own->format('D, d M Y N jS z W t L B G u v e I O P p T U c r');
        $seen[] = $own->modify('+3 months -2 weekdays +5 hours first day of')->format('c u T I');
        $seen[] = $own->setTimezone(new DateTimeZone('Asia/Tokyo'))->format('c T');
        $seen[] = $own->setTime(2, 30)->add(new DateInterval('P1M40DT9H'))->format('c T I U');
        $seen[] = $value->diff(new DateTimeImmutable('2001-02-03 04:05:06.7'))->format('%R %a %y %m %d %h %i %s %f');
        $seen[] = print_r($value->getTimezone(), true) . $value->getOffset();
    } elseif ($value instanceof DateTimeZone) {
        $seen[] = $value->getName() . ' ' . $value->getOffset(new DateTimeImmutable('2021-07-01'));
        $seen[] = serialize([$value->getTransitions(0, 1_600_000_000), $value->getLocation()]);
        $seen[] = (new DateTimeImmutable('2021-10-31 02:30', $value))->format('c T I U');
    } elseif ($value instanceof DateInterval) {
        $seen[] = $value->format('%R %a %y %m %d %h %i %s %f');
        $seen[] = (new DateTimeImmutable('2020-02-28 03:04:05'))->add($value)->format('c u');
        $seen[] = serialize([$value->days, $value->y, $value->f, $value->invert]);
        foreach (['s', 'd'] as $name) {
            $value->$name += 90;
        }
        $seen[] = $value->format('%R %a %y %m %d %h %i %s %f');
    }

    return implode("\n", $seen);
}

function times(): iterable
{
    yield from ['2026-05-01 10:30:45.123456', '2021-10-31 02:30:00', '2021-10-31 00:59:59', '2021-03-28 02:30', '1960-02-29 23:59:59.999999', '0001-01-01'];
    yield from ['9999-12-31 23:59:59', '2040-07-01', '2037-12-01', '-0044-03-15', '12000-01-01', '1883-11-18 12:00', '1900-02-28', '2000-02-29 12:00', '@1234567890.5', '2040-10-28 01:30:00'];
}

function zones(): iterable
{
    yield from ['UTC', 'Asia/Tokyo', 'Europe/Paris', 'America/Los_Angeles', 'Australia/Lord_Howe', 'Asia/Kathmandu'];
    // The longest name. Not every system has those of former times.
    $names = DateTimeZone::listIdentifiers(DateTimeZone::ALL_WITH_BC);
    usort($names, static fn(string $one, string $other): int => strlen($other) <=> strlen($one));
    yield $names[0];
    yield from ['Africa/Monrovia', 'Antarctica/Troll', 'Europe/Dublin', 'Africa/Casablanca', '+02:00', '-03:30', '+00:00', '-00:00', '+14:00', '+01:02:03', 'EST', 'CEST', 'Z'];
}

function dates(): iterable
{
    foreach (zones() as $name) {
        $zone = new DateTimeZone($name);
        yield "zone $name" => $zone;
        foreach (times() as $time) {
            $date = new DateTimeImmutable($time, $zone);
            yield "$time in $name" => $date;
            yield "DateTime, $time in $name" => new DateTime($time, $zone);
            yield "modified, $time in $name" => $date->modify('+1 month -3 hours');
            yield "elsewhere, $time in $name" => $date->setTimezone(new DateTimeZone('Europe/Berlin'));
            yield "an hour before winter, $name, $time" => $date->setTimestamp(1_635_640_200);
            yield "in the hour that is there twice, $name, $time" => $date->setTimestamp(1_635_640_200 + 3_600);
            yield "added to, $time in $name" => $date->add(new DateInterval('P1Y2M3DT4H5M6S'));
        }
    }
    foreach (DateTimeZone::listIdentifiers() as $name) {
        yield "summer in $name" => new DateTime('2022-07-01 12:00', new DateTimeZone($name));
    }
    yield 'a zone in small letters' => new DateTimeZone('europe/paris');
    yield 'a date in such a zone' => new DateTimeImmutable('2022-02-03', new DateTimeZone('europe/paris'));
    foreach (['P1D', 'PT0S', 'P1Y2M3DT4H5M6S', 'P3W'] as $interval) {
        yield $interval => new DateInterval($interval);
    }
    yield 'a difference' => (new DateTime('2020-01-01'))->diff(new DateTime('2021-02-03 04:05:06.789'));
    yield 'a difference to before' => (new DateTime('2020-01-01'))->diff(new DateTime('2019-02-03 04:05:06'));
    yield 'weekdays' => DateInterval::createFromDateString('3 weekdays');
    yield 'a text' => DateInterval::createFromDateString('1 day + 2 hours');
    yield 'a period' => new DatePeriod(new DateTime('2020-01-01'), new DateInterval('P1D'), 3);
    $looked = new DateInterval('P5D');
    (array) $looked;
    yield 'an interval that was looked at' => $looked;
    yield 'a child' => new Later('2022-01-02 03:04:05', new DateTimeZone('Europe/Paris'));
    yield 'a zone\'s child' => new Named('Europe/Paris');
    yield 'one with properties' => (new Labelled('2022-01-02'))->settle(['a' => [1]]);
    yield 'one with a serialiser' => new Speaking('2022-01-02 03:04:05');
    yield 'one that is asked' => new Asked('2022-01-02 03:04:05');
    yield 'a zone to be woken' => new Woken('Europe/Paris');
    $open = new Open('2022-01-02');
    $open->more = new DateTimeZone('UTC');
    yield 'one with a dynamic property' => $open;
}

$count = 0;
foreach (dates() as $what => $date) {
    foreach (readings($image = new Image($date)) as $how => $read) {
        check(seen($read) === seen(unserialize(serialize($date))), "$what, $how");
    }
    $count++;
}
check($count > 2_000, 'there are many');

// What unserialize() refuses is not given back either.
function strange(): iterable
{
    foreach ([-10_000, -1, 0, 9_999, 10_000, 12_000, 1_000_000] as $year) {
        foreach (['UTC', '+02:00', 'EST', 'Asia/Tokyo'] as $name) {
            yield "year $year in $name" => (new DateTimeImmutable('2022-02-03 04:05:06', new DateTimeZone($name)))->setDate($year, 2, 3);
        }
    }
    foreach (['+24:00', '-24:00', '+25:00', '-48:30', '+23:59'] as $name) {
        yield "zone $name" => new DateTimeZone($name);
        yield "a date in $name" => new DateTime('2022-02-03 04:05:06', new DateTimeZone($name));
    }
    foreach (array_keys(DateTimeZone::listAbbreviations()) as $name) {
        if ($zone = @timezone_open((string) $name)) {
            yield "zone $name" => $zone;
            yield "a date in $name" => new DateTime('2022-07-01 12:00', $zone);
        }
    }
}

foreach (strange() as $what => $value) {
    $outcomes = [];
    $image = new Image($value);
    foreach ([static fn(): object => unserialize(serialize($value)), static fn(): object => $image->get()] as $read) {
        try {
            $outcomes[] = seen($read());
        } catch (Throwable) {
            $outcomes[] = 'refused';
        }
    }
    check($outcomes[0] === $outcomes[1], $what);
}

// Ordinary ones lie there as PHP has them, and need not be unserialised.
foreach (['Europe/Paris', 'UTC', '+02:00', '-03:30', 'EST', 'CEST', 'Z'] as $name) {
    $zone = new DateTimeZone($name);
    foreach ([$zone, new DateTime('2022-07-01 12:00', $zone), new Later('0001-02-03 04:05:06.7', $zone), unserialize(serialize(new DateTime('2022-07-01', $zone)))] as $value) {
        check(!str_contains((new Image($value))->dump(), 'timezone_type'), get_class($value) . " in $name is not asked");
    }
}
check(!str_contains((new Image(new DateInterval('P1DT2H')))->dump(), 'from_string'), 'an interval is not asked');
check(str_contains((new Image(new Speaking('2022-01-02')))->dump(), 'spoken'), 'a dump has what was asked');
check(str_contains((new Image(new Labelled('2022-01-02')))->dump(), 'timezone_type'), 'what is asked for has its name');

foreach (readings(new Image(new Given('2022-01-02'))) as $how => $read) {
    check(Given::$given === 1, "its own code runs, $how");
    Given::$given = 0;
}

// One that is there twice is one again, and nobody sees what a reader does with it.
$date = new DateTime('2022-01-02 03:04:05', new DateTimeZone('Europe/Paris'));
$zone = new DateTimeZone('UTC');
foreach (readings($image = new Image(['a' => $date, 'b' => [$date, $zone], 'c' => (object) ['date' => $date, 'zone' => $zone]])) as $how => $read) {
    check($read['a'] === $read['b'][0] && $read['a'] === $read['c']->date && $read['b'][1] === $read['c']->zone, $how);
    check($read['a']->format('c') === '2022-01-02T03:04:05+01:00', "$how, the next");
    $read['a']->modify('+1 year');
    check($read['c']->date->format('Y') === '2023', "$how, changed");
}

// Whose zone is gone, or has other rules than it had where it was stored, is a miss; what was begun goes without its destructor.
$image = new Image([new Counted('2022-01-02', new DateTimeZone('Europe/Paris')), new DateTime('2022-01-02', new DateTimeZone('Asia/Tokyo'))]);
$dump = $image->dump();
foreach (['Asia/Tokyo' => true, 'Asia/Seoul' => false, 'Asia/Nowhe' => false] as $name => $isThere) {
    unset($image, $changed, $read);
    Image::forget();
    $changed = Image::load(str_replace('Asia/Tokyo', $name, $dump));
    Counted::$gone = 0;
    $read = null;
    try {
        $read = $changed->get();
    } catch (OutOfBoundsException) {
    }
    check(($read !== null) === $isThere, $name);
    check(Counted::$gone === 0, "no destructor of what never was, $name");
}

// A state that is only half there, as from a constructor that was not called, is what it is to serialize().
class Unborn extends DateTimeZone
{
    public function __construct() {}
}
foreach ([Unborn::class, DateTimeImmutable::class, DateInterval::class] as $class) {
    $unborn = (new ReflectionClass($class))->newInstanceWithoutConstructor();
    $outcomes = [];
    foreach ([static fn(): string => serialize($unborn), static fn(): Image => new Image($unborn)] as $store) {
        try {
            $store();
            $outcomes[] = 'stored';
        } catch (Throwable) {
            $outcomes[] = 'refused';
        }
    }
    check($outcomes[0] === $outcomes[1], "$class without a state: " . implode(', ', $outcomes));
}
echo "done\n";
?>
--EXPECT--
done
