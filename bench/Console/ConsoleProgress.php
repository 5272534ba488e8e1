<?php

declare(strict_types=1);

namespace Larder\Bench\Console;

use Larder\Bench\Experiment\Progress;
use Symfony\Component\Console\Helper\ProgressBar;
use Symfony\Component\Console\Output\OutputInterface;

/** A bar for each experiment, with the time left. */
final class ConsoleProgress implements Progress
{
    private ?ProgressBar $bar = null;

    public function __construct(private readonly OutputInterface $output) {}

    public function begin(string $title, int $steps): void
    {
        $this->bar = new ProgressBar($this->output, max(1, $steps)); // without a number of steps there is no time left to show
        $this->bar->setFormat(" {$title}\n %current%/%max% [%bar%] %percent:3s%% %elapsed:6s%, left %remaining:-6s%  %message%");
        $this->bar->setMessage('');
        $this->bar->start();
    }

    public function advance(string $doing): void
    {
        $this->bar?->setMessage($doing);
        $this->bar?->advance();
    }

    public function end(): void
    {
        $this->bar?->setMessage('');
        $this->bar?->finish();
        $this->output->writeln('');
        $this->bar = null;
    }
}
