<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Profile;
use Larder\Bench\Experiment\Site;
use Larder\Bench\Experiment\WebScripts;
use Larder\Bench\Subject\Subjects;
use Larder\Bench\Subject\TemporaryDirectory;
use Larder\Bench\Subject\Values;
use PHPUnit\Framework\TestCase;

/** The scripts of `web` that need no server of their own, behind a real nginx and php-fpm. */
final class WebTest extends TestCase
{
    private const SCRIPTS = ['shared-memory', 'apcu', 'file', 'php-file', 'sqlite', 'sqlite-persistent'];

    /** A site starts only if each script reads what it stored. */
    public function testEachScriptReadsWhatItStoredAndApcuCopiesByItself(): void
    {
        $subjects = Subjects::all();
        $laboratory = new Laboratory(Profile::Quick, array_intersect_key($subjects, array_flip(['shared-memory', 'apcu-default', 'file-disk', 'php-file', 'sqlite'])), Placement::ofThisMachine());
        $outcome = new Outcome('of a test', 'Of a test', 'nothing');
        $directory = TemporaryDirectory::make(sys_get_temp_dir());
        $root = $directory->path;
        try {
            $scripts = WebScripts::of($laboratory, $outcome, $root);
            self::assertSame(['empty', ...self::SCRIPTS], array_keys($scripts->scripts));
            $site = Site::start($laboratory, $scripts->scripts, [Values::named('alloptions'), Values::named('hello')], [], $directory);
            file_put_contents("{$root}/settings.php", '<?php echo ini_get("apc.serializer"), " ", (int) opcache_is_script_cached("' . $root . '/item-hello.inc.php");');
            $site->expect('/settings.php', 'default 1');
        } finally {
            unset($site);
        }
        self::assertDirectoryDoesNotExist($root);
    }
}
