<?php

declare(strict_types=1);

namespace Larder\Tools;

/**
 * Checks that the rooms of the house depend on each other in one direction only: integrations → src → ext and
 * bench → src, while ext/engine knows nobody and only two files know both ext/engine and ext/image.
 */
final readonly class Arrows
{
    /** What a contract test that is shipped may not name. */
    private const NOT_SHIPPED = ['Larder\Bench', 'Larder\Tests\Unit', 'Larder\Tests\System', 'Larder\Tests\Bench', 'Larder\Tools'];

    /** Folder or file => what no PHP file in it may name. The longest that fits a file is the one that counts. */
    private const FORBIDDEN_NAMES = [
        'src' => ['Larder\Bench', 'Larder\Tests', 'Larder\Tools', 'Symfony'],
        'src/Console' => ['Larder\Bench', 'Larder\Tests', 'Larder\Tools'],
        'bench' => ['Larder\Tests', 'Larder\Tools'],
        'integrations' => self::NOT_SHIPPED,
        'tests' => ['Larder\Tools'],
        'tests/Contract/StoreCase.php' => self::NOT_SHIPPED,
        'tests/Contract/TagContract.php' => self::NOT_SHIPPED,
        'tests/Contract/TokenContract.php' => self::NOT_SHIPPED,
        'tests/Contract/LossContract.php' => self::NOT_SHIPPED,
        'tests/Contract/ToldContract.php' => self::NOT_SHIPPED,
        'tests/Contract/ValueContract.php' => self::NOT_SHIPPED,
        'tests/Contract/CounterContract.php' => self::NOT_SHIPPED,
        'tests/Contract/InputContract.php' => self::NOT_SHIPPED,
        'tests/Contract/RememberContract.php' => self::NOT_SHIPPED,
        'tests/Contract/CacheContract.php' => self::NOT_SHIPPED,
        'tests/Contract/StoreContract.php' => self::NOT_SHIPPED,
        'tests/Contract/Crowd.php' => self::NOT_SHIPPED,
        'tests/Contract/History.php' => self::NOT_SHIPPED,
        'tests/Contract/SharedLeaseContract.php' => self::NOT_SHIPPED,
        'tests/Contract/SharedStoreContract.php' => self::NOT_SHIPPED,
        'tests/Contract/Value' => self::NOT_SHIPPED,
    ];

    /** The files that pass values between the engine and the images. */
    private const DOORS = ['ext/larder.c', 'ext/shared_memory.c', 'ext/shared_memory.h', 'ext/opening.c', 'ext/reading.c', 'ext/storing.c', 'ext/changing.c', 'ext/remember.c'];

    /** How the names of PHP's own headers begin. */
    private const PHP_HEADER = '~^(php|zend|tsrm|sapi|main/|ext/)~i';

    /** The folders that the compiler looks for headers in, after that of the including file. */
    private const INCLUDE_FOLDERS = ['ext', 'ext/engine', 'ext/image'];

    public function __construct(private string $root) {}

    /**
     * @return list<string> one sentence for each arrow that points the wrong way, with its place
     */
    public function violations(): array
    {
        $violations = [];
        foreach ((new Files($this->root))->in(['src', 'bench', 'integrations', 'tests', 'tools'], '/\.php$/') as $file) {
            array_push($violations, ...$this->forbiddenNames($file));
        }
        foreach ((new Files($this->root))->in(['ext'], '/\.[ch]$/') as $file) {
            array_push($violations, ...$this->forbiddenIncludes($file));
        }

        return $violations;
    }

    /**
     * @return list<string>
     */
    private function forbiddenNames(string $file): array
    {
        $room = '';
        foreach (array_keys(self::FORBIDDEN_NAMES) as $folder) {
            if (str_starts_with($file . '/', $folder . '/') && strlen($folder) > strlen($room)) {
                $room = $folder;
            }
        }
        $violations = [];
        foreach ((new PhpNames())->in($this->read($file)) as $name => $line) {
            foreach (self::FORBIDDEN_NAMES[$room] ?? [] as $forbidden) {
                if (str_starts_with(strtolower($name) . '\\', strtolower($forbidden) . '\\')) {
                    $violations[] = sprintf('%s:%d: %s may not use %s (%s).', $file, $line, $room, $forbidden, rtrim($name, '\\'));
                }
            }
        }

        return $violations;
    }

    /**
     * @return list<string>
     */
    private function forbiddenIncludes(string $file): array
    {
        $room = $this->room($file);
        $violations = [];
        $known = [];
        foreach (explode("\n", $this->read($file)) as $number => $text) {
            if (preg_match('~^\s*#\s*include\s*(["<])([^">]+)[">]~', $text, $match) !== 1) {
                continue;
            }
            $target = $this->target($file, $match[2], $match[1] === '"');
            $known[$target] = true;
            $reason = match (true) {
                $room === 'engine' && $target === 'php' => 'ext/engine may not include a header of PHP',
                $room === 'engine' && !in_array($target, ['engine', 'system'], true) => 'ext/engine may include nothing outside itself',
                $room === 'engine-tests' && !in_array($target, ['engine', 'engine-tests', 'system'], true) => 'ext/engine-tests may know nothing but ext/engine',
                $room === 'image-tests' && !in_array($target, ['image', 'image-tests', 'php', 'system'], true) => 'the tests of the images may know nothing but PHP and ext/image',
                $room === 'image' && !in_array($target, ['image', 'php', 'system'], true) => 'ext/image may include nothing but PHP and itself',
                $room === 'ext' && isset($known['engine'], $known['image']) && !in_array($file, self::DOORS, true) => 'only ' . implode(' and ', self::DOORS) . ' may know both ext/engine and ext/image',
                default => null,
            };
            if ($reason !== null) {
                $violations[] = sprintf('%s:%d: %s (%s).', $file, $number + 1, $reason, $match[2]);
            }
        }

        return $violations;
    }

    /**
     * @return string the room of the included file, "php" for a header of PHP, "system" for any other
     */
    private function target(string $file, string $header, bool $quoted): string
    {
        foreach ($quoted ? [dirname($file), ...self::INCLUDE_FOLDERS] : self::INCLUDE_FOLDERS as $folder) {
            $candidate = $this->straighten($folder . '/' . $header);
            if (is_file($this->root . '/' . $candidate)) {
                return $this->room($candidate);
            }
        }

        return preg_match(self::PHP_HEADER, $header) === 1 ? 'php' : 'system';
    }

    /**
     * @return string the folder below ext/ that the file is in, "ext" for ext/ itself, "image-tests" for the tests of
     *                the images, which lie beside those of the engine, or "elsewhere"
     */
    private function room(string $file): string
    {
        $parts = explode('/', $file);

        return match (true) {
            $parts[0] !== 'ext' => 'elsewhere',
            str_starts_with($file, 'ext/engine-tests/image/') => 'image-tests',
            count($parts) === 2 => 'ext',
            default => $parts[1],
        };
    }

    private function straighten(string $path): string
    {
        $parts = [];
        foreach (explode('/', $path) as $part) {
            if ($part === '..') {
                array_pop($parts);
            } elseif ($part !== '.' && $part !== '') {
                $parts[] = $part;
            }
        }

        return implode('/', $parts);
    }

    private function read(string $file): string
    {
        return (string) file_get_contents($this->root . '/' . $file);
    }
}
