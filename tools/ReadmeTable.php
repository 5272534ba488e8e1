<?php

declare(strict_types=1);

namespace Larder\Tools;

use Larder\Bench\Report\Findings;
use Larder\Bench\Report\Quantity;
use Larder\Bench\Report\Run;
use Larder\Bench\Statistics\Verdict;
use Larder\Bench\Subject\Operation;

/** The table of results in the README, drawn from what `larder bench --json` wrote. */
final readonly class ReadmeTable
{
    private const BEGIN = "<!-- result -->\n";
    private const END = '<!-- /result -->';

    /** The values that the table shows: name => heading */
    private const VALUES = [
        'string-20' => 'string, 20 bytes',
        'entity' => 'object, 20 properties',
        'page' => 'page, 30 KB',
        'alloptions' => 'array, 600 options, 100 KB',
    ];

    /** What the others are compared with. */
    private const OURS = 'shared-memory';

    public function __construct(private Run $run) {}

    /**
     * The page with its table replaced.
     *
     * @throws \UnexpectedValueException when the page has no place for it
     */
    public function in(string $page): string
    {
        $begin = strpos($page, self::BEGIN);
        $end = strpos($page, self::END);
        if ($begin === false || $end === false || $end < $begin) {
            throw new \UnexpectedValueException('The page has no place for the table: put ' . trim(self::BEGIN) . ' and ' . self::END . ' on lines of their own.');
        }

        return substr($page, 0, $begin + strlen(self::BEGIN)) . $this->markdown() . substr($page, $end);
    }

    public function markdown(): string
    {
        $findings = new Findings($this->run);
        $lines = [
            'Time of one `get` of one hot key, and in brackets how many times that of shared memory (95 % interval of paired',
            'blocks; "tie" where the difference is within the noise of this run):',
            '',
            '| | ' . implode(' | ', self::VALUES) . ' |',
            '|---|' . str_repeat('---:|', count(self::VALUES)),
        ];
        foreach ($this->run->subjects as $name => $subject) {
            $cells = array_map(fn(string $value): string => $this->cell($findings, $name, $value), array_keys(self::VALUES));
            if ($name !== 'none' && array_diff($cells, ['–']) !== []) {
                $lines[] = '| ' . $subject['title'] . ' | ' . implode(' | ', $cells) . ' |';
            }
        }
        array_push($lines, '', ...$this->circumstances());

        return implode("\n", $lines) . "\n";
    }

    private function cell(Findings $findings, string $subject, string $value): string
    {
        $case = ['value' => $value, 'operation' => Operation::Get->value, 'keys' => 'one hot key'];
        $measurement = $findings->measurement('gets', 'time', $case, $subject);
        if ($measurement === null) {
            return '–';
        }
        $time = Quantity::of($findings->median('gets', $measurement)->estimate, $measurement->unit);
        $ratio = $subject === self::OURS ? null : $findings->ratio('gets', 'time', $case, $subject, self::OURS);
        if ($ratio === null) {
            return $time;
        }
        $verdict = $findings->verdict('gets', 'time', $case, $subject, self::OURS);

        return $time . ($verdict === Verdict::Ties ? ' (tie)' : ' (' . Quantity::interval($ratio) . ')');
    }

    /**
     * @return list<string> what the figures depend on
     */
    private function circumstances(): array
    {
        $machine = $this->run->environment;

        return [
            sprintf('Measured on %s by `make bench`, that is `%s`.', substr($this->run->started, 0, 10), $this->run->command),
            sprintf('%s, %s cores, %s; %s, %s; PHP %s.', $machine['processor'], $machine['cores'], $machine['memory'], $machine['system'], $machine['kernel'], $this->run->versions['PHP']),
            'All samples are in [docs/results/first.json](docs/results/first.json).',
        ];
    }
}
