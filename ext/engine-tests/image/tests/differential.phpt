--TEST--
Whatever PHP does to a value that was read, it does as to any other, and the next reader sees nothing of it
--INI--
memory_limit=512M
--FILE--
<?php
require __DIR__ . '/values.inc';

if (str_contains((string) getenv('IMAGE_TESTS_ARGUMENTS'), 'opcache')) {
    check(opcache_get_status(false)['jit']['on'], 'the JIT is on');
}

/** One operation on $value, the same for the same state of the generator; what it answers. */
function array_operation(array &$value, int $which): mixed
{
    static $kept = [];
    $key = $value ? array_keys($value)[mt_rand(0, count($value) - 1)] : 'none';
    switch ($which) {
        case 0:
            foreach ($value as &$element) {
                $element = [$element];
            }
            return null;
        case 1:
            foreach ($value as $k => &$element) {
                if (is_int($element)) {
                    $element++;
                } elseif (is_string($element)) {
                    $element .= 'x';
                } elseif (is_array($element)) {
                    $element['added'] = $k;
                }
            }
            return null;
        case 2:
            return array_walk($value, function (&$element, $k) {
                $element = is_scalar($element) ? "$k" : $element;
            });
        case 3:
            return array_walk_recursive($value, function (&$element) {
                if (is_string($element)) {
                    $element = strrev($element);
                }
            });
        case 4:
            unset($value[$key]);
            return null;
        case 5:
            $value[] = 'appended';
            return null;
        case 6:
            $value[$key] = 'replaced';
            return null;
        case 7:
            $reference = &$value[$key];
            $reference = ['through a reference'];
            return null;
        case 8:
            return [array_pop($value), array_shift($value)];
        case 9:
            return array_unshift($value, 'first', 'second');
        case 10:
            return array_splice($value, mt_rand(0, 3), mt_rand(0, 3), ['spliced']);
        case 11:
            return ksort($value);
        case 12:
            return uasort($value, fn ($a, $b) => strcmp(serialize($a), serialize($b)));
        case 13:
            return usort($value, fn ($a, $b) => strcmp(serialize($b), serialize($a)));
        case 14:
            return shuffle($value);
        case 15:
            return array_merge($value, $value, [1]) + $value;
        case 16:
            return array_map(fn ($e) => is_array($e) ? count($e) : $e, $value);
        case 17:
            $value = array_filter($value, fn ($e) => !is_int($e));
            return null;
        case 18:
            return array_reverse($value, true);
        case 19:
            $kept[] = $value;
            if (count($kept) > 20) {
                array_shift($kept);
            }
            return count($kept) > 0;
        case 20:
            return (function () use ($value) {
                $answer = extract($value, EXTR_PREFIX_ALL, 'e');
                return [$answer, array_keys(get_defined_vars())];
            })();
        case 21:
            return [end($value), key($value), prev($value), reset($value), next($value), current($value)];
        case 22:
            if (is_array($value[$key] ?? null)) {
                $value[$key]['deep']['deeper'][] = 1;
                unset($value[$key][array_key_first($value[$key])]);
                array_push($value[$key], 'pushed');
            }
            return null;
        case 23:
            [$first, $second] = array_values($value) + ['a', 'b'];
            return [$first, $second];
        case 24:
            return [array_keys($value), array_values($value), count($value, COUNT_RECURSIVE)];
        case 25:
            return json_encode($value, JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
        case 26:
            return var_export(array_filter($value, is_scalar(...)), true);
        case 27:
            $value = array_slice($value, 1, null, true);
            return null;
        case 28:
            $GLOBALS['stored'] = $value;
            $GLOBALS['stored']['global'] = 1;
            return count($GLOBALS['stored']);
        case 29:
            $data = array_values($value);
            $strings = array_map(fn ($e) => is_scalar($e) ? "$e" : 'x', $data);
            return array_multisort($strings, $data) ? [$strings, $data] : null;
        case 30:
            return array_chunk($value, 3, true);
        case 31:
            $copy = $value;
            $copy[$key] = &$copy;
            $copy = null;
            return null;
        case 32:
            return array_fill_keys(array_map(fn ($e) => is_string($e) ? $e : 'k', $value), $value[$key] ?? 0);
        case 33:
            $value = [...$value, ...[1, 2]];
            return null;
        case 34:
            return iterator_to_array(new ArrayIterator($value));
        case 35:
            $object = (object) $value;
            $object->{'new'} = 1;
            return (array) $object;
        case 36:
            return array_search('appended', $value, true) . array_sum(array_filter($value, is_int(...)));
        case 37:
            natcasesort($strings = array_filter($value, is_string(...)));
            return array_unique($strings);
        case 38:
            foreach ($value as $k => $element) {
                unset($value[$k]);
                $value["moved $k"] = $element;
            }
            return null;
        default:
            return array_replace_recursive($value, [$key => ['r' => 1]]);
    }
}
const ARRAY_OPERATIONS = 40;

function string_operation(string &$value, int $which): mixed
{
    switch ($which) {
        case 0:
            $value .= 'appended';
            return null;
        case 1:
            if ($value !== '') {
                $value[0] = 'X';
            }
            return null;
        case 2:
            return [strtoupper($value), ucfirst($value), trim($value), substr($value, 1), md5($value)];
        case 3:
            return preg_replace('/' . preg_quote($value, '/') . '/', 'y', "a{$value}b");
        case 4:
            return [preg_match_all('/\w/u', $value), @preg_match($value, 'subject')];
        case 5:
            return [[$value => 1], str_replace('a', 'b', $value), explode('e', $value), $value . $value];
        case 6:
            $$value = 1;
            return array_key_exists($value, get_defined_vars());
        case 7:
            return [is_callable($value), class_exists($value), function_exists($value), defined($value)];
        case 8:
            $value++;
            return null;
        case 9:
            return [sprintf('%10.5s', $value), htmlspecialchars($value), strtr($value, ['a' => 'b']), crc32($value)];
        case 10:
            $object = new stdClass();
            if (($value[0] ?? '') !== "\0") {
                $object->{$value} = $value;
            }
            return [(array) $object, ini_set('user_agent', $value) !== false];
        default:
            $value = strrev($value);
            return json_encode($value, JSON_PARTIAL_OUTPUT_ON_ERROR);
    }
}
const STRING_OPERATIONS = 12;

function object_operation(object $value, int $which): mixed
{
    if ($value instanceof UnitEnum) {
        return $value->name;
    }
    switch ($which) {
        case 0:
            $value->any = [1];
            return null;
        case 1:
            foreach ($value as $name => &$property) {
                if (is_string($property)) {
                    $property .= 'y';
                }
            }
            return null;
        case 2:
            unset($value->any);
            return null;
        case 3:
            $clone = clone $value;
            $clone->extra = 1;
            return get_object_vars($clone);
        case 4:
            $array = (array) $value;
            $array['z'] = 1;
            return $array;
        case 5:
            if (is_array($value->any ?? null)) {
                $value->any['new'][] = 1;
            }
            return null;
        case 6:
            $value->dynamic = 'd';
            return isset($value->p1);
        case 7:
            return [method_exists($value, 'inside') ? get_class($value) : 0, count(get_object_vars($value))];
        default:
            return array_map(fn ($p) => is_scalar($p) ? $p : 'p', get_object_vars($value));
    }
}
const OBJECT_OPERATIONS = 9;

function operation(mixed &$value): mixed
{
    try {
        return match (true) {
            is_array($value) => array_operation($value, mt_rand(0, ARRAY_OPERATIONS - 1)),
            is_string($value) => string_operation($value, mt_rand(0, STRING_OPERATIONS - 1)),
            is_object($value) => object_operation($value, mt_rand(0, OBJECT_OPERATIONS - 1)),
            default => null,
        };
    } catch (Throwable $e) {
        return [get_class($e), $e->getMessage()];
    }
}

/** Many operations, on the value and on what is inside; their answers and what became of the value. */
function walk(mixed &$value, int $seed): string
{
    mt_srand($seed);
    $answers = [];
    for ($i = 0; $i < 12; $i++) {
        $answers[] = md5(serialize(operation($value)));
        if (is_array($value) && $value) {
            $inner = array_keys($value)[mt_rand(0, count($value) - 1)];
            $answers[] = md5(serialize(operation($value[$inner])));
        }
    }
    return serialize([$answers, $value]);
}

function make(int $seed): mixed
{
    mt_srand($seed);
    return random_value(mt_rand(1, 4), mt_rand(0, 1) === 1, new Pool());
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
