<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Exception\Suggestion;
use Symfony\Component\Console\Application;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Exception\CommandNotFoundException;

/** The program `larder`, with what it can do without the benchmark. */
final class Program extends Application
{
    public function __construct()
    {
        parent::__construct('larder');
        $this->addCommands(Commands::all());
    }

    /** Only when it is asked for, as to tell it may take another program. */
    public function getVersion(): string
    {
        return Version::text();
    }

    /**
     * A mistyped command is a mistake everywhere. Symfony would ask on a terminal whether another one is meant, and end otherwise.
     *
     * @throws CommandNotFoundException
     */
    public function find(string $name): Command
    {
        try {
            return parent::find($name);
        } catch (CommandNotFoundException) {
            $known = [];
            foreach ($this->all() as $command) {
                if (!$command->isHidden() && $command->getName() !== null) {
                    $known[] = $command->getName();
                }
            }
            sort($known);

            throw new CommandNotFoundException("There is no command \"{$name}\"; " . Suggestion::among($name, $known) . '.');
        }
    }
}
