<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Store\Noted;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Noted::class)]
final class NotedTest extends TestCase
{
    private Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        chmod($this->scratch->path, 0o700);
    }

    public function testWhatOneHasNotedOthersReadWhoMeanTheSameServerAndTheSameThing(): void
    {
        $this->noted()->write('time', '-17');
        [$when, $what] = $this->noted()->read('time', 3_600) ?? [0.0, ''];
        self::assertSame('-17', $what);
        self::assertEqualsWithDelta(microtime(true), $when, 3_600);
        self::assertNull($this->noted()->read('another', 3_600));
        self::assertNull($this->noted('another:6379')->read('time', 3_600));
        $this->noted()->forget('time');
        self::assertNull($this->noted()->read('time', 3_600));
    }

    public function testWhatIsOlderThanAskedForOrFromTheFutureOrHalfWrittenIsNothing(): void
    {
        $this->noted()->write('time', 'what');
        [$path] = glob("{$this->scratch->path}/noted-*") ?: [''];
        $now = microtime(true);
        foreach ([sprintf("%.6F what\n", $now - 61), sprintf("%.6F what\n", $now + 3_600), sprintf('%.6F what', $now), sprintf('%.6F', $now), '', "what\n"] as $note) {
            file_put_contents($path, $note);
            self::assertNull($this->noted()->read('time', 60), $note);
        }
        file_put_contents($path, sprintf("%.6F \n", $now));
        self::assertSame('', $this->noted()->read('time', 3_600)[1] ?? null);
    }

    public function testAYoungNoteStaysAsItIsAndAnOldOneIsWrittenAnew(): void
    {
        $this->noted()->write('time', 'first');
        $this->noted()->write('time', 'second', 3_600);
        self::assertSame('first', $this->noted()->read('time', 3_600)[1] ?? null);
        touch((glob("{$this->scratch->path}/noted-*") ?: [''])[0], time() - 3_601);
        $this->noted()->write('time', 'third', 3_600);
        self::assertSame('third', $this->noted()->read('time', 3_600)[1] ?? null);
    }

    public function testWhatWasNotWrittenForADayGoes(): void
    {
        $this->noted('gone')->write('time', 'old');
        touch((glob("{$this->scratch->path}/noted-*") ?: [''])[0], time() - 100_000);
        $this->noted()->write('time', 'new');
        self::assertCount(1, glob("{$this->scratch->path}/noted-*") ?: []);
    }

    public function testWhatWasNotWrittenForADayGoesFromADirectoryOfAnyNameAndNothingElseDoes(): void
    {
        $directory = "{$this->scratch->path}/a [b] *";
        mkdir($directory, 0o700);
        touch("{$directory}/noted-by-nobody", time() - 100_000);
        touch("{$directory}/another", time() - 100_000);
        (new Noted('here:6379', $directory))->write('time', 'new');
        self::assertFileDoesNotExist("{$directory}/noted-by-nobody");
        self::assertFileExists("{$directory}/another");
        self::assertCount(4, scandir($directory) ?: []);
    }

    public function testNothingIsNotedWhereADirectoryIsNotOursAloneOrThereIsNoServer(): void
    {
        chmod($this->scratch->path, 0o777);
        $this->noted()->write('time', 'what');
        (new Noted(null, $this->scratch->path))->write('time', 'what');
        self::assertNull($this->noted()->read('time', 3_600));
        self::assertSame([], glob("{$this->scratch->path}/*"));
    }

    private function noted(string $server = 'here:6379'): Noted
    {
        return new Noted($server, $this->scratch->path);
    }
}
