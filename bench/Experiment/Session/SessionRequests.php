<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Session;

use Larder\Bench\Experiment\Forked;
use Larder\Bench\Experiment\Task;
use Larder\Bench\Fields;
use Larder\Bench\Server\CpuMeter;
use Larder\Cache;
use Larder\Session\SessionHandler;
use Larder\SharedMemory;

/** Does with sessions what requests do: start, read, perhaps change something, close. One process, then several at one session. */
final class SessionRequests implements Task
{
    private const SESSIONS = 200;
    private const VISITORS = 4;

    public function run(Fields $arguments): array
    {
        try {
            // This process keeps away from sessions until the others are gone: a connection that a handler keeps must not be forked.
            [$alone] = Forked::all(1, fn(): array => $this->visit($arguments));

            return $alone + $this->contend($arguments, $arguments->int('milliseconds'));
        } finally {
            if ($arguments->string('handler') === 'shared-memory') {
                SharedMemory::remove($arguments->string('endpoint'));
            }
        }
    }

    /** @return array<string, float> ns of a request, by what it does and block */
    private function visit(Fields $arguments): array
    {
        $this->handle($arguments);
        for ($session = 0; $session < self::SESSIONS; $session++) {
            $this->request(sprintf('known%08d', $session), 'write', $session);
        }
        $this->request('contended', 'write', 0);
        $operations = $arguments->int('operations');
        $found = [];
        for ($block = 0; $block < $arguments->int('blocks'); $block++) {
            foreach (['write' => 'new', 'read' => 'known', 'change' => 'known'] as $what => $which) {
                $meter = CpuMeter::among($arguments->string('servers'));
                $begin = hrtime(true);
                for ($operation = 0; $operation < $operations; $operation++) {
                    $id = $which === 'new' ? sprintf('new%08dblock%08d', $operation, $block) : sprintf('known%08d', $operation % self::SESSIONS);
                    $this->request($id, $what, $operation);
                }
                $found["{$what} {$block}"] = (hrtime(true) - $begin) / $operations;
                [$found["client cpu of {$what} {$block}"], $found["server cpu of {$what} {$block}"]] = $meter->perOperation($operations);
            }
            // Out of the time: each session is whose it was, with what was put into it.
            for ($session = 0; $session < self::SESSIONS; $session++) {
                $this->request(sprintf('known%08d', $session), 'check', $session);
            }
            $this->request(sprintf('new%08dblock%08d', $operations - 1, $block), 'check', $operations - 1);
        }

        return $found;
    }

    private function handle(Fields $arguments): void
    {
        $endpoint = $arguments->string('endpoint');
        match ($arguments->string('handler')) {
            'mariadb' => session_set_save_handler(new MariaDbSessions($endpoint), true),
            'shared-memory' => session_set_save_handler(new SessionHandler(Cache::open("shm:{$endpoint}?evict=no&size=64M")), true),
            'cache-redis' => session_set_save_handler(new SessionHandler(Cache::open("redis+unix:{$endpoint}")), true),
            default => true,
        };
    }

    private function request(string $id, string $what, int $number): void
    {
        session_id($id);
        if (!session_start()) {
            throw new \RuntimeException('A session could not be started.');
        }
        if ($what === 'write') {
            $_SESSION = ['visitor' => $number, 'cart' => self::cart(), 'count' => 0];
        } elseif (!isset($_SESSION['cart']) || ($what === 'check' && ($_SESSION['visitor'] !== $number || $_SESSION['cart'] !== self::cart()))) {
            throw new \UnexpectedValueException("The session {$id} is not there any more, or not what was stored: its figures would be worth nothing.");
        }
        if ($what === 'change') {
            $_SESSION['count'] = (is_int($_SESSION['count']) ? $_SESSION['count'] : 0) + 1;
        }
        session_write_close();
    }

    /** @return non-empty-list<array{sku: string, quantity: int, price: float}> */
    private static function cart(): array
    {
        return array_fill(0, 20, ['sku' => 'JAR-17', 'quantity' => 1, 'price' => 24.5]);
    }

    /**
     * Several processes change one session at the same time. With locking no change is lost.
     *
     * @return array<string, float|int>
     */
    private function contend(Fields $arguments, int $milliseconds): array
    {
        $begin = hrtime(true);
        $counts = Forked::all(self::VISITORS, function () use ($arguments, $begin, $milliseconds): array {
            $this->handle($arguments);
            $changes = 0;
            while (hrtime(true) - $begin < $milliseconds * 1_000_000) {
                $this->request('contended', 'change', 0);
                $changes++;
            }

            return ['changes' => $changes];
        });
        $seconds = (hrtime(true) - $begin) / 1e9;
        $changes = (int) array_sum(array_column($counts, 'changes'));
        $this->handle($arguments);
        session_id('contended');
        session_start();
        $kept = is_int($_SESSION['count'] ?? null) ? $_SESSION['count'] : 0;
        session_write_close();

        return ['contended rate' => $changes / $seconds, 'lost' => max(0, $changes - $kept), 'changes' => $changes];
    }
}
