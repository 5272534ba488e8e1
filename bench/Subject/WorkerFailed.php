<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

/** A subject could not do what it was told; it is left out from there on, and the report says why. */
final class WorkerFailed extends \RuntimeException
{
    public static function said(string $title, string $message): self
    {
        return new self("{$title} failed: {$message}");
    }

    public static function ended(string $title, string $errors): self
    {
        return new self(sprintf('The process that measured %s ended by itself; it said: %s', $title, trim($errors) === '' ? 'nothing.' : trim($errors)));
    }
}
