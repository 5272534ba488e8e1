--TEST--
Values may be kept wherever PHP keeps values, until the request ends and beyond: destructors, handlers, names of streams
--EXTENSIONS--
posix
--INI--
larder.protect_unpinned=1
--FILE--
<?php
require __DIR__ . '/pool.inc';

use Larder\SharedMemory;

ob_start(); // PHP starts no session after the first output
$pool = fresh_pool();
$names = [];
foreach (['wrapper', 'filter', 'class', 'function', 'constant', 'global'] as $name) {
    $names[$name] = "larder$name" . str_repeat(' x', $name === 'global' ? 1 : 0);
}
$long = str_repeat('0123456789', 1000);
$pool->set('values', ['array' => range(1, 1000), 'text' => $long, 'nested' => ['a' => ['b' => [$long]]], 'names' => $names]);
$pool->set('text', $long);
same($pool->statistics()['mode'], 'zero-copy', 'mode');
$sum = md5(serialize($pool->get('values')));

class Keeper
{
    public static mixed $static;
    public mixed $value;
    public ?Keeper $self = null;

    public function __construct(mixed $value, private string $sum, private string $where)
    {
        $this->value = $value;
    }

    public function __destruct()
    {
        echo $this->where, ': ', md5(serialize($this->value)) === $this->sum ? 'whole' : 'DAMAGED', "\n";
    }
}

final class Filter extends php_user_filter
{
    public function filter($in, $out, &$consumed, bool $closing): int
    {
        while ($bucket = stream_bucket_make_writeable($in)) {
            $bucket->data = strtoupper($bucket->data);
            $consumed += $bucket->datalen;
            stream_bucket_append($out, $bucket);
        }

        return PSFS_PASS_ON;
    }
}

final class Wrapper
{
    public mixed $context = null;
    private int $at = 0;

    public function stream_open(string $path, string $mode, int $options, ?string &$opened): bool
    {
        return true;
    }

    public function stream_read(int $count): string
    {
        return $this->at++ === 0 ? 'from the wrapper' : '';
    }

    public function stream_eof(): bool
    {
        return $this->at > 0;
    }

    public function stream_stat(): array
    {
        return [];
    }
}

// Names that lie in the pool, in tables that PHP takes down very late.
$in_pool = $pool->get('values')['names'];
stream_wrapper_register($in_pool['wrapper'], Wrapper::class);
stream_filter_register($in_pool['filter'], Filter::class);
// Only a table with other names among its keys is taken down key by key.
stream_wrapper_register('dynamic' . getmypid(), Wrapper::class);
stream_filter_register('dynamic.' . getmypid(), Filter::class);
echo file_get_contents('larderwrapper://x'), "\n";
$stream = fopen('php://memory', 'w+');
stream_filter_append($stream, $in_pool['filter'], STREAM_FILTER_WRITE);
fwrite($stream, 'through the filter');
rewind($stream);
echo fgets($stream), "\n";
class_alias(Keeper::class, $in_pool['class']);
define($in_pool['constant'], $pool->get('values'));
$GLOBALS[$in_pool['global']] = $pool->get('values');
${$in_pool['function']} = $pool->get('text');

// Settings, the environment, the locale: all of them keep strings.
ini_set('user_agent', $pool->get('text'));
ini_set('error_prepend_string', $pool->get('text'));
ini_set('error_prepend_string', '');
putenv('LARDER_TEXT=' . $pool->get('text'));
setlocale(LC_ALL, $pool->get('values')['names']['wrapper'], 'C');
mb_substitute_character(0x3f);
set_include_path($pool->get('values')['names']['filter']);
date_default_timezone_set('Europe/Berlin');
preg_match('/' . $pool->get('values')['names']['wrapper'] . '/', 'x');
preg_match("~$long~", $pool->get('text'));
@preg_match_all($pool->get('values')['names']['class'] . 'x', 'x');
libxml_use_internal_errors(true);
$document = new DOMDocument();
$document->loadXML('<root/>');
$document->documentElement->setAttribute('text', $pool->get('text'));
$document->documentElement->appendChild($document->createElement($in_pool['class'], $in_pool['filter']));
check(str_contains($document->saveXML(), $long), 'DOM');
$database = new PDO('sqlite::memory:');
$statement = $database->prepare('SELECT ? AS ' . $in_pool['class']);
$statement->execute([$pool->get('text')]);
check($statement->fetch(PDO::FETCH_ASSOC) === [$in_pool['class'] => $long], 'PDO');

function counter(mixed $value): mixed
{
    static $kept;
    $kept ??= $value;

    return $kept;
}

$static = counter($pool->get('values'));
Keeper::$static = new Keeper($pool->get('values'), $sum, 'static property');
$GLOBALS['kept'] = new Keeper($pool->get('values'), $sum, 'global');
$cycle = new Keeper($pool->get('values'), $sum, 'cycle');
$cycle->self = $cycle;
unset($cycle);

$handler = new class ($pool->get('values'), $sum) implements SessionHandlerInterface {
    public function __construct(private array $values, private string $sum) {}

    public function open(string $path, string $name): bool
    {
        return true;
    }

    public function close(): bool
    {
        fwrite(STDOUT, 'session, closed: ' . (md5(serialize($this->values)) === $this->sum ? 'whole' : 'DAMAGED') . "\n");

        return true;
    }

    public function read(string $id): string
    {
        return '';
    }

    public function write(string $id, string $data): bool
    {
        fwrite(STDOUT, 'session, written: ' . (str_contains($data, 'kept in the session') && strlen($data) > 10_000 ? 'whole' : 'DAMAGED') . "\n");

        return true;
    }

    public function destroy(string $id): bool
    {
        return true;
    }

    public function gc(int $lifetime): int
    {
        return 0;
    }

    // PHP 8.6 misses these two.
    public function create_sid(): string
    {
        return 'larder';
    }

    public function validateId(string $id): bool
    {
        return true;
    }
};
ini_set('session.use_cookies', '0');
ini_set('session.cache_limiter', '');
session_set_save_handler($handler, true);
session_id('larder');
session_start();
$_SESSION['kept in the session'] = $pool->get('values');

$values = $pool->get('values');
register_shutdown_function(function () use ($values, $sum): void {
    echo 'shutdown function: ', md5(serialize($values)) === $sum ? 'whole' : 'DAMAGED', "\n";
    // A pool may be used in the very end, too.
    $pool = SharedMemory::open(pool_name());
    echo 'shutdown function, read: ', md5(serialize($pool->get('values'))) === $sum ? 'whole' : 'DAMAGED', "\n";
});
ob_start(function (string $output) use ($values, $sum): string {
    return $output . 'output handler: ' . (md5(serialize($values)) === $sum ? 'whole' : 'DAMAGED') . "\n";
});
set_error_handler($pool->get('values')['names']['function'] === 'larderfunction' ? fn (): bool => true : null);
spl_autoload_register(function (string $class) use ($values): void {});

// Meanwhile the pool moves on, and what is pinned stays.
for ($i = 0; $i < 3_000; $i++) {
    $pool->set("churn $i", str_repeat("churn $i", 1000));
}
$pool->clear();
check($pool->get('values') === null, 'cleared');
$pool->set('values', $values);
check(md5(serialize($values)) === $sum && md5(serialize($static)) === $sum, 'whole after the churn');
unset($pool);
echo "the end\n";
?>
--CLEAN--
<?php
require __DIR__ . '/pool.inc';
remove_pools();
?>
--EXPECT--
session, written: whole
session, closed: whole
from the wrapper
THROUGH THE FILTER
the end
shutdown function: whole
shutdown function, read: whole
global: whole
static property: whole
cycle: whole
output handler: whole
