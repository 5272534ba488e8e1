<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use PHPUnit\Framework\Assert;

/** Processes that do the same at once. */
final class Crowd
{
    private function __construct() {}

    /**
     * @template T
     *
     * @param positive-int    $size
     * @param \Closure(int): T $work the number of the process
     *
     * @return non-empty-list<T> what each returned
     */
    public static function of(int $size, \Closure $work): array
    {
        $processes = [];
        for ($number = 0; $number < $size; $number++) {
            $ends = stream_socket_pair(\STREAM_PF_UNIX, \STREAM_SOCK_STREAM, 0);
            Assert::assertIsArray($ends);
            $process = pcntl_fork();
            Assert::assertGreaterThanOrEqual(0, $process);
            if ($process === 0) {
                fread($ends[1], 1);
                try {
                    $report = [true, $work($number)];
                } catch (\Throwable $failure) {
                    $report = [false, (string) $failure];
                }
                $bytes = serialize($report);
                for ($sent = 0; $sent < \strlen($bytes); $sent += (int) fwrite($ends[1], substr($bytes, $sent)));
                // Not through exit: what would be run there belongs to the parent.
                posix_kill((int) getmypid(), \SIGKILL);
            }
            fclose($ends[1]);
            // Not PHP's default_socket_timeout: the work may take minutes.
            stream_set_timeout($ends[0], 86_400);
            $processes[$process] = $ends[0];
        }
        foreach ($processes as $end) {
            fwrite($end, '!');
        }
        $reports = [];
        foreach ($processes as $process => $end) {
            $report = unserialize((string) stream_get_contents($end));
            fclose($end);
            pcntl_waitpid($process, $status);
            Assert::assertIsArray($report, 'A process said nothing.');
            Assert::assertTrue($report[0], \is_string($report[1]) ? $report[1] : '');
            /** @var T $result */
            $result = $report[1];
            $reports[] = $result;
        }

        return $reports;
    }
}
