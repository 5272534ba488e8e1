<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\Exception\InvalidOption;

/**
 * How processes that miss the same key at once wait for each other in Cache::remember().
 *
 * One of them takes the lease of the key and computes. The others serve what is stale, if there is something and
 * it may be served, else they wait.
 */
final class StampedeOptions
{
    public readonly float $missWait;

    /**
     * @param float  $lease         seconds that a computation may take before another process begins one as well;
     *                              a killed one delays the others by this at most; 0: no lease, each process that
     *                              misses computes
     * @param float  $staleWait     seconds to wait for a fresh value while a stale one could be served
     * @param ?float $missWait      seconds to wait when there is nothing stale, before computing in spite of the
     *                              lease; null: twice the lease
     * @param float  $retry         seconds in which no process tries again after a computation has failed and
     *                              something stale is served
     * @param bool   $afterResponse serve what is early or stale at once, and compute after the response is out
     *                              (php-fpm), or when the script ends
     *
     * @throws InvalidOption
     */
    public function __construct(
        public readonly float $lease = 30.0,
        public readonly float $staleWait = 0.0,
        ?float $missWait = null,
        public readonly float $retry = 1.0,
        public readonly bool $afterResponse = false,
    ) {
        $this->missWait = $missWait ?? 2 * $lease;
        foreach (['lease' => $lease, 'staleWait' => $staleWait, 'missWait' => $this->missWait, 'retry' => $retry] as $name => $seconds) {
            // Written so that NAN fails, too.
            if (!($seconds >= 0.0 && $seconds <= 172_800.0)) {
                throw InvalidOption::range($name, $seconds, '0 to 172,800 seconds');
            }
        }
    }
}
