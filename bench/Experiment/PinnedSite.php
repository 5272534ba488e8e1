<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Subject\TemporaryDirectory;

/** A site with one page. Its requests read many arrays of one pool, hold them for a tenth of a second, and store some anew. */
final class PinnedSite
{
    public const KEYS = 8_000;
    public const READS = 500;
    public const WRITES = 20;
    public const FEW_READS = 200;
    public const HELD_US = 100_000;
    public const MEGABYTES = 64;

    private function __construct(private readonly ScriptSite $site) {}

    /**
     * @param bool $isInPlace whether values are used in place; else the setting larder.zero_copy is off
     * @throws ServerFailed
     * @throws \RuntimeException when the pool cannot be filled
     */
    public static function start(Laboratory $laboratory, bool $isInPlace, int $workers, TemporaryDirectory $root): self
    {
        $site = self::of('bench-' . bin2hex(random_bytes(6)), $laboratory, $isInPlace, $workers, $root);
        $site->site->expect('/fill.php', 'filled');

        return $site;
    }

    /**
     * The site of a pool that is there and filled.
     *
     * @throws ServerFailed
     */
    public static function of(string $pool, Laboratory $laboratory, bool $isInPlace, int $workers, TemporaryDirectory $root): self
    {
        $open = sprintf("\$pool = Larder\\SharedMemory::open('%s', %d);", $pool, self::MEGABYTES << 20);
        $value = 'range(1, mt_rand(100, 500))';
        $scripts = [
            'fill' => sprintf('%s for ($i = 0; $i < %d; $i++) { $pool->set("k$i", %s); } for ($i = 0; $i < %2$d; $i++) { $pool->get("k$i"); } echo "filled";', $open, self::KEYS, $value),
            'page' => sprintf(
                '%s $held = []; for ($i = 0; $i < %d; $i++) { $held[] = $pool->get("k" . mt_rand(0, %d)); } usleep(%d); for ($i = 0; $i < %d; $i++) { $pool->set("k" . mt_rand(0, %3$d), %s); }',
                $open,
                self::READS,
                self::KEYS - 1,
                self::HELD_US,
                self::WRITES,
                $value,
            ),
            'few' => sprintf('%s $before = $pool->statistics()["copies"]; $held = []; for ($i = 0; $i < %d; $i++) { $held[] = $pool->get("k" . mt_rand(0, %d)); } echo json_encode(["copies" => $pool->statistics()["copies"] - $before]);', $open, self::FEW_READS, self::KEYS - 1),
            'tally' => "{$open} \$found = \$pool->statistics(); echo json_encode(['hits' => \$found['hits'], 'misses' => \$found['misses'], 'sets' => \$found['sets'], 'refused' => array_sum(\$found['refused'])]);",
            'clean' => "{$open} Larder\\SharedMemory::remove(\$pool->statistics()['name']);",
        ];

        return new self(ScriptSite::start($laboratory, $root, $scripts, ['memory_limit' => '256M', 'larder.zero_copy' => $isInPlace ? 'auto' : 'off'], $workers));
    }

    /**
     * Requests pages for a while, as many at once as there are workers.
     *
     * @return array{found: float, stored: float, requests: int} the share of reads that found their value, and of stores that were not refused
     */
    public function load(LoadGenerator $generator, int $workers, float $seconds): array
    {
        $before = $this->tally();
        $slice = $generator->pages($this->site->nginx->port, ['/page.php'], $workers, true, $seconds)[0] ?? null;
        $after = $this->tally();
        $reads = $after['hits'] + $after['misses'] - $before['hits'] - $before['misses'];
        $stores = $after['sets'] + $after['refused'] - $before['sets'] - $before['refused'];
        if ($slice === null || $slice->errors > 0 || $reads === 0 || $stores === 0) {
            throw new \RuntimeException(sprintf('%d pages of the site failed: its figures would be worth nothing.', $slice->errors ?? 0));
        }

        return [
            'found' => ($after['hits'] - $before['hits']) / $reads,
            'stored' => ($after['sets'] - $before['sets']) / $stores,
            'requests' => $slice->requests,
        ];
    }

    /** @return float the share of the reads of one small page that copied nothing */
    public function inPlace(): float
    {
        return 1 - Fields::ofJson($this->site->answer('/few.php'), 'page')->int('copies') / self::FEW_READS;
    }

    /** @return array{hits: int, misses: int, sets: int, refused: int} since the pool was made */
    private function tally(): array
    {
        $found = Fields::ofJson($this->site->answer('/tally.php'), 'tally');

        return ['hits' => $found->int('hits'), 'misses' => $found->int('misses'), 'sets' => $found->int('sets'), 'refused' => $found->int('refused')];
    }
}
