--TEST--
A class that is gone or has changed is a miss; one that is the same is found, autoloaded too, in another process
--FILE--
<?php
/** Runs code in a process of its own. */
function in_process(string $code): string
{
    $file = tempnam(sys_get_temp_dir(), 'image');
    file_put_contents($file, "<?php\n$code");
    $output = shell_exec(getenv('TEST_PHP_EXECUTABLE') . ' ' . getenv('IMAGE_TESTS_ARGUMENTS') . ' ' . escapeshellarg($file) . ' 2>&1');
    unlink($file);
    return (string) $output;
}

function dump(string $declarations, string $value): string
{
    $dump = in_process("$declarations\necho base64_encode((new Image($value))->dump());");
    return $dump;
}

function load(string $declarations, string $dump, string $expression = '$read'): string
{
    return in_process($declarations . "\n\$image = Image::load(base64_decode('$dump'));\n"
        . 'try { $read = $image->get(); $copy = $image->getShifted(); var_dump($read == $copy); echo json_encode(' . $expression . '), "\n"; }'
        . ' catch (OutOfBoundsException) { echo "miss\n"; } catch (Throwable $e) { echo get_class($e), ": ", $e->getMessage(), "\n"; }');
}

$class = 'class A { public int $x = 1; protected ?string $y = "why"; private array $z = [1]; public static $s = 5; function all() { return get_object_vars($this); } }';
$dump = dump($class, '[new A, [1, 2], new A]');

echo load($class, $dump, '$read[0]->all()');
echo load("spl_autoload_register(function (\$name) { echo \"loading \$name\\n\"; $class });", $dump, '$read[0]->all()');
foreach ([
    'gone' => '',
    'renamed' => str_replace('$x', '$w', $class),
    'another type' => str_replace('int $x', 'float $x', $class),
    'no type' => str_replace('int $x', '$x', $class),
    'nullable' => str_replace('int $x', '?int $x', $class),
    'another order' => 'class A { protected ?string $y = "why"; public int $x = 1; private array $z = [1]; }',
    'another visibility' => str_replace('protected', 'public', $class),
    'another property' => str_replace('public static', 'public $new; public static', $class),
    'one less' => str_replace('private array $z = [1];', '', $class),
    'readonly' => str_replace('public int $x = 1', 'public readonly int $x', $class),
    'a parent' => 'class P {} ' . str_replace('class A', 'class A extends P', $class),
    'a magic method' => str_replace('function all', 'function __wakeup() {} function all', $class),
    'abstract' => "abstract $class",
    'an interface' => 'interface A {}',
    'an enum' => 'enum A { case B; }',
    'autoloader that finds nothing' => 'spl_autoload_register(function ($name) { echo "no $name\n"; });',
    'autoloader that throws' => 'spl_autoload_register(function ($name) { throw new LogicException("no $name"); });',
    'a constant that is not there' => str_replace('int $x = 1', 'int $x = NOWHERE', $class),
] as $change => $declaration) {
    echo "$change: ", load($declaration, $dump);
}
echo 'another default: ', load(str_replace('$x = 1', '$x = 2', $class), $dump, '$read[0]->all()');
echo 'another method: ', load(str_replace('function all', 'function other() {} function all', $class), $dump, '$read[0]->all()');

$enum = 'enum Suit: string { case Hearts = "h"; case Spades = "s"; }';
$dump = dump($enum, '["e" => Suit::Spades]');
echo 'case: ', load($enum, $dump);
echo 'another value: ', load(str_replace('"s"', 'self::PREFIX . "x"', str_replace('{ case', '{ const PREFIX = "p"; case', $enum)), $dump);
echo 'case gone: ', load('enum Suit { case Hearts; }', $dump);
echo 'case is a constant: ', load('enum Suit { case Hearts; const Spades = self::Hearts; }', $dump);
echo 'a class: ', load('class Suit { const Spades = 1; }', $dump);
echo 'enum gone: ', load('', $dump);

$arrays = dump('', "['list' => [1, [], '', 'x'], 'empty' => [], 'text' => str_repeat('long ', 10), 'f' => 1.5]");
echo 'arrays: ', load('', $arrays);
?>
--EXPECT--
bool(true)
{"x":1,"y":"why","z":[1]}
loading A
bool(true)
{"x":1,"y":"why","z":[1]}
gone: miss
renamed: miss
another type: miss
no type: miss
nullable: miss
another order: miss
another visibility: miss
another property: miss
one less: miss
readonly: miss
a parent: miss
a magic method: miss
abstract: miss
an interface: miss
an enum: miss
autoloader that finds nothing: no A
miss
autoloader that throws: miss
a constant that is not there: miss
another default: bool(true)
{"x":1,"y":"why","z":[1]}
another method: bool(true)
{"x":1,"y":"why","z":[1]}
case: bool(true)
{"e":"s"}
another value: bool(true)
{"e":"px"}
case gone: miss
case is a constant: miss
a class: miss
enum gone: miss
arrays: bool(true)
{"list":[1,[],"","x"],"empty":[],"text":"long long long long long long long long long long ","f":1.5}
