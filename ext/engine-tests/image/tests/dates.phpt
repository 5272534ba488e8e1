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
    foreach ([1, 3, 69, 207_431, 789_012, 999_999] as $microseconds) {
        yield "a difference of $microseconds us" => (new DateTime('@0'))->diff(new DateTime("@0." . sprintf('%06d', $microseconds)));
    }
    yield 'an interval that is inverted more than once' => DateInterval::__set_state(['y' => 1, 'm' => 0, 'd' => 0, 'h' => 0, 'i' => 0, 's' => 0, 'f' => 0.0, 'invert' => 256, 'days' => false, 'from_string' => false]);
    yield 'a difference to before' => (new DateTime('2020-01-01'))->diff(new DateTime('2019-02-03 04:05:06'));
    yield 'weekdays' => DateInterval::createFromDateString('3 weekdays');
    yield 'a text' => DateInterval::createFromDateString('1 day + 2 hours');
    yield 'a period' => new DatePeriod(new DateTime('2020-01-01'), new DateInterval('P1D'), 3);
    // What lies beside the clock: names of both kinds, clocks that go back by a day, rules for years to come.
    foreach (['EST', 'MST', 'UTC', 'GMT'] as $name) {
        // Not every release of the zones has a zone of each of these names.
        $isZone = in_array($name, DateTimeZone::listIdentifiers(DateTimeZone::ALL_WITH_BC), true);
        foreach ($isZone ? [3, 2, 3, 2] : [2] as $type) {
            yield "$name, type $type" => DateTime::__set_state(['date' => '2022-07-01 12:00:00.000000', 'timezone_type' => $type, 'timezone' => $name]);
        }
    }
    foreach (['Pacific/Kwajalein' => -7_988_400, 'Pacific/Apia' => 1_325_239_200, 'Asia/Manila' => -3_944_621_032, 'Australia/Lord_Howe' => 2_216_908_800, 'Europe/Berlin' => 2_234_998_800] as $name => $change) {
        for ($hours = -50; $hours <= 50; $hours++) {
            foreach ([0, 1_801] as $seconds) {
                yield "$hours hours and $seconds seconds from a change in $name" => (new DateTime('@' . $change + 3_600 * $hours + $seconds))->setTimezone(new DateTimeZone($name));
            }
        }
    }
    foreach (['UTC', '+02:00', 'EST', 'Europe/Paris'] as $name) {
        foreach ([1_000_000, 1_500_000, -1, -1_500_000] as $microseconds) {
            yield "$microseconds us after noon in $name" => (new DateTime('2022-07-01 12:00', new DateTimeZone($name)))->setTime(12, 0, 0, $microseconds);
        }
        foreach ([[24, 0, 0], [25, 61, 61], [-1, -1, -1], [100_000, 0, 0]] as $clock) {
            yield implode(':', $clock) . " in $name" => (new DateTime('2022-07-01', new DateTimeZone($name)))->setTime(...$clock);
        }
        foreach ([1.5, -1.5, 0.999_999] as $fraction) {
            $interval = new DateInterval('PT1S');
            $interval->f = $fraction;
            yield "a second and $fraction later in $name" => (new DateTime('2022-07-01 12:00:00.9', new DateTimeZone($name)))->add($interval);
            yield "a second and $fraction earlier in $name" => (new DateTime('2022-07-01 12:00:00.9', new DateTimeZone($name)))->sub($interval);
        }
        yield "month 14 in $name" => (new DateTime('2022-07-01', new DateTimeZone($name)))->setDate(2022, 14, 33);
        yield "week 60 in $name" => (new DateTime('2022-07-01', new DateTimeZone($name)))->setISODate(2022, 60, 9);
        yield "a leap second in $name" => new DateTime('2016-12-31 23:59:60', new DateTimeZone($name));
        yield "midnight at the end of a day in $name" => new DateTime('2016-12-31 24:00', new DateTimeZone($name));
    }
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
foreach (['UTC', '+02:00', '-23:59', '+23:59', 'EST'] as $name) {
    foreach ([1, 4, 100, 400, 1582, 1899, 1900, 1999, 2000, 2023, 2024, 2100, 9999] as $year) {
        for ($month = 1; $month <= 12; $month++) {
            foreach ([1, 28, 'last'] as $day) {
                $date = (new DateTimeImmutable('2022-07-01 23:59:59.999999', new DateTimeZone($name)))->setDate($year, $month, $day === 'last' ? 1 : $day);
                $date = $day === 'last' ? $date->modify('last day of this month') : $date;
                check(!str_contains((new Image($date))->dump(), 'timezone_type'), $date->format('c') . " in $name is not asked");
            }
        }
    }
}
// In a zone that sets its clocks they are, but for two days around each change, and for the years of a rule.
$paris = new DateTimeZone('Europe/Paris');
for ($day = 0, $asked = 0; $day < 365; $day++) {
    $asked += (int) str_contains((new Image(new DateTime("2022-01-01 12:00 +$day days", $paris)))->dump(), 'timezone_type');
}
check($asked > 0 && $asked <= 6, "$asked days of a year are asked in Paris");
check(!str_contains((new Image(new DateInterval('P1DT2H')))->dump(), 'from_string'), 'an interval is not asked');
// What unserialize() need not take alike in each PHP is asked.
foreach (['Europe/Paris', '+02:00'] as $name) {
    foreach ([-1, 0, 10_000] as $year) {
        check(str_contains((new Image((new DateTime('2022-07-01', new DateTimeZone($name)))->setDate($year, 7, 1)))->dump(), 'timezone_type'), "year $year in $name is asked");
    }
}
foreach (['+24:00', '-24:00', '+01:02:03'] as $name) {
    foreach ([new DateTimeZone($name), new DateTime('2022-07-01', new DateTimeZone($name))] as $value) {
        check(str_contains((new Image($value))->dump(), 'timezone_type'), get_class($value) . " in $name is asked");
    }
}
check(str_contains((new Image(new Speaking('2022-01-02')))->dump(), 'spoken'), 'a dump has what was asked');
check(str_contains((new Image(new Labelled('2022-01-02')))->dump(), 'timezone_type'), 'what is asked for has its name');

foreach (readings(new Image(new Given('2022-01-02'))) as $how => $read) {
    check(Given::$given === 1, "its own code runs, $how");
    Given::$given = 0;
}

// One that is there twice is one again, and what a reader does with it stays its own.
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

unset($image, $changed, $read);

// So it is whatever the rules differ in: what is read of another name's has that name's.
$names = [];
foreach (DateTimeZone::listIdentifiers(DateTimeZone::ALL_WITH_BC) as $name) {
    // Some systems list files that are no zones.
    if (strlen($name) >= 12 && ($zone = @timezone_open($name))) {
        $names[strlen($name)][$name] = serialize($zone->getTransitions(PHP_INT_MIN, 4_102_444_800));
    }
}
$others = 0;
foreach ($names as $alike) {
    foreach ($alike as $from => $transitions) {
        $dump = (new Image(new DateTimeZone($from)))->dump();
        foreach ($alike as $to => $its) {
            Image::forget();
            try {
                check(($read = Image::load(str_replace($from, $to, $dump))->get())->getName() === $to, "$from as $to");
                check($its === $transitions, "$from is not read as $to");
            } catch (OutOfBoundsException) {
                check($from !== $to, "$from is there");
                $others++;
            }
            unset($read);
        }
    }
}
check($others > 1_000, "$others others were there");
foreach ([new DateTimeZone('EST'), new DateTime('2022-07-01 12:00 EST')] as $value) {
    foreach (['EST' => true, 'CST' => false, 'EDT' => false, 'XYZ' => false] as $name => $isThere) {
        $dump = (new Image($value))->dump();
        $read = null;
        Image::forget();
        try {
            $read = Image::load(str_replace("EST\0", "$name\0", $dump))->get();
        } catch (OutOfBoundsException) {
        }
        check(($read !== null) === $isThere, get_class($value) . " in $name");
    }
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
