<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Memcached;

/**
 * The design of Zend's two levels, re-created plainly: Memcached answers reads, a slower back end knows the tags.
 *
 * Writes go to both. Cleaning by tag asks the slow level which items have it and removes each of them from both.
 */
final readonly class TwoLevels implements TaggedCache
{
    private Memcached $fast;

    public function __construct(string $socket, private Indexed $slow)
    {
        $this->fast = new Memcached();
        $this->fast->setOption(Memcached::OPT_COMPRESSION, false);
        $this->fast->addServer($socket, 0);
    }

    public function load(string $id, array $tags = []): ?string
    {
        $found = $this->fast->get($id);
        if (is_string($found)) {
            return $found;
        }
        $value = $this->slow->load($id);
        if ($value !== null) {
            $this->fast->set($id, $value, 7200);
        }

        return $value;
    }

    public function save(string $id, string $value, array $tags, int $lifetime): void
    {
        $this->fast->set($id, $value, $lifetime);
        $this->slow->save($id, $value, $tags, $lifetime);
    }

    public function clean(array $tags): void
    {
        foreach ($this->slow->withAny($tags) as $id) {
            $this->fast->delete($id);
            $this->slow->remove($id);
        }
    }
}
