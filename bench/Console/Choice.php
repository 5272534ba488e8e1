<?php

declare(strict_types=1);

namespace Larder\Bench\Console;

use Larder\Bench\Experiment\Experiment;
use Larder\Bench\Experiment\Experiments;
use Larder\Bench\Experiment\Profile;
use Larder\Bench\Experiment\Tag\LaravelTags;
use Larder\Bench\Experiment\Trace\Trace;
use Larder\Bench\Subject\Subject;
use Larder\Bench\Subject\Subjects;
use Larder\Bench\WordPress\Installation;
use Larder\Bench\WordPress\Original;
use Larder\Exception\Suggestion;
use Symfony\Component\Console\Input\InputInterface;

/** What the reader asked for, checked before anything is measured. */
final readonly class Choice
{
    /**
     * @param array<string, Experiment> $experiments by name
     * @param array<string, Subject> $subjects by name
     * @param list<string> $traces files
     */
    private function __construct(
        public Profile $profile,
        public array $experiments,
        public array $subjects,
        public ?string $subjectFile,
        public array $traces,
        public ?string $zend,
        public ?string $wordpress,
        public ?string $peers,
        public ?string $laravel,
        public string $json,
        public string $html,
        public bool $isResumed,
        public bool $hasNamedSubjects,
        public bool $hasNamedExperiments,
    ) {}

    /** @throws \InvalidArgumentException with one sentence that says what to change */
    public static function of(InputInterface $input): self
    {
        if ($input->getOption('quick') === true && $input->getOption('thorough') === true) {
            throw new \InvalidArgumentException('The options --quick and --thorough exclude each other: give one of them.');
        }
        $file = self::option($input, 'subject-php');
        $choice = new self(
            $input->getOption('thorough') === true ? Profile::Thorough : Profile::Quick,
            self::experiments($input),
            self::subjects($input, Subjects::all($file)),
            $file,
            self::traces($input),
            self::zend($input),
            self::wordpress($input),
            self::peers($input),
            self::laravel($input),
            self::option($input, 'json') ?? 'report.json',
            self::option($input, 'html') ?? 'report.html',
            $input->getOption('resume') === true,
            self::patterns($input) !== [],
            $input->getArgument('experiment') !== [],
        );
        self::writable($choice->json);
        self::writable($choice->html);

        return $choice;
    }

    /** @throws \InvalidArgumentException when the file cannot be written */
    public static function writable(string $target): string
    {
        if (!is_dir(dirname($target)) || !is_writable(is_file($target) ? $target : dirname($target))) {
            throw new \InvalidArgumentException("The file {$target} cannot be written: give a path in a directory that exists and is yours.");
        }

        return $target;
    }

    public static function option(InputInterface $input, string $name): ?string
    {
        $option = $input->getOption($name);

        return is_string($option) ? $option : null;
    }

    /** @return list<string> patterns, none: all */
    public static function patterns(InputInterface $input): array
    {
        $asked = self::option($input, 'subjects');

        return $asked === null ? [] : array_map(trim(...), explode(',', $asked));
    }

    /** @param list<string> $names */
    public static function unknown(string $what, string $name, array $names): string
    {
        return "There is no {$what} {$name}; " . Suggestion::among($name, $names) . '.';
    }

    /** @return array<string, Experiment> */
    private static function experiments(InputInterface $input): array
    {
        $all = Experiments::all();
        $asked = $input->getArgument('experiment');
        $chosen = [];
        foreach (is_array($asked) ? $asked : [] as $name) {
            if (in_array($name, ['compare', 'report'], true)) {
                throw new \InvalidArgumentException("The word {$name} is no experiment: let it be the first word, with the files it concerns after it.");
            }
            if (!is_string($name) || !isset($all[$name])) {
                throw new \InvalidArgumentException(self::unknown('experiment', is_string($name) ? $name : '', [...array_keys($all), 'compare', 'report']));
            }
            $chosen[$name] = $all[$name];
        }

        return $chosen === [] ? $all : $chosen;
    }

    /**
     * @param array<string, Subject> $all
     * @return array<string, Subject> with the empty loop, which the others' times need
     */
    private static function subjects(InputInterface $input, array $all): array
    {
        $patterns = self::patterns($input);
        if ($patterns === []) {
            return $all;
        }
        $chosen = ['none' => true];
        foreach ($patterns as $pattern) {
            $matching = array_filter(array_keys($all), static fn(string $name): bool => fnmatch($pattern, $name));
            if ($matching === []) {
                throw new \InvalidArgumentException(self::unknown('subject', $pattern, array_keys($all)));
            }
            $chosen += array_fill_keys($matching, true);
        }

        return array_intersect_key($all, $chosen);
    }

    /** @return list<string> */
    private static function traces(InputInterface $input): array
    {
        $files = $input->getOption('trace');
        $traces = array_values(array_filter(is_array($files) ? $files : [], is_string(...)));
        foreach ($traces as $file) {
            if (!is_readable($file)) {
                throw new \InvalidArgumentException("The file {$file} given as --trace cannot be read: give the path of a file of 32-bit integers.");
            }
            try {
                Trace::check($file);
            } catch (\RuntimeException $problem) {
                // Now, and not when all other experiments are done.
                throw new \InvalidArgumentException($problem->getMessage(), 0, $problem);
            }
        }

        return $traces;
    }

    private static function zend(InputInterface $input): ?string
    {
        $directory = self::option($input, 'zend');
        if ($directory !== null && !is_dir("{$directory}/Zend/Cache/Backend")) {
            throw new \InvalidArgumentException("The directory {$directory} given as --zend has no Zend/Cache/Backend in it: give the library folder of Zend Framework 1 or of what replaces it.");
        }

        return $directory === null ? null : (string) realpath($directory);
    }

    private static function wordpress(InputInterface $input): ?string
    {
        $directory = self::option($input, 'wordpress');
        $mistake = $directory === null ? null : Installation::mistake($directory);
        if ($mistake !== null) {
            throw new \InvalidArgumentException($mistake);
        }

        return $directory === null ? null : (string) realpath($directory);
    }

    private static function peers(InputInterface $input): ?string
    {
        $directory = self::option($input, 'wordpress-peers');
        if ($directory !== null && Original::all($directory, Original::OBJECT_CACHE) === [] && Original::all($directory, Original::PAGE_CACHE) === []) {
            throw new \InvalidArgumentException("The directory {$directory} given as --wordpress-peers has no folder with an object-cache.php or an advanced-cache.php in it: give the directory that has the plugins' folders.");
        }

        return $directory === null ? null : (string) realpath($directory);
    }

    private static function laravel(InputInterface $input): ?string
    {
        $directory = self::option($input, 'laravel');
        if ($directory !== null && LaravelTags::autoloaders($directory) === []) {
            throw new \InvalidArgumentException("The directory {$directory} given as --laravel has neither vendor/autoload.php nor Illuminate/Cache/autoload.php in it. Give the folder of an application of Laravel's, or the one that Debian's packages put Illuminate into.");
        }

        return $directory === null ? null : (string) realpath($directory);
    }
}
