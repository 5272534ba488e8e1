<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\System\Process;

/**
 * The work at the end of a request. It runs deferred computations after the response, and ends the leases of those that a fatal error
 * has cut short.
 */
final class AtTheEnd
{
    /** @var list<\Closure(): void> */
    private array $deferred = [];

    /** The process in which deferred work is done at the end. */
    private int $worksIn = 0;

    /** @var \SplObjectStorage<object, \Closure(): void> leases while they are held, and what ends them */
    private readonly \SplObjectStorage $held;

    /** The process in which leases are released at the end. */
    private int $releasesIn = 0;

    public function __construct()
    {
        $this->held = new \SplObjectStorage();
    }

    /** @param \Closure(): void $work */
    public function add(\Closure $work): void
    {
        if ($this->worksIn !== Process::id()) {
            $this->worksIn = Process::id();
            $this->deferred = [];
            // Holds this object, so that deferred work is done even if its cache is gone by then. A second
            // registration, made while these functions run, comes after all others: they may still print.
            register_shutdown_function(fn() => register_shutdown_function($this->end(...)));
        }
        $this->deferred[] = $work;
    }

    /** @param \Closure(): void $end what is done if the lease is not forgotten before */
    public function watch(object $lease, \Closure $end): void
    {
        if ($this->releasesIn !== Process::id()) {
            $this->releasesIn = Process::id();
            // Holds what is held and not this object: in a long process, caches come and go.
            $held = $this->held;
            register_shutdown_function(static function () use ($held): void {
                foreach ([...$held] as $lease) {
                    ($held[$lease])();
                }
            });
        }
        $this->held->attach($lease, $end);
    }

    public function forget(object $lease): void
    {
        $this->held->detach($lease);
    }

    public function finish(): void
    {
        while ($this->deferred !== [] && $this->worksIn === Process::id()) {
            $work = array_shift($this->deferred);
            $work();
        }
    }

    private function end(): void
    {
        if ($this->deferred !== [] && \function_exists('fastcgi_finish_request')) {
            if (session_status() === \PHP_SESSION_ACTIVE) {
                session_write_close();
            }
            fastcgi_finish_request();
        }
        $this->finish();
    }
}
