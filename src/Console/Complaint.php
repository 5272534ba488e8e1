<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Exception;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\PoolUnusable;
use Larder\Exception\StoreUnavailable;
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

    /** @return int the exit code: whether the store is at fault, which another time may serve, or the command itself */
    public static function of(OutputInterface $output, Exception $failure): int
    {
        $isTheStores = $failure instanceof StoreUnavailable || $failure instanceof PoolUnusable || $failure instanceof ExtensionMissing;

        return self::say($output, $failure->getMessage(), $isTheStores ? Command::FAILURE : Command::INVALID);
    }
}
