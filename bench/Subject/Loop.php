<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/**
 * The code that is timed, compiled from the pieces that a subject and a value give.
 *
 * It is written to a file and included, not evaluated, so that opcache optimises it as it does a site's own code.
 */
final class Loop
{
    /** @var array<string, \Closure(mixed, Place, list<mixed>, mixed, int): array{int, mixed, mixed}> by code */
    private array $compiled = [];

    /** @param string $directory where to write the code, private to this process */
    public function __construct(private readonly string $directory) {}

    /**
     * @param mixed $client what the subject's `open` returned
     * @param non-empty-list<string> $keys
     * @param mixed $stored what a write stores
     * @param int $rounds how often to go through the keys
     * @return array{int, mixed, mixed} nanoseconds, the last value read, the client afterwards
     */
    public function run(
        Subject $subject,
        Value $value,
        Operation $operation,
        mixed $client,
        Place $place,
        array $keys,
        mixed $stored,
        int $rounds,
    ): array {
        $isBatched = $subject->batch > 1 && !$operation->isChange();
        $loop = $this->compile($isBatched ? self::batched($subject, $value, $operation) : self::single($subject, $value, $operation));

        return $loop($client, $place, $isBatched ? array_chunk($keys, $subject->batch) : $keys, $stored, $rounds);
    }

    private static function single(Subject $subject, Value $value, Operation $operation): string
    {
        $body = match ($operation) {
            Operation::Set => '$value = $stored; ' . $subject->write($value),
            Operation::Delete => $subject->delete($value),
            Operation::Connect => $subject->connect($value),
            default => '$value = ' . $subject->read($value) . '; ' . $value->code($operation),
        };

        return "foreach (\$keys as \$key) { {$body} }";
    }

    private static function batched(Subject $subject, Value $value, Operation $operation): string
    {
        return 'foreach ($keys as $chunk) { $found = (static function ($client, $place, $keys) { return '
            . $subject->read($value) . '; })($client, $place, $chunk); foreach ($found as $value) { '
            . $value->code($operation) . ' } }';
    }

    /** @return \Closure(mixed, Place, list<mixed>, mixed, int): array{int, mixed, mixed} */
    private function compile(string $body): \Closure
    {
        return $this->compiled[$body] ??= $this->load($body);
    }

    /** @return \Closure(mixed, Place, list<mixed>, mixed, int): array{int, mixed, mixed} */
    private function load(string $body): \Closure
    {
        $file = sprintf('%s/loop-%d.php', $this->directory, count($this->compiled));
        file_put_contents($file, <<<CODE
            <?php return static function (mixed \$client, \$place, array \$keys, mixed \$stored, int \$rounds): array {
                \$value = \$element = null;
                \$begin = hrtime(true);
                for (\$round = 0; \$round < \$rounds; ++\$round) {
                    {$body}
                }
                \$end = hrtime(true);

                return [\$end - \$begin, \$value, \$client];
            };
            CODE);
        /** @var \Closure(mixed, Place, list<mixed>, mixed, int): array{int, mixed, mixed} $closure */
        $closure = require $file;

        return $closure;
    }
}
