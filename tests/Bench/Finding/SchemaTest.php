<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Finding;

use Larder\Bench\Finding\Run;
use Opis\JsonSchema\Validator;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class SchemaTest extends TestCase
{
    private const SCHEMA = __DIR__ . '/../../../bench/run.schema.json';

    public function testARunIsWhatItsPublishedSchemaSays(): void
    {
        self::assertTrue(self::isValid(json_decode((new RunFixture())->contest(0.1)->run()->toJson(), false, 512, JSON_THROW_ON_ERROR)));
    }

    public function testThePublishedResultsAreWhatTheSchemaSays(): void
    {
        foreach (glob(__DIR__ . '/../../../docs/results/*.json') ?: [] as $file) {
            self::assertTrue(self::isValid(json_decode((string) file_get_contents($file), false, 512, JSON_THROW_ON_ERROR)), $file);
        }
    }

    public function testTheSchemaHasTheNumberOfTheRun(): void
    {
        $schema = json_decode((string) file_get_contents(self::SCHEMA), true, 512, JSON_THROW_ON_ERROR);

        self::assertIsArray($schema);
        self::assertIsArray($schema['properties']);
        self::assertSame(['const' => Run::SCHEMA], $schema['properties']['schema']);
    }

    /** @return iterable<string, array{string, string}> what is replaced, and by what */
    public static function mistakes(): iterable
    {
        yield 'another version' => ['"schema":1', '"schema":2'];
        yield 'an unknown profile' => ['"profile":"quick"', '"profile":"leisurely"'];
        yield 'an unknown field' => ['"complete":true', '"complete":true,"colour":"blue"'];
        yield 'a text where a number was measured' => ['"samples":[[0,0,', '"samples":[["0",0,'];
        yield 'a direction that is none' => ['"better":"lower"', '"better":"cheaper"'];
    }

    #[DataProvider('mistakes')]
    public function testWhatIsNoRunIsRefused(string $right, string $wrong): void
    {
        $json = (new RunFixture())->gets('page', 'get', ['apcu-php' => 900.0])->run()->toJson();
        self::assertStringContainsString($right, $json);

        self::assertFalse(self::isValid(json_decode(str_replace($right, $wrong, $json), false, 512, JSON_THROW_ON_ERROR)));
    }

    private static function isValid(mixed $document): bool
    {
        return (new Validator())->validate($document, (string) file_get_contents(self::SCHEMA))->isValid();
    }
}
