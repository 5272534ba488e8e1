<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Cache;
use Redis;

/** What a write costs Redis while many hosts follow its log. The hosts are near stores in one process, each with a connection of its own, that do not read meanwhile. */
final class HostFollowers implements Task
{
    private const WRITES = 1_000;

    public function run(Fields $arguments): array
    {
        $place = sprintf('redis://%s:%d', $arguments->string('address'), $arguments->int('port'));
        $redis = new Redis();
        $redis->connect($arguments->string('address'), $arguments->int('port'));
        $cache = Cache::open($place, strict: true);
        $cache->set('key', 'value');
        $blocks = [];
        for ($block = 0; $block < $arguments->int('blocks'); $block++) {
            foreach (Shuffled::of([1 => 1, 2 => 2, 4 => 4, 64 => 64]) as $hosts) {
                $following = [];
                for ($host = 0; $host < $hosts; $host++) {
                    $following[] = $near = Cache::open("array: > {$place}", strict: true);
                    $near->get('key');
                }
                $before = self::processorTime($redis);
                for ($write = 0; $write < self::WRITES; $write++) {
                    $cache->set('k' . $write % 100, 'value');
                }
                $blocks[$block][(string) $hosts] = (self::processorTime($redis) - $before) / self::WRITES;
                foreach ($following as $near) {
                    $near->refresh();
                    $near->get('k1') === 'value' || throw new \UnexpectedValueException('A host that followed the log has lost a value.');
                }
                unset($following, $near);
            }
        }

        return ['blocks' => $blocks];
    }

    /** @return float ns that the server has used */
    private static function processorTime(Redis $redis): float
    {
        $about = $redis->info('cpu');

        return 1e9 * (self::number($about, 'used_cpu_user') + self::number($about, 'used_cpu_sys'));
    }

    private static function number(mixed $about, string $name): float
    {
        $number = is_array($about) ? $about[$name] ?? null : null;

        return is_numeric($number) ? (float) $number : throw new \UnexpectedValueException("The server does not say {$name}.");
    }
}
