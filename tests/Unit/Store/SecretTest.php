<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Store\File\Secret;
use Larder\Store\FileStore;
use Larder\Tests\Scratch;
use Larder\Tests\System\Trap;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** Whose secret a directory's items may be signed with. */
#[CoversClass(Secret::class)]
final class SecretTest extends TestCase
{
    public function testWhatIsSignedWithAnotherUsersSecretIsNeverUnserialised(): void
    {
        if (posix_geteuid() !== 0) {
            // Only root can give a file to another user.
            $this->expectNotToPerformAssertions();

            return;
        }
        $scratch = new Scratch();
        $sprung = Trap::sprung();
        (new FileStore($scratch->path))->save([new Item('key', [new Trap()]), new Item('text', 'needs no secret')]);
        // The maker of the directory may let others read it.
        foreach ([$scratch->path, "{$scratch->path}/secret", ...glob("{$scratch->path}/??") ?: [], ...glob("{$scratch->path}/??/*") ?: []] as $path) {
            chmod($path, 0o755);
        }
        foreach ([65_534, 33] as $owner) {
            chown("{$scratch->path}/secret", $owner);
            chmod("{$scratch->path}/secret", 0o600);
            $store = new FileStore($scratch->path);
            self::assertSame(['text'], array_keys($store->fetch(['key', 'text'])->items));
            try {
                $store->save([new Item('other', ['array'])]);
                self::fail('It was signed with a secret that another user knows.');
            } catch (StoreUnavailable $failure) {
                self::assertStringContainsString('another user', $failure->getMessage());
            }
            self::assertSame($owner, fileowner("{$scratch->path}/secret"));
        }
        self::assertSame($sprung, Trap::sprung());
    }

    public function testASecretThatOthersMayReadIsNone(): void
    {
        $scratch = new Scratch();
        (new FileStore($scratch->path))->save([new Item('key', ['array'])]);
        chmod("{$scratch->path}/secret", 0o644);
        $store = new FileStore($scratch->path);
        self::assertSame([], $store->fetch(['key'])->items);
        self::assertSame([], $store->save([new Item('key', ['array'])]));
        clearstatcache();
        self::assertSame(0o600, (int) fileperms("{$scratch->path}/secret") & 0o777);
    }

    public function testFilesWorkWhereAHostHasDisabledFunctions(): void
    {
        $code = <<<'CODE'
            require $argv[1];
            $save = static fn() => (new Larder\Store\FileStore($argv[2]))->save([new Larder\Item('key', ['array'])]);
            echo json_encode([$save(), $save(), (new Larder\Store\FileStore($argv[2]))->fetch(['key'])->items['key']->value ?? null]);
            try {
                new Larder\Store\PhpFileStore("{$argv[2]}/code");
            } catch (Larder\Exception\InvalidOption $mistake) {
                echo $mistake->getMessage();
            }
            CODE;
        $scratch = new Scratch();
        $process = new Process([\PHP_BINARY, '-d', 'disable_functions=ini_set,link,symlink,readlink', '-r', $code, '--', \dirname(__DIR__, 3) . '/vendor/autoload.php', $scratch->path], timeout: null);
        $process->run();
        $said = $process->getOutput();
        self::assertSame('[[],[],["array"]]PhpFileStore cannot work while symlink() or readlink() is disabled; take them out of disable_functions, or use FileStore.', $said);
    }
}
