--TEST--
The classes are what the stub file says: signatures, types, defaults, modifiers, parents
--EXTENSIONS--
posix
--FILE--
<?php
/** One line for each thing that can be known about a class from outside. */
function portrait(ReflectionClass $class): array
{
    // Of internal functions, PHP 8.2 tells what an iterable is made of.
    $strip = fn (mixed $name): string => str_replace(['Stub\\', 'Traversable|array'], ['', 'iterable'], (string) $name);
    $lines = [sprintf(
        '%s%s %s extends %s implements %s',
        $class->isFinal() ? 'final ' : '',
        $class->isInterface() ? 'interface' : 'class',
        $strip($class->getName()),
        $strip($class->getParentClass() ? $class->getParentClass()->getName() : 'nothing'),
        $strip(implode(', ', array_diff($class->getInterfaceNames(), ['Stringable']))),
    )];
    foreach ($class->getMethods() as $method) {
        if ($strip($method->getDeclaringClass()->getName()) !== $strip($class->getName())) {
            continue;
        }
        $parameters = array_map(fn (ReflectionParameter $p): string => $strip($p->getType()) . ($p->isPassedByReference() ? ' &' : ' ')
            . $p->getName() . ($p->isOptional() ? ' = ' . var_export($p->getDefaultValue(), true) : ''), $method->getParameters());
        $lines[] = implode(' ', Reflection::getModifierNames($method->getModifiers())) . ' ' . $method->getName()
            . '(' . implode(', ', $parameters) . '): ' . $strip($method->getReturnType());
    }
    foreach ($class->getProperties() as $property) {
        if ($strip($property->getDeclaringClass()->getName()) === $strip($class->getName())) {
            $lines[] = implode(' ', Reflection::getModifierNames($property->getModifiers())) . ' '
                . $strip($property->getType()) . ' $' . $property->getName();
        }
    }
    sort($lines);

    return $lines;
}

$stub = file_get_contents(__DIR__ . '/../shared_memory.stub.php');
$stub = preg_replace('/^namespace Larder/m', 'namespace Stub\Larder', $stub);
$stub = str_replace(['implements \Larder', '<?php'], ['implements \Stub\Larder', ''], $stub);
eval($stub);

$compared = 0;
foreach ([...get_declared_classes(), ...get_declared_interfaces()] as $name) {
    if (str_starts_with($name, 'Stub\Larder\\')) {
        $real = portrait(new ReflectionClass(substr($name, 5)));
        $promised = portrait(new ReflectionClass($name));
        if ($real !== $promised) {
            var_dump(array_diff($promised, $real), array_diff($real, $promised));
        }
        $compared += count($real);
    }
}
$extension = new ReflectionExtension('larder');
$names = $extension->getClassNames();
sort($names);
echo implode(', ', $names), "\n";
echo "$compared things compared\n";

// What reflection does not compare: attributes of the whole class.
$class = new ReflectionClass(Larder\SharedMemory::class);
var_dump($class->isInternal(), $class->isCloneable(), $class->isInstantiable(), $class->isFinal());
echo implode(', ', array_keys(ini_get_all('larder'))), "\n";
foreach (ini_get_all('larder') as $name => $setting) {
    echo "$name: default ", var_export($setting['global_value'], true), ', access ', $setting['access'], ', changed ',
        var_export(ini_set($name, '1'), true), "\n";
}
?>
--EXPECTF--
Larder\Computation, Larder\Exception, Larder\Exception\NotACounter, Larder\Exception\PoolUnusable, Larder\Exception\Unstorable, Larder\SharedMemory, Larder\Token
%d things compared
bool(true)
bool(false)
bool(false)
bool(true)
larder.group, larder.protect_unpinned, larder.size, larder.snapshot, larder.zero_copy
larder.group: default '', access 4, changed false
larder.protect_unpinned: default '0', access 4, changed false
larder.size: default '0', access 4, changed false
larder.snapshot: default '/var/tmp', access 4, changed false
larder.zero_copy: default 'auto', access 4, changed false
