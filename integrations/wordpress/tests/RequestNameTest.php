<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\WordPress\RequestName;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

/** Which requests are taken to read the same keys. */
#[CoversClass(RequestName::class)]
final class RequestNameTest extends TestCase
{
    public function testPagesAreToldApartByHostPathAndWhatWordPressTakesFromTheQuery(): void
    {
        $urls = ['//example.com/', '//other.example.com/', '//example.com/two/', '//example.com/?p=1', '//example.com/?p=2', '//example.com/?post_type=product&paged=2', '//example.com/?s=shoes'];
        $names = array_map($this->named(...), $urls);
        self::assertSame($names, array_unique($names));
        self::assertNotContains(null, $names);
    }

    public function testWhatVisitorsCanInventWithoutEndDoesNotCount(): void
    {
        $same = [
            '//example.com/' => ['//EXAMPLE.com/', '//example.com/?utm_source=1', '//example.com/?x[]=2', '//example.com/?p[]=1', '//example.com/?p=' . str_repeat('1', 65), '//example.com/?m=%0A%20'],
            '//example.com/?s=shoes' => ['//example.com/?s=hats', '//example.com/?s[]=shoes&gclid=3'],
            '//example.com/?p=1&page=2' => ['//example.com/?page=2&fbclid=x&p=1'],
        ];
        foreach ($same as $url => $others) {
            foreach ($others as $other) {
                self::assertSame($this->named($url), $this->named($other), $other);
            }
        }
    }

    public function testMethodsAndKnownVisitorsReadOtherKeys(): void
    {
        $server = ['REQUEST_METHOD' => 'GET', 'HTTP_HOST' => 'example.com', 'REQUEST_URI' => '/'];
        $names = [
            RequestName::ofUrl($server, [], []),
            RequestName::ofUrl(['REQUEST_METHOD' => 'POST'] + $server, [], []),
            RequestName::ofUrl($server, [], ['wordpress_logged_in_' . md5('x') => 'admin']),
        ];
        self::assertSame($names, array_unique($names));
        self::assertSame($names[0], RequestName::ofUrl($server, [], ['consent' => 'yes']));
        self::assertNull(RequestName::ofUrl([], [], []));
    }

    public function testCommandsAreNamedByTheirFirstTwoWords(): void
    {
        self::assertSame(RequestName::ofCommand(['wp', '--path=/srv', 'post', 'list', '7'], true), RequestName::ofCommand(['wp', 'post', 'list', '--format=json', '8'], true));
        self::assertNotSame(RequestName::ofCommand(['wp', 'post', 'list'], true), RequestName::ofCommand(['wp', 'post', 'delete'], true));
        self::assertSame(RequestName::ofCommand([__FILE__, '1'], false), RequestName::ofCommand([__FILE__, '2'], false));
        self::assertNull(RequestName::ofCommand(null, false));
    }

    private function named(string $url): ?string
    {
        $parts = parse_url("http:{$url}");
        self::assertIsArray($parts);
        parse_str($parts['query'] ?? '', $query);

        return RequestName::ofUrl(['REQUEST_METHOD' => 'GET', 'HTTP_HOST' => $parts['host'] ?? '', 'REQUEST_URI' => substr($url, (int) strpos($url, '/', 2))], $query, []);
    }
}
