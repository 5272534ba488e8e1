<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** What people can be told in their language. */
#[CoversNothing]
final class TranslationsTest extends TestCase
{
    private const LANGUAGES = __DIR__ . '/../languages';

    public function testTheTemplateHasWhatThePluginSays(): void
    {
        $scratch = new Scratch();
        $this->outputOf([\dirname(__DIR__, 3) . '/tools/translations', '--pot', "{$scratch->path}/now.pot"]);

        self::assertSame($this->said("{$scratch->path}/now.pot"), $this->said(self::LANGUAGES . '/larder.pot'), 'run tools/translations, and translate what is new');
    }

    /** @return iterable<string, array{string}> */
    public static function translations(): iterable
    {
        foreach (glob(self::LANGUAGES . '/*.po') ?: [] as $file) {
            yield basename($file, '.po') => [$file];
        }
    }

    #[DataProvider('translations')]
    public function testATranslationIsWholeAndOfTheTemplate(string $file): void
    {
        self::assertSame($this->said(self::LANGUAGES . '/larder.pot'), $this->said($file));
        self::assertSame('', $this->outputOf(['msgattrib', '--untranslated', '--no-obsolete', $file]));
        self::assertSame('', $this->outputOf(['msgattrib', '--only-fuzzy', '--no-obsolete', $file]));
        $this->outputOf(['msgfmt', '--check', '--output-file=/dev/null', $file]);
    }

    public function testAnAdministratorReadsTheirLanguageInPhpAndInTheDashboard(): void
    {
        $scratch = new Scratch();
        $this->outputOf([PHP_BINARY, \dirname(__DIR__, 3) . '/tools/wordpress-plugin', $scratch->path]);
        $site = new Site(plugin: "{$scratch->path}/larder");
        try {
            $site->activate();
            // WordPress takes no language as an option that it has not installed itself.
            file_put_contents("{$site->root}/wp-content/mu-plugins/language.php", '<?php add_filter("locale", static fn(): string => "de_DE");');
            $said = $site->run(<<<'PHP'
                define("WP_ADMIN", true);
                require ROOT . "/wp-load.php";
                wp_set_current_user(1);
                require_once ABSPATH . "wp-admin/includes/admin.php";
                set_current_screen("dashboard");
                do_action("admin_enqueue_scripts", "dashboard_page_larder-dashboard");
                $plugin = new Larder\WordPress\Plugin(WP_PLUGIN_DIR . "/larder");
                echo (new Larder\WordPress\Report($plugin))->state(), "\n", (new Larder\WordPress\PageReport($plugin->pages))->why("cookie:a"), "\n";
                echo json_decode(load_script_textdomain("larder-dashboard", "larder", WP_PLUGIN_DIR . "/larder/languages"), true)["locale_data"]["messages"]["Hit ratio"][0], "\n";
                echo str_contains(wp_scripts()->print_translations("larder-dashboard", false), "Trefferquote") ? "in the page" : "missing";
                PHP, loads: false);
            self::assertSame("Der Objekt-Cache ist an. Womit: gemeinsamer Speicher.\nDas Cookie a kann zu einer Seite nur eines Besuchers gehören. Wenn es keine Seite ändert, sage das in den Einstellungen.\nTrefferquote\nin the page", $said);
        } finally {
            $site->removePool();
        }
    }

    /** @return list<string> the originals */
    private function said(string $file): array
    {
        preg_match_all('/^msgid .*$/m', $this->outputOf(['msgattrib', '--no-obsolete', '--no-wrap', $file]), $said);
        sort($said[0]);

        return $said[0];
    }

    /** @param list<string> $command */
    private function outputOf(array $command): string
    {
        $process = new Process($command, timeout: null);
        self::assertSame(0, $process->run(), $process->getErrorOutput() . $process->getOutput());

        return $process->getOutput();
    }
}
