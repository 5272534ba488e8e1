<?php

declare(strict_types=1);

namespace Larder\Console\Doctor;

use Larder\Cache\Journal;
use Larder\Console\Journals;
use Larder\Console\Printed;
use Larder\Exception\InvalidOption;

/** Checks a journal, and tells which changes it holds that its store has missed. */
final class JournalChecks
{
    public function __construct(
        private readonly string $path,
    ) {}

    /** @return list<Finding> */
    public function findings(): array
    {
        $what = 'journal ' . Printed::key($this->path);
        $distrust = Journal::directoryOf($this->path)->distrust();
        if ($distrust !== null) {
            return [Finding::problem($what, 'It cannot be used: ' . $distrust->reason() . '.', $distrust->remedy)];
        }
        try {
            $journals = Journals::at($this->path);
        } catch (InvalidOption $mistake) {
            return [Finding::failure($what, $mistake)];
        }
        $found = $this->place($what);
        foreach ($journals as $path => $held) {
            $which = 'journal ' . Printed::key($path);
            array_push($found, ...OwnerChecks::of($which, $path));
            $found[] = match (true) {
                $held === null => Finding::problem($which, 'It cannot be read.', $this->asItsOwner($path)),
                $held->isNothing() => Finding::fine($which, 'The store has missed nothing.'),
                default => Finding::problem(
                    $which,
                    \sprintf('The store has missed %s: its items may be stale.', Journals::amount($held)),
                    'see that the store answers; the next process that opens a cache with this journal delivers it',
                ),
            };
        }

        return $found;
    }

    /** @return list<Finding> */
    private function place(string $what): array
    {
        clearstatcache();

        return is_writable(file_exists($this->path) ? $this->path : \dirname($this->path))
            ? []
            : [Finding::problem($what, 'It cannot be written by this user.', $this->asItsOwner(file_exists($this->path) ? $this->path : \dirname($this->path)))];
    }

    private function asItsOwner(string $path): string
    {
        $owner = @fileowner($path);

        return 'sudo -u ' . ($owner === false ? 'USER' : OwnerChecks::name($owner)) . ' larder doctor --journal=' . Printed::key($this->path);
    }
}
