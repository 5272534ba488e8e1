<?php

declare(strict_types=1);

namespace Larder\Tools;

/**
 * Finds classes of the library, or of the benchmark, folders of the library, and parts of the engine that use each other in a circle, so that none of them can be
 * understood, or tested, before the others. A part of the engine is a source with its header, and uses those that it includes.
 */
final readonly class Circles
{
    public function __construct(private string $root) {}

    /** @return list<string> one sentence for each circle, with the files on it */
    public function violations(): array
    {
        $classes = $this->uses();

        return [...$this->circles([...$classes, ...$this->includes()]), ...$this->circles(self::folders($classes))];
    }

    /**
     * @param array<string, array<string, true>> $uses
     *
     * @return list<string>
     */
    private function circles(array $uses): array
    {
        $violations = [];
        while ($uses !== []) {
            // What uses nothing, or only what is gone, is on no circle.
            $done = array_filter($uses, static fn(array $used): bool => array_intersect_key($used, $uses) === []);
            if ($done !== []) {
                $uses = array_diff_key($uses, $done);
                continue;
            }
            $circle = $this->circle($uses);
            $violations[] = \sprintf('These use each other in a circle: %s.', implode(' → ', [...$circle, ...\array_slice($circle, 0, 1)]));
            $uses = array_diff_key($uses, array_flip($circle));
        }

        return $violations;
    }

    /**
     * @param non-empty-array<string, array<string, true>> $uses where each uses one of them
     *
     * @return list<string>
     */
    private function circle(array $uses): array
    {
        $path = [];
        $at = array_key_first($uses);
        while (!isset($path[$at])) {
            $path[$at] = \count($path);
            $at = (string) array_key_first(array_intersect_key($uses[$at], $uses));
        }

        return \array_slice(array_keys($path), $path[$at]);
    }

    /**
     * What lies at the root of the library is for all of its folders, and may use them.
     *
     * @param array<string, array<string, true>> $uses file => those that it uses
     *
     * @return array<string, array<string, true>> folder of the library => others that its files use
     */
    private static function folders(array $uses): array
    {
        $folder = static fn(string $file): ?string => preg_match('~^src/[^/]+(?=/)~', $file, $found) === 1 ? $found[0] : null;
        $folders = [];
        foreach ($uses as $file => $used) {
            $from = $folder($file);
            foreach ($from === null ? [] : array_keys($used) as $to) {
                $folders[$from] ??= [];
                if ($folder($to) !== null && $folder($to) !== $from) {
                    $folders[$from][$folder($to)] = true;
                }
            }
        }

        return $folders;
    }

    /** @return array<string, array<string, true>> part of the engine => those that it includes */
    private function includes(): array
    {
        $part = static fn(string $file): string => substr($file, 0, -2);
        $uses = [];
        foreach ((new Files($this->root))->in(['ext/engine'], '/\.[ch]$/') as $file) {
            $uses[$part($file)] ??= [];
            preg_match_all('/^#include "(\w+\.h)"/m', (string) file_get_contents("{$this->root}/{$file}"), $headers);
            foreach ($headers[1] as $header) {
                $uses[$part($file)][$part("ext/engine/{$header}")] = true;
            }
            unset($uses[$part($file)][$part($file)]);
        }

        return $uses;
    }

    /** @return array<string, array<string, true>> file => the files whose classes it names */
    private function uses(): array
    {
        $files = (new Files($this->root))->in(['src', 'bench'], '/\.php$/');
        $uses = [];
        foreach ($files as $file) {
            $uses[$file] = [];
            foreach ((new PhpNames())->in((string) file_get_contents("{$this->root}/{$file}")) as $name => $line) {
                $used = strtr("{$name}.php", ['Larder\\Bench\\' => 'bench/', 'Larder\\' => 'src/', '\\' => '/']);
                if ($used !== $file && \in_array($used, $files, true)) {
                    $uses[$file][$used] = true;
                }
            }
        }

        return $uses;
    }
}
