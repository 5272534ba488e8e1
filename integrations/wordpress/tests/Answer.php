<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

/** What a site has answered. */
final readonly class Answer
{
    /** @param array<string, list<string>> $headers by name in small letters */
    private function __construct(
        public int $status,
        public array $headers,
        public string $body,
    ) {}

    public static function of(\CurlHandle $request): self
    {
        return self::ofText((string) curl_exec($request), curl_getinfo($request, \CURLINFO_HEADER_SIZE));
    }

    public static function ofText(string $text, int $headerBytes): self
    {
        $headers = [];
        $lines = explode("\r\n", trim(substr($text, 0, $headerBytes)));
        preg_match('~^HTTP/\S+ (\d+)~', $lines[0], $status);
        foreach (\array_slice($lines, 1) as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $headers[strtolower($name)][] = trim($value);
        }

        return new self((int) ($status[1] ?? 0), $headers, substr($text, $headerBytes));
    }

    public function header(string $name): string
    {
        return implode(', ', $this->headers[$name] ?? []);
    }

    /** Whether it came from the page cache. */
    public function isHit(): bool
    {
        return str_starts_with($this->header('cache-status'), 'Larder; hit');
    }

    public function isStored(): bool
    {
        return str_contains($this->header('cache-status'), '; stored');
    }

    /** @return list<string> cookies as a browser sends them back */
    public function cookies(): array
    {
        return array_map(static fn(string $cookie): string => explode(';', $cookie)[0], array_values(array_filter($this->headers['set-cookie'] ?? [], static fn(string $cookie): bool => !str_contains($cookie, '=deleted') && !str_contains($cookie, 'Max-Age=0'))));
    }
}
