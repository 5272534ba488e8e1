<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Sends the method PURGE to an address, with the tags in the headers Cache-Tag and Surrogate-Key. */
final class HttpPurger implements Purger
{
    /** Tags in one request, so that its headers stay below what servers take. */
    private const TAGS = 200;

    public function __construct(
        private readonly string $url,
    ) {}

    /** @return string what a tag is called in a header: 8 characters, as headers are short. Two tags of one name would be purged together. */
    public static function name(string $tag): string
    {
        return substr(strtr(base64_encode(hash('xxh3', $tag, true)), '+/', '-_'), 0, 8);
    }

    public function purge(array $tags): ?string
    {
        foreach (array_chunk($tags, self::TAGS) as $some) {
            $answer = wp_remote_request($this->url, [
                'method' => 'PURGE',
                'timeout' => 5,
                'redirection' => 0,
                'headers' => ['Cache-Tag' => implode(',', $some), 'Surrogate-Key' => implode(' ', $some)],
            ]);
            if (is_wp_error($answer)) {
                return "{$this->url} was not told what to purge: {$answer->get_error_message()}";
            }
            $status = (int) wp_remote_retrieve_response_code($answer);
            if ($status >= 300) {
                return "{$this->url} was told what to purge, and answered {$status}.";
            }
        }

        return null;
    }
}
