<?php

declare(strict_types=1);

namespace Larder\Tests\Contract\Value;

/** Names by __sleep() the properties that it is made of, and notes when it is asked. */
final class Sleeper
{
    public mixed $kept = null;

    protected string $guarded = 'guarded';

    private string $secret = 'secret';

    private int $unset = 0;

    /** @var list<string> */
    private array $names = ['kept', 'guarded', 'secret', 'unset'];

    /** @var ?\ArrayObject<int, string> */
    private ?\ArrayObject $log = null;

    /**
     * @param ?\ArrayObject<int, string> $log
     * @param ?list<string>              $names what __sleep() answers; null: those of the properties above
     */
    public function __construct(?\ArrayObject $log = null, ?array $names = null)
    {
        $this->log = $log;
        $this->names = $names ?? $this->names;
        unset($this->unset);
    }

    public function change(mixed $kept): self
    {
        [$this->kept, $this->guarded, $this->secret] = [$kept, 'changed', 'changed too'];

        return $this;
    }

    /** @return list<mixed> */
    public function inside(): array
    {
        return [$this->kept, $this->guarded, $this->secret, $this->unset];
    }

    public function set(int $number): void
    {
        $this->unset = $number;
    }

    /** @return list<string> */
    public function __sleep(): array
    {
        $this->log?->append('sleeper');

        return $this->names;
    }
}
