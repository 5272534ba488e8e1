<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Experiment;

use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Placement;
use Larder\Bench\Experiment\Profile;
use Larder\Bench\Experiment\Site;
use Larder\Bench\Experiment\TierRequests;
use Larder\Bench\Experiment\WebScripts;
use Larder\Bench\Statistics\Direction;
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

    /** Each request opens a tier, follows its log, and reads what an earlier one has stored or kept near. */
    public function testScriptsOfMemoryBeforeRedisReadWhatTheyStored(): void
    {
        $laboratory = new Laboratory(Profile::Quick, array_intersect_key(Subjects::all(), array_flip(WebScripts::TIERS)), Placement::ofThisMachine());
        $outcome = new Outcome('of a test', 'Of a test', 'nothing');
        $directory = TemporaryDirectory::make(sys_get_temp_dir());
        try {
            $scripts = WebScripts::of($laboratory, $outcome, $directory->path);
            self::assertSame(['empty', ...WebScripts::TIERS], array_keys($scripts->scripts));
            self::assertCount(1, $scripts->servers, 'Both have the same Redis behind them.');
            // It starts only if each script reads what it stored.
            $site = Site::start($laboratory, $scripts->scripts, [Values::named('alloptions'), Values::named('hello')], $scripts->servers, $directory);
        } finally {
            unset($site);
            $laboratory->stopServers();
        }
        self::assertSame([], $outcome->failures());
    }

    /** A request whose read is not what was stored fails the subject. */
    public function testRequestsOfATierTimeThemselvesBesideThoseOfItsNearStoreAlone(): void
    {
        $laboratory = new Laboratory(Profile::Quick, array_intersect_key(Subjects::all(), array_flip(['cache-apcu', 'cache-tier-apcu'])), Placement::ofThisMachine());
        $outcome = new Outcome('of a test', 'Of a test', 'nothing');
        $directory = TemporaryDirectory::make(sys_get_temp_dir());
        $root = $directory->path;
        $scripts = WebScripts::of($laboratory, $outcome, $root);
        $site = Site::start($laboratory, $scripts->scripts, [Values::named('hello')], [], $directory);
        try {
            TierRequests::measure($laboratory, $outcome, $site, $root, 0, 2);
        } finally {
            unset($site);
        }

        self::assertSame([], $outcome->failures());
        foreach ([TierRequests::READ, TierRequests::OPENED, TierRequests::LOADED] as $part) {
            $added = $outcome->measurement(TierRequests::of($part), TierRequests::ADDED, 'ns a request', Direction::LowerIsBetter, 'cache-tier-apcu');
            self::assertCount(2, $added->values());
        }
    }
}
