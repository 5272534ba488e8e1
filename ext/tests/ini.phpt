--TEST--
ext/larder.ini has every setting, each with its default
--FILE--
<?php
require __DIR__ . '/pool.inc';

$file = parse_ini_file(dirname(__DIR__) . '/larder.ini', false, INI_SCANNER_RAW);
check(($file['extension'] ?? null) === 'larder', 'it loads the extension');
unset($file['extension']);
$defaults = json_decode(run_php('echo json_encode(ini_get_all("larder", false));'), true);
ksort($file);
ksort($defaults);
same($file, $defaults, 'the settings');
echo "done\n";
?>
--EXPECT--
done
