<?php

declare(strict_types=1);

namespace Larder\Tools\Tests\Publication;

use Larder\Bench\Finding\Findings;
use Larder\Bench\Statistics\Direction;
use Larder\Tests\Bench\Finding\RunFixture;
use Larder\Tools\Publication\Restated;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

final class RestatedTest extends TestCase
{
    /** Published are 305 ms over 81 ms. */
    #[TestWith([380.0, 'alike'])]
    #[TestWith([1400.0, 'further apart'])]
    #[TestWith([110.0, 'nearer together'])]
    #[TestWith([50.0, 'turned round'])]
    public function testWhatWasPublishedIsComparedByRatios(float $redis, string $word): void
    {
        $restated = self::titled('Redis over file_get_contents', (new RunFixture())->gets('hello', 'get', ['redis-tcp' => $redis, 'file-disk' => 100.0]));

        self::assertSame($word, $restated->word);
        self::assertEqualsWithDelta(305 / 81, $restated->published, 1e-9);
        self::assertEqualsWithDelta($redis / 100, $restated->found?->estimate, 1e-9);
    }

    public function testAnIntervalThatLiesPartlyThereDoesNotTell(): void
    {
        $case = ['value' => 'hello', 'operation' => 'get', 'keys' => 'one hot key'];
        $fixture = (new RunFixture())
            ->add('gets', $case, 'time', Direction::LowerIsBetter, 'redis-tcp', 500.0, 0.9)
            ->add('gets', $case, 'time', Direction::LowerIsBetter, 'file-disk', 100.0);

        self::assertSame('undecided', self::titled('Redis over file_get_contents', $fixture)->word);
    }

    public function testAConcurrencyThatBothShareIsSaidOnce(): void
    {
        self::assertSame('not measured', self::titled('Memcached over empty script, concurrency 50', new RunFixture())->word);
    }

    private static function titled(string $title, RunFixture $fixture): Restated
    {
        foreach (Restated::all(new Findings($fixture->run())) as $restated) {
            if ($restated->title() === $title) {
                return $restated;
            }
        }
        self::fail("Nothing published is called \"{$title}\".");
    }
}
