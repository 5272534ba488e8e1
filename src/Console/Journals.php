<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache\Journal;
use Larder\Cache\Undelivered;
use Larder\Exception\InvalidOption;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** The option --journal: what the journals hold that it names, and those beside them of namespaces (see Cache::namespace()). They are only looked at. */
final class Journals
{
    private function __construct() {}

    public static function describe(Command $command): void
    {
        $command->addOption('journal', null, InputOption::VALUE_REQUIRED | InputOption::VALUE_IS_ARRAY, 'The journal of a cache: shows what its store has missed');
    }

    /** @return list<string> as they were given */
    public static function named(InputInterface $input): array
    {
        $paths = $input->getOption('journal');

        return array_values(array_filter(\is_array($paths) ? $paths : [], is_string(...)));
    }

    /**
     * @return array<string, ?Undelivered> by path; null: it cannot be read
     *
     * @throws InvalidOption if it cannot be the path of one
     */
    public static function at(string $path, ?string $namespace = null): array
    {
        $path = $namespace === null ? $path : Journal::pathIn($path, $namespace);
        $directory = Journal::directoryOf($path);
        if (!@is_dir($directory->path) && !$directory->isMissingInTmp()) {
            throw InvalidOption::directory($directory->path, 'does not exist', 'create it, or name another place for the journal');
        }
        $found = [];
        // Not glob(), which would take some of what a path may have in it for patterns.
        $names = array_map(static fn(string $name): string => \dirname($path) . "/{$name}", @scandir(\dirname($path)) ?: []);
        foreach ([$path, ...array_filter($names, static fn(string $each): bool => str_starts_with($each, Journal::pathIn($path, '')))] as $each) {
            $found[$each] = (new Journal($each, static fn(): float => microtime(true)))->undelivered();
        }

        return $found;
    }

    /**
     * Those that the option names; of a namespace if the command is about one.
     *
     * @return array<string, ?Undelivered>
     *
     * @throws InvalidOption
     */
    public static function of(InputInterface $input): array
    {
        $namespace = $input->hasOption('namespace') ? $input->getOption('namespace') : null;

        return array_merge(...array_map(static fn(string $path): array => self::at($path, \is_string($namespace) ? $namespace : null), self::named($input)));
    }

    /** @param array<string, ?Undelivered> $journals */
    public static function text(array $journals): string
    {
        $texts = [];
        foreach ($journals as $path => $held) {
            if ($held === null || !$held->isNothing()) {
                $texts[] = ($held === null ? 'unknown, as it cannot be read' : self::amount($held)) . ' (' . Printed::key($path) . ')';
            }
        }

        return $texts === [] ? 'nothing' : implode(', ', $texts);
    }

    public static function amount(Undelivered $held): string
    {
        if ($held->clears) {
            return 'a clear';
        }
        $keys = Printed::count($held->keys) . ($held->keys === 1 ? ' key' : ' keys');
        $tags = Printed::count($held->tags) . ($held->tags === 1 ? ' tag' : ' tags');

        return $held->tags === 0 ? $keys : ($held->keys === 0 ? $tags : "{$keys} and {$tags}");
    }
}
