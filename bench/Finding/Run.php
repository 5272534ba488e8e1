<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Fields;

/**
 * One run of the benchmark: the document that everything else is drawn from.
 *
 * As JSON it is published: `schema` rises whenever a reader of the former version would misunderstand the new one.
 */
final class Run
{
    public const SCHEMA = 1;

    /**
     * @param string $started when, as RFC 3339 in UTC
     * @param array<string, string> $environment the machine
     * @param array<string, string> $versions of what was measured, and of what measured it
     * @param array<string, string> $settings of php.ini, the same in every worker
     * @param array<string, array{title: string, family: string, settings: array<string, string>}> $subjects by name
     * @param array<string, array<string, string>> $servers how each server was started
     * @param list<Outcome> $outcomes
     */
    public function __construct(
        public readonly string $command,
        public readonly string $profile,
        public readonly string $started,
        public readonly array $environment,
        public readonly string $placement,
        public readonly array $settings,
        public readonly array $subjects,
        public array $versions = [],
        public array $servers = [],
        public array $outcomes = [],
        public float $seconds = 0.0,
        public bool $isComplete = false,
    ) {}

    public function toJson(): string
    {
        return json_encode([
            'schema' => self::SCHEMA,
            'command' => $this->command,
            'profile' => $this->profile,
            'started' => $this->started,
            'seconds' => round($this->seconds, 1),
            'complete' => $this->isComplete,
            'environment' => (object) $this->environment,
            'placement' => $this->placement,
            'versions' => (object) $this->versions,
            'settings' => (object) $this->settings,
            'servers' => (object) $this->servers,
            'subjects' => (object) array_map(
                static fn(array $subject): array => [...$subject, 'settings' => (object) $subject['settings']],
                $this->subjects,
            ),
            'experiments' => array_map(static fn(Outcome $outcome): array => $outcome->toArray(), $this->outcomes),
        ], JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE) . "\n";
    }

    /** @throws \UnexpectedValueException when it is not such a document; the message names the field */
    public static function fromJson(string $json): self
    {
        $document = Fields::ofJson($json, 'run');
        $schema = $document->int('schema');
        if ($schema !== self::SCHEMA) {
            throw new \UnexpectedValueException(sprintf('The run has schema %d and this version reads %d: make it anew with `larder bench --json`.', $schema, self::SCHEMA));
        }
        $subjects = [];
        foreach ($document->entries('subjects') as $name => $subject) {
            $subjects[$name] = ['title' => $subject->string('title'), 'family' => $subject->string('family'), 'settings' => $subject->texts('settings')];
        }
        $servers = [];
        foreach ($document->entries('servers') as $name => $server) {
            $servers[$name] = $server->all();
        }

        return new self(
            $document->string('command'),
            $document->string('profile'),
            $document->string('started'),
            $document->texts('environment'),
            $document->string('placement'),
            $document->texts('settings'),
            $subjects,
            $document->texts('versions'),
            $servers,
            array_map(Outcome::from(...), $document->objects('experiments')),
            $document->float('seconds'),
            $document->bool('complete'),
        );
    }

    public function outcome(string $experiment): ?Outcome
    {
        foreach ($this->outcomes as $outcome) {
            if ($outcome->name === $experiment) {
                return $outcome;
            }
        }

        return null;
    }

    /** What the report calls a subject in an experiment; what is not one, such as a reference policy, is called by its name. */
    public function title(string $subject, ?Outcome $outcome = null): string
    {
        return $outcome?->titles[$subject] ?? $this->subjects[$subject]['title'] ?? $subject;
    }
}
