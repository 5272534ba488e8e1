--TEST--
Paths that lie in a pool are included, compiled and looked for, with opcache and without, and nothing is written into them
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/pool.inc';

$directory = sys_get_temp_dir() . '/' . pool_name() . '-' . bin2hex(random_bytes(4));
mkdir("$directory/releases/1", 0700, true);
symlink('releases/1', "$directory/current");
foreach (['include', 'include_once', 'require', 'require_once', 'compiled', 'looked', 'forgotten'] as $name) {
    file_put_contents("$directory/releases/1/$name.php", "<?php return '$name';");
    touch("$directory/releases/1/$name.php", time() - 100);
}
$code = '$pool = Larder\SharedMemory::open(pool_name());
    foreach (["current/", "releases/../current/", "releases/1/", "releases/1/./../1/"] as $i => $way) {
        $path = ' . var_export("$directory/", true) . ' . $way;
        $pool->set("paths", ["include" => "{$path}include.php", "include_once" => "{$path}include_once.php", "require" => "{$path}require.php",
            "require_once" => "{$path}require_once.php", "compiled" => "{$path}compiled.php", "looked" => "{$path}looked.php", "forgotten" => "{$path}forgotten.php"]);
        $paths = $pool->get("paths");
        for ($again = 0; $again < 2; $again++) {
            echo include $paths["include"], " ", (include_once $paths["include_once"]), " ", require $paths["require"], " ", (require_once $paths["require_once"]), "\n";
        }
        if (function_exists("opcache_compile_file")) {
            @opcache_compile_file($paths["compiled"]);
            opcache_is_script_cached($paths["looked"]);
            opcache_invalidate($paths["forgotten"], true);
        }
        $pool->set("path", $path . str_repeat("./", 1990) . "include.php"); // a string of its own
        echo @include $pool->get("path"), "\n";
    }
    echo "private pages: ", $pool->statistics()["private_pages"], "\n";
    echo function_exists("opcache_get_status") && opcache_get_status() !== false ? "opcache" : "no opcache";';
foreach ([['enable_cli' => 0], ['enable_cli' => 1], ['enable_cli' => 1, 'revalidate_path' => 1], ['enable_cli' => 1, 'use_cwd' => 0],
    ['enable_cli' => 1, 'file_cache' => $directory], ['enable_cli' => 1, 'file_cache' => $directory, 'file_cache_only' => 1]] as $settings) {
    Larder\SharedMemory::remove(pool_name());
    $ini = ['opcache.enable' => 1, 'opcache.jit' => 'off', 'opcache.file_update_protection' => 0];
    foreach ($settings as $name => $value) {
        $ini["opcache.$name"] = $value;
    }
    $said = run_php($code, $ini, $status);
    $lines ??= $said;
    same(str_replace('no opcache', 'opcache', $said), str_replace('no opcache', 'opcache', $lines), json_encode($settings));
    same([$status, str_contains($said, 'no opcache')], [0, $settings['enable_cli'] === 0], json_encode($settings));
}
echo $lines, "\n";
exec('rm -r ' . shell_word($directory));
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
include include_once require require_once
include 1 require 1
include
include 1 require 1
include 1 require 1
include
include 1 require 1
include 1 require 1
include
include 1 require 1
include 1 require 1
include
private pages: 0
no opcache
