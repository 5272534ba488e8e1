<?php

declare(strict_types=1);

namespace Larder\Bench\Subject;

use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/** The values that are cached in every experiment: sizes from 11 bytes to 1 MiB, and the shapes that sites cache. */
final class Values
{
    /** The one of 1 MiB. */
    public const LARGEST = 'string-1m';

    /** @return non-empty-array<string, Value> by name */
    public static function all(): array
    {
        $values = [
            self::text('hello', 'the text "hello world"', static fn(): string => implode(' ', ['hello', 'world'])),
            self::text('string-20', 'a string of 20 bytes', static fn(int $number): string => self::filler(20, $number)),
            self::text('string-32', 'a string of 32 bytes', static fn(int $number): string => self::filler(32, $number)),
            self::text('string-1k', 'a string of 1 KiB', static fn(int $number): string => self::filler(1024, $number)),
            self::text('string-32k', 'a string of 32 KiB', static fn(int $number): string => self::filler(32 * 1024, $number)),
            self::text(self::LARGEST, 'a string of 1 MiB', static fn(int $number): string => self::filler(1024 * 1024, $number)),
            self::text('page', 'an HTML page of about 30 KB', self::page(...)),
            self::arrayOf('list', 'a list of 1,000 integers', self::integers(...), '[500]'),
            self::arrayOf('map', 'a map of 100 strings', self::map(...), "['field_50']"),
            self::arrayOf('alloptions', 'a map of 600 options, about 100 KB', self::options(...), "['option_300']"),
            self::object('post', 'a stdClass object of 20 properties', self::post(...), 'post_title'),
            self::object('entity', 'an object of a class with 20 properties', self::entity(...), 'title'),
            new Value(
                'product',
                'a nested array of a product with 24 variants',
                false,
                self::product(...),
                '$element = $value[\'variants\'][12][\'price\'];',
                'foreach ($value as $element) { if (is_array($element)) { foreach ($element as $inner) { if (is_array($inner)) { foreach ($inner as $innermost) {} } } } }',
                '$value[\'variants\'][12][\'price\'] = 1.5;',
            ),
        ];

        return array_column($values, null, 'name');
    }

    /** One that others than those who read it where it lies take milliseconds for: it is not measured with all of them. */
    public static function long(): Value
    {
        return self::arrayOf('list-100k', 'a list of 100,000 integers', static fn(int $number): array => range($number, $number + 99_999), '[50_000]');
    }

    public static function find(string $name): ?Value
    {
        return self::all()[$name] ?? ($name === self::long()->name ? self::long() : null) ?? ShapedValues::all()[$name] ?? null;
    }

    public static function named(string $name): Value
    {
        return self::find($name) ?? throw new \OutOfBoundsException(
            "There is no value {$name} to measure with: the values are " . implode(', ', array_keys(self::all())) . '.',
        );
    }

    /** @param \Closure(int): string $make */
    private static function text(string $name, string $title, \Closure $make): Value
    {
        return new Value($name, $title, true, $make, '$element = $value[7];', '$element = crc32($value);', '$value[7] = \'x\';');
    }

    /** @param \Closure(int): array<mixed> $make */
    private static function arrayOf(string $name, string $title, \Closure $make, string $element): Value
    {
        return new Value(
            $name,
            $title,
            false,
            $make,
            '$element = $value' . $element . ';',
            'foreach ($value as $element) {}',
            '$value' . $element . ' = \'changed\';',
        );
    }

    /** @param \Closure(int): object $make */
    private static function object(string $name, string $title, \Closure $make, string $property): Value
    {
        return new Value(
            $name,
            $title,
            false,
            $make,
            '$element = $value->' . $property . ';',
            'foreach ($value as $element) {}',
            '$value->' . $property . ' = \'changed\';',
        );
    }

    /** Text that hardly repeats itself, other for each number. */
    private static function filler(int $bytes, int $number): string
    {
        $random = new Randomizer(new Xoshiro256StarStar($number));

        return substr(sprintf('%08d ', $number) . chunk_split(base64_encode($random->getBytes(max(1, $bytes))), 76, "\n"), 0, $bytes);
    }

    private static function page(int $number): string
    {
        $page = file_get_contents(dirname(__DIR__) . '/page/product.html');
        if ($page === false) {
            throw new \RuntimeException('The page that is measured with, bench/page/product.html, cannot be read: restore it from the repository.');
        }

        return sprintf("<!-- %08d -->\n", $number) . $page;
    }

    /** @return list<int> */
    private static function integers(int $number): array
    {
        return range($number, $number + 999);
    }

    /** @return array<string, string> */
    private static function map(int $number): array
    {
        $map = [];
        for ($i = 0; $i < 100; $i++) {
            $map["field_{$i}"] = self::filler(24, $number + $i);
        }

        return $map;
    }

    /**
     * Like the options that WordPress loads with every request: most are short, some are serialised settings.
     *
     * @return array<string, string>
     */
    private static function options(int $number): array
    {
        $lengths = [9, 12, 20, 32, 64, 110, 190, 320, 640];
        $text = self::filler(600 * 640, $number);
        $options = [];
        for ($i = 0; $i < 600; $i++) {
            $options["option_{$i}"] = substr($text, 640 * $i, $lengths[$i % 9]);
        }

        return $options;
    }

    /** A row of posts as a database layer returns it: every property a string. */
    private static function post(int $number): \stdClass
    {
        return (object) [
            'ID' => (string) (1000 + $number), 'post_author' => '3', 'post_date' => '2024-03-01 10:15:00',
            'post_date_gmt' => '2024-03-01 09:15:00', 'post_content' => self::filler(1200, $number),
            'post_title' => "The {$number}th harvest of the year", 'post_excerpt' => self::filler(120, $number),
            'post_status' => 'publish', 'comment_status' => 'open', 'ping_status' => 'closed', 'post_password' => '',
            'post_name' => "harvest-{$number}", 'post_modified' => '2024-03-02 08:00:00',
            'post_modified_gmt' => '2024-03-02 07:00:00', 'post_parent' => '0',
            'guid' => "https://shop.example/?p={$number}", 'menu_order' => '0', 'post_type' => 'post',
            'post_mime_type' => '', 'comment_count' => '12',
        ];
    }

    private static function entity(int $number): Entity
    {
        return new Entity(
            $number,
            "SKU-{$number}",
            "Earthenware jar no. {$number}",
            "earthenware-jar-{$number}",
            self::filler(600, $number),
            24.5,
            0.19,
            17,
            true,
            true,
            'Kiln & Sons',
            null,
            '2024-03-01 10:15:00',
            '2024-03-02 08:00:00',
            1204,
            83,
            4.6,
            31,
            "/media/jar-{$number}.jpg",
            ['kitchen', 'storage', 'clay'],
        );
    }

    /** @return array<string, mixed> */
    private static function product(int $number): array
    {
        $variants = [];
        for ($i = 0; $i < 24; $i++) {
            $variants[] = [
                'sku' => "JAR-{$number}-{$i}", 'price' => 19.5 + $i, 'stock' => 3 * $i, 'colour' => ['clay', 'ash', 'slate'][$i % 3],
                'size' => $i, 'image' => "/media/jar-{$number}-{$i}.jpg",
            ];
        }

        return [
            'id' => $number, 'title' => "Earthenware jar no. {$number}", 'description' => self::filler(900, $number),
            'attributes' => ['material' => 'earthenware', 'glaze' => 'salt', 'origin' => 'Thuringia', 'dishwasher' => false],
            'categories' => [3, 14, 159], 'variants' => $variants,
        ];
    }
}
