<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Capability;
use Larder\Item;
use Larder\Store;
use Larder\Token;

/** What a store that judges tokens promises when it has lost what it judges them by. */
final class LossContract extends Suite
{
    /** Of what can be lost, each one alone, and then everything at once. */
    public function testWhateverIsLostNothingStaleComesBack(): void
    {
        if ($this->cannotJudge()) {
            return;
        }
        $store = $this->store();
        $this->seed();
        $names = [];
        foreach ($this->of->losses() as $name => $lose) {
            $names[] = $name;
        }
        foreach ([...$names, null] as $lost) {
            $store->clear();
            $late = $this->seed();
            foreach ($this->of->losses() as $name => $lose) {
                if ($lost === null || $name === $lost) {
                    $lose();
                }
            }
            $name = $lost ?? 'everything';
            self::assertSame([], $store->fetch(['deleted', 'overwritten', 'killed', 'tag late'])->items, $name);
            foreach ($late as $key => $token) {
                $store->save([new Item($key, 'stale', 100, $key === 'tag late' ? ['y'] : [], $token, true)]);
            }
            self::assertSame([], $store->fetch(['deleted', 'overwritten', 'killed', 'tag late'])->items, "{$name}, after the late fills");
            if ($this->can(Capability::Tags)) {
                $store->invalidateTags(['unrelated']);
                self::assertSame([], $store->fetch(['killed', 'tag late'])->items, "{$name}, after another invalidation");
            }
            // And all goes on.
            self::assertSame([], $store->save([new Item('new', 'value', 100, $this->can(Capability::Tags) ? ['x', 'z'] : [])]), $name);
            self::assertSame('value', $this->value('new'), $name);
            $fill = static fn(): array => $store->save([new Item('filled', 'value', 100, token: $store->fetch(['filled'])->tokens['filled'], fill: true)]);
            // Where only a write finds out that something is lost, that one is refused.
            self::assertSame([], $fill() === [] ? [] : $fill(), $name);
            if ($this->can(Capability::Tags)) {
                $store->invalidateTags(['z']);
                self::assertSame(['filled'], array_keys($store->fetch(['new', 'filled'])->items), $name);
            }
        }
    }

    /** @return array<array-key, Token> of fills that are in flight and stale, by key */
    private function seed(): array
    {
        $store = $this->store();
        $tags = $this->can(Capability::Tags);
        $keys = ['deleted', 'overwritten', 'tag late'];
        $late = $store->fetch($keys)->tokens;
        $this->of->elsewhere(static function (Store $store) use ($tags): void {
            $store->save([new Item('deleted', 'old'), new Item('overwritten', 'written'), new Item('killed', 'old', 100, $tags ? ['x', 'other'] : [])]);
            $store->delete(['deleted', 'overwritten']);
            if ($tags) {
                $store->save([new Item('alive', 'x', 100, ['other', 'y'])]);
                $store->invalidateTags(['x', 'y']);
            } else {
                $store->delete(['killed', 'tag late']);
            }
        });

        return $late;
    }
}
