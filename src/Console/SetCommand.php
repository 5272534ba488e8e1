<?php

declare(strict_types=1);

namespace Larder\Console;

use Larder\Cache;
use Larder\Ttl;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

#[AsCommand('set', 'Store a value')]
final class SetCommand extends StoreCommand
{
    /** As it was given, or read from the standard input. */
    private string $value = '';

    protected function describe(): void
    {
        $this->setHelp(<<<'HELP'
            The value is a string, or with --type what that says; "-" reads it from the standard input.

              <info>%command.full_name% shm:shop greeting "hello world" --ttl=300</info>
              <info>%command.full_name% shm:shop menu '{"home": "/"}' --type=json --tag=menu</info>
              <info>%command.full_name% redis://127.0.0.1 page - < page.html</info>
            HELP);
        $this->addArgument('key', InputArgument::REQUIRED, 'The key');
        $this->addArgument('value', InputArgument::REQUIRED, 'The value, or "-"');
        $this->addOption('ttl', null, InputOption::VALUE_REQUIRED, 'Seconds to live, or "forever" (default: 30 days)');
        $this->addOption('tag', null, InputOption::VALUE_REQUIRED | InputOption::VALUE_IS_ARRAY, 'A tag that it carries');
        $this->addOption('type', null, InputOption::VALUE_REQUIRED, 'string, int or json', 'string');
    }

    protected function changesItems(): bool
    {
        return true;
    }

    protected function makesItsPlace(): bool
    {
        return true;
    }

    protected function mistake(InputInterface $input): ?string
    {
        $text = self::text($input->getArgument('value'));
        $this->value = $text === '-' ? (string) stream_get_contents(\STDIN) : $text;
        $type = self::text($input->getOption('type'));
        $isInt = filter_var($this->value, \FILTER_VALIDATE_INT) !== false;
        if (!\in_array($type, ['string', 'int', 'json'], true) || ($type === 'int' && !$isInt) || ($type === 'json' && !self::isJson($this->value))) {
            return "The value is no {$type}: give one, with --type=string, --type=int or --type=json.";
        }
        $ttl = $input->getOption('ttl');

        // A value that ends at once is none, and the one before it would go.
        return \is_string($ttl) && $ttl !== 'forever' && filter_var($ttl, \FILTER_VALIDATE_INT, ['options' => ['min_range' => 1]]) === false
            ? "The TTL \"{$ttl}\" is no number of seconds above 0: give one, or \"forever\"."
            : null;
    }

    protected function serve(Cache $cache, InputInterface $input, OutputInterface $output): int
    {
        $key = self::text($input->getArgument('key'));
        $value = match (self::text($input->getOption('type'))) {
            'int' => (int) $this->value,
            'json' => json_decode($this->value, true),
            default => $this->value,
        };
        $ttl = $input->getOption('ttl');
        $lifetime = \is_string($ttl) ? ($ttl === 'forever' ? Ttl::Forever : (int) $ttl) : null;
        $isStored = $cache->set($key, $value, $lifetime, self::texts($input->getOption('tag')));
        if (self::wantsJson($input)) {
            self::json($output, ['key' => $key, 'stored' => $isStored]);
        }

        return $isStored ? self::SUCCESS : self::say($output, 'The store refused the value: it is full, or the value too large.', self::FAILURE);
    }

    private static function isJson(string $text): bool
    {
        json_decode($text);

        return json_last_error() === \JSON_ERROR_NONE;
    }
}
