<?php

declare(strict_types=1);

namespace Larder\Store\Apcu;

use Larder\Exception\StoreUnavailable;
use Larder\System\Process;

/** APCu's one lock, under which several things are one. */
final class Section
{
    /** In names that no other process may use at the same time, where its number cannot be had. */
    private readonly string $own;

    private int $entered = 0;

    public function __construct()
    {
        $this->own = bin2hex(random_bytes(8));
    }

    /** A name that no other process uses at the same time. */
    public function name(string $kind): string
    {
        return "larder-{$kind}:{$this->own}:" . Process::id();
    }

    /**
     * Runs something with APCu's own lock held: apcu_entry() holds it while it asks for a missing value,
     * and calls meanwhile in this process do not take it again.
     *
     * @template T
     *
     * @param \Closure(): T $section
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    public function atomically(\Closure $section): mixed
    {
        $name = $this->name('lock') . ':' . ++$this->entered;
        $result = null;
        $ran = apcu_entry($name, static function () use ($section, &$result): bool {
            $result = $section();

            return true;
        }, 1);
        apcu_delete($name);
        if ($ran !== true) {
            throw StoreUnavailable::because('APCu', 'it did not run an atomic section', 'upgrade APCu to 5.1 or later');
        }

        /** @var T $result */
        return $result;
    }
}
