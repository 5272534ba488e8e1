<?php

declare(strict_types=1);

namespace Larder\Tests;

use Larder\Console\Doctor\Machine;
use Larder\Console\DoctorCommand;
use Larder\Console\Program;
use Symfony\Component\Console\Tester\ApplicationTester;

/** The command line, within this process. */
final class CommandLine
{
    /** What the last command has said on the standard error. */
    public string $errors = '';

    /** @param ?Machine $machine that doctor looks at; null: this one */
    public function __construct(
        private readonly ?Machine $machine = null,
    ) {}

    /** On which nothing is wrong. */
    public static function onAMachineInOrder(): self
    {
        $extensions = ['larder', 'apcu', 'sqlite3', 'redis', 'memcached', 'igbinary'];

        return new self(new Machine('fpm-fcgi', $extensions, [], [], 1 << 30, 1 << 29, ['used' => 10, 'wasted' => 0, 'size' => 100, 'full' => false]));
    }

    /**
     * @param array<string, mixed> $input   arguments and options
     * @param list<string>         $answers to what it asks
     *
     * @return array{int, string} the exit code and what was printed
     */
    public function run(string $command, array $input, array $answers = []): array
    {
        $application = new Program();
        $application->add(new DoctorCommand($this->machine));
        $application->setAutoExit(false);
        $tester = new ApplicationTester($application);
        $tester->setInputs($answers);
        $code = $tester->run(['command' => $command, ...$input], ['capture_stderr_separately' => true, 'interactive' => $answers !== []]);
        $this->errors = $tester->getErrorOutput();

        return [$code, $tester->getDisplay()];
    }

    /**
     * With --json.
     *
     * @param array<string, mixed> $input
     *
     * @return array{int, array<mixed>} the exit code and the answer
     */
    public function json(string $command, array $input): array
    {
        [$code, $printed] = $this->run($command, [...$input, '--json' => true]);
        $answer = json_decode($printed, true);

        return \is_array($answer) ? [$code, $answer] : throw new \RuntimeException("This is no JSON: {$printed}{$this->errors}");
    }
}
