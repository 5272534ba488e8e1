<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Dsn;
use Larder\Exception\InvalidDsn;
use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('resize', 'Give a pool of shared memory another size')]
final class ResizeCommand extends Command
{
    protected function configure(): void
    {
        $this->addArgument('name', InputArgument::REQUIRED, 'The pool');
        $this->addArgument('size', InputArgument::REQUIRED, 'Bytes, such as 256M');
        $this->addOption('json', null, InputOption::VALUE_NONE, 'Answer in JSON');
        $this->setHelp(<<<'HELP'
            Keeps what lives in the pool: it is saved to a disk (the ini setting larder.snapshot says where), and made and loaded again in the
            new size. Processes that use it go on with the new one. Until it is saved they miss, and their deletes fail loudly. A pool with
            evict=no stays so until it is loaded. With a large pool, do it when there is little to do. A pool that gets smaller evicts what has no room.

              <info>%command.full_name% shop 256M</info>

            Change the size in the DSN (shm:shop?size=256M) or in the ini setting larder.size too: the next pool of that name is made in that size.

            Exit codes: 0 done; 1 the pool is not there or cannot be resized, and the message says why; 2 the command cannot be understood.
            HELP);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        [$name, $size] = [$input->getArgument('name'), $input->getArgument('size')];
        $name = \is_string($name) ? $name : '';
        $mistake = PoolNames::mistake($name);
        if ($mistake !== null) {
            return Complaint::say($output, $mistake, self::INVALID);
        }
        try {
            $bytes = Dsn::parse('shm:?size=' . rawurlencode(\is_string($size) ? $size : ''))->bytes('size') ?? 0;
        } catch (InvalidDsn) {
            return Complaint::say($output, 'The size is no number of bytes; write it as 256M.', self::INVALID);
        }
        $missing = PoolNames::withoutExtension('resize');
        if ($missing !== null) {
            return Complaint::say($output, $missing);
        }
        try {
            $resized = SharedMemory::resize($name, $bytes);
            if ($resized === null) {
                return Complaint::say($output, PoolNames::absent($name));
            }
        } catch (PoolUnusable $failure) {
            return Complaint::say($output, $failure->getMessage());
        } catch (\ValueError) {
            return Complaint::say($output, "The pool \"{$name}\" cannot get " . Printed::bytes($bytes) . '; give a size from 4M to 1024G.', self::INVALID);
        }
        $output->writeln($input->getOption('json') === true ? Printed::json(['resized' => ['name' => $name] + $resized]) : self::told($name, $resized), OutputInterface::OUTPUT_RAW);

        return self::SUCCESS;
    }

    /** @param array{before: int, size: int, loaded: int, dropped: int} $resized */
    private static function told(string $name, array $resized): string
    {
        if ($resized['before'] === $resized['size']) {
            return \sprintf('%s: It has %s already.', $name, Printed::bytes($resized['size']));
        }

        return \sprintf(
            '%s: It had %s, and has %s now; %s items were kept%s.',
            $name,
            Printed::bytes($resized['before']),
            Printed::bytes($resized['size']),
            Printed::count($resized['loaded']),
            $resized['dropped'] === 0 ? '' : ' and ' . Printed::count($resized['dropped']) . ' dropped',
        );
    }
}
