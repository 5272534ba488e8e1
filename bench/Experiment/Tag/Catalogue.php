<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Tag;

use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/**
 * The items of Magento's cache benchmark: ids by md5, up to 15 of 2,000 tags, values of 1 to 1,024 bytes of base64. One item in
 * six has a lifetime of its own. Everything about an item follows from its number.
 */
final readonly class Catalogue
{
    private const TAGS = 2_000;
    private const MOST_TAGS = 15;
    private const MOST_BYTES = 1_024;
    private const LIFETIME = 7_200;

    public function __construct(public int $items) {}

    public function id(int $number): string
    {
        return md5((string) $number);
    }

    public function value(int $number): string
    {
        $random = $this->random($number, 1);

        return substr(base64_encode($random->getBytes(self::MOST_BYTES)), 0, $random->getInt(1, self::MOST_BYTES));
    }

    /** @return list<string> */
    public function tags(int $number): array
    {
        $random = $this->random($number, 2);
        $tags = [];
        for ($tag = $random->getInt(0, self::MOST_TAGS); $tag > 0; $tag--) {
            $tags[] = $this->tag($random->getInt(0, self::TAGS - 1));
        }

        return array_values(array_unique($tags));
    }

    /** @return list<string> what an item is read under in such a design */
    public function tagsToReadUnder(Design $design, int $number): array
    {
        return $design->readsUnderTags() ? $this->tags($number) : [];
    }

    public function lifetime(int $number): int
    {
        $random = $this->random($number, 3);

        return $random->getInt(1, 6) === 1 ? $random->getInt(10, 14_400) : self::LIFETIME;
    }

    public function tag(int $number): string
    {
        return 'tag_' . ($number % self::TAGS);
    }

    /** A number of an item; the popular ones come more often: the square of an even draw. */
    public function popular(Randomizer $random): int
    {
        $draw = $random->getInt(0, (1 << 30) - 1) / (1 << 30);

        return (int) ($draw * $draw * $this->items);
    }

    private function random(int $number, int $purpose): Randomizer
    {
        return new Randomizer(new Xoshiro256StarStar(4 * $number + $purpose));
    }
}
