<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Psr\Log\AbstractLogger;

/** Keeps why a cache's store could not be used last, so that an administrator is told what to change. */
final class LastFailure extends AbstractLogger
{
    private ?string $why = null;

    /**
     * @param mixed                $level
     * @param string|\Stringable   $message
     * @param array<string, mixed> $context
     */
    public function log($level, $message, array $context = []): void
    {
        $cause = $context['exception'] ?? null;
        if ($cause instanceof \Throwable) {
            $this->why = $cause->getMessage();
        }
    }

    /** @return ?string a sentence; null: nothing has failed */
    public function why(): ?string
    {
        return $this->why;
    }
}
