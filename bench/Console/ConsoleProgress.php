<?php

declare(strict_types=1);

namespace Larder\Bench\Console;

use Larder\Bench\Experiment\Progress;
use Larder\Bench\Report\Markup;
use Symfony\Component\Console\Helper\ProgressBar;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Terminal;

/**
 * One line that stays where it is, with the experiment, how far it is and the time left, as wide as the terminal at most. Where the
 * output is no terminal, one line for each experiment, and none for its steps.
 */
final class ConsoleProgress implements Progress
{
    private const BAR = 20;

    private ?ProgressBar $bar = null;

    private string $title = '';

    /** The time that is left is unknown before the first step. */
    private const BEGUN = '%message% [%bar%] %percent:3s%%';

    private float $began = 0.0;

    /** @param ?int $width columns; null: those of the terminal */
    public function __construct(private readonly OutputInterface $output, private readonly ?int $width = null) {}

    public function begin(string $title, int $steps): void
    {
        $this->title = $title;
        $this->began = microtime(true);
        if (!$this->output->isDecorated()) {
            return;
        }
        $this->bar = new ProgressBar($this->output, max(1, $steps)); // without a number of steps there is no time left to show
        $this->bar->setBarWidth(self::BAR);
        $this->bar->setFormat(self::BEGUN);
        $this->bar->setMessage($this->fitting($title));
        $this->bar->start();
    }

    public function advance(string $doing): void
    {
        $this->bar?->setFormat(self::BEGUN . ', left %remaining:-8s%');
        $this->bar?->setMessage($this->fitting("{$this->title}: {$doing}"));
        $this->bar?->advance();
    }

    public function end(): void
    {
        $this->bar?->clear();
        $this->bar = null;
        $this->output->writeln(sprintf('%s: done in %s', $this->title, Markup::duration(microtime(true) - $this->began)), OutputInterface::OUTPUT_RAW);
    }

    /** As wide as there is room for beside the bar, so that the bar does not move either. */
    private function fitting(string $text): string
    {
        $room = max(10, ($this->width ?? (new Terminal())->getWidth()) - self::BAR - 25);
        $text = mb_strimwidth($text, 0, $room, '…');

        return str_replace(['%', '<'], ['%%', '‹'], $text) . str_repeat(' ', $room - mb_strwidth($text));
    }
}
