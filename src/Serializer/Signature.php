<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\InvalidOption;

/**
 * Proves that a process with the secret wrote a payload, for this key in this namespace: HMAC-SHA-256 over all three. A payload
 * without this proof is never unserialised.
 */
final class Signature
{
    private const MARK = 'H';

    private const LENGTH = 33;

    private const SHORTEST = 16;

    /** Bytes that SHA-256 takes at once. */
    private const BLOCK = 64;

    /** Bytes from which on OpenSSL is worth its two calls. */
    private const LARGE = 256;

    /** The secret as HMAC puts it before the message, and before the inner digest; null: PHP's own HMAC is used. */
    private readonly ?string $inner;

    private readonly string $outer;

    /**
     * @param string $namespace the store's prefix, so that what one site wrote is nothing to another
     *
     * @throws InvalidOption
     */
    public function __construct(
        #[\SensitiveParameter]
        private readonly string $secret,
        private readonly string $namespace,
    ) {
        if (\strlen($secret) < self::SHORTEST) {
            throw InvalidOption::tooShort('secret', self::SHORTEST);
        }
        $padded = str_pad(\strlen($secret) > self::BLOCK ? hash('sha256', $secret, true) : $secret, self::BLOCK, "\0");
        $this->inner = \extension_loaded('openssl') ? $padded ^ str_repeat("\x36", self::BLOCK) : null;
        $this->outer = $padded ^ str_repeat("\x5c", self::BLOCK);
    }

    public static function isSigned(string $payload): bool
    {
        return ($payload[0] ?? '') === self::MARK;
    }

    public function sign(string $key, string $payload): string
    {
        return self::MARK . $this->mac($key, $payload) . $payload;
    }

    /** @return ?string the payload that was signed; null if it was not, or not for this */
    public function verified(string $key, string $signed): ?string
    {
        if (!self::isSigned($signed) || \strlen($signed) < self::LENGTH) {
            return null;
        }
        $payload = substr($signed, self::LENGTH);

        return hash_equals($this->mac($key, $payload), substr($signed, 1, self::LENGTH - 1)) ? $payload : null;
    }

    private function mac(string $key, string $payload): string
    {
        // With their lengths, so that no part can be taken for the end or beginning of another.
        $signed = pack('NN', \strlen($this->namespace), \strlen($key)) . $this->namespace . $key . $payload;

        if ($this->inner !== null && \strlen($signed) >= self::LARGE) {
            // The same bytes. OpenSSL uses the processor's instructions for them, which PHP does not: 5 to 15 times as fast.
            $digest = openssl_digest($this->inner . $signed, 'sha256', true);
            $digest = $digest === false ? false : openssl_digest($this->outer . $digest, 'sha256', true);
            if ($digest !== false) {
                return $digest;
            }
        }

        return hash_hmac('sha256', $signed, $this->secret, true);
    }
}
