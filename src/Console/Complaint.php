<?php

declare(strict_types=1);

namespace Larder\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Output\ConsoleOutputInterface;
use Symfony\Component\Console\Output\OutputInterface;

/** How a command says that nothing came of it: on the standard error, and with --quiet, too. */
final class Complaint
{
    private function __construct() {}

    /** @return int the exit code */
    public static function say(OutputInterface $output, string $message, int $code = Command::FAILURE): int
    {
        $errors = $output instanceof ConsoleOutputInterface ? $output->getErrorOutput() : $output;
        $errors->writeln($message, OutputInterface::OUTPUT_RAW | OutputInterface::VERBOSITY_QUIET);

        return $code;
    }
}
