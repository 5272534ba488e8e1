<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Console;

use Larder\Bench\Console\ResultFile;
use Larder\Tests\Scratch;
use PHPUnit\Framework\TestCase;

final class ResultFileTest extends TestCase
{
    public function testAFileIsReplaced(): void
    {
        $scratch = new Scratch();
        ResultFile::write("{$scratch->path}/run.json", 'first');
        ResultFile::write("{$scratch->path}/run.json", 'second');

        self::assertStringEqualsFile("{$scratch->path}/run.json", 'second');
        self::assertSame(["{$scratch->path}/run.json"], glob("{$scratch->path}/*"));
    }

    public function testWhatCannotBeWrittenLeavesWhatWasThere(): void
    {
        $scratch = new Scratch();
        file_put_contents("{$scratch->path}/run.json", 'first');
        mkdir("{$scratch->path}/run.json.new");
        try {
            ResultFile::write("{$scratch->path}/run.json", 'second');
            self::fail('It was written.');
        } catch (\RuntimeException $problem) {
            self::assertSame("The file {$scratch->path}/run.json could not be written: free some space there, or give another path.", $problem->getMessage());
        }
        self::assertStringEqualsFile("{$scratch->path}/run.json", 'first');
    }

    public function testADiskThatIsFullIsSaidAndADeviceIsNotReplaced(): void
    {
        try {
            ResultFile::write('/dev/full', 'anything');
            self::fail('It was written.');
        } catch (\RuntimeException $problem) {
            self::assertStringStartsWith('The file /dev/full could not be written', $problem->getMessage());
        }
        self::assertSame('char', filetype('/dev/full'));
        ResultFile::write('/dev/null', 'anything');
        self::assertSame('char', filetype('/dev/null'));
    }
}
