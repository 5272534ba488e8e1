<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\InvalidOption;

/**
 * Proves that a process with the secret wrote a payload, for this key in this namespace. The proof is keyed BLAKE2b (RFC 7693) over all
 * three where PHP has the extension sodium, else HMAC-SHA-256. A payload without this proof is never unserialised.
 *
 * PHP's HMAC takes three to four times as long. OpenSSL's is the fastest for large payloads, and its two calls cost more than a small one.
 * A process with sodium reads both. For one without it, what BLAKE2b proves is missing.
 */
final class Signature
{
    private const HMAC = 'H';

    private const BLAKE2B = 'B';

    /** Bytes of a mark and a proof. */
    private const LENGTH = 33;

    private const SHORTEST = 16;

    /** Bytes that SHA-256 takes at once. */
    private const BLOCK = 64;

    /** Bytes from which on OpenSSL is faster than PHP. */
    private const WORTH_OPENSSL = 256;

    /** Bytes of a payload from which on it is faster than BLAKE2b, too. */
    private const LARGE = 4_096;

    /** Bytes that a key of BLAKE2b has at most. */
    private const LONGEST_KEY = 64;

    private readonly bool $hasBlake2b;

    /** The secret, as BLAKE2b takes it. */
    private readonly string $blake2bKey;

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
        $this->hasBlake2b = \extension_loaded('sodium');
        $this->blake2bKey = \strlen($secret) > self::LONGEST_KEY ? hash('sha512', $secret, true) : $secret;
        $padded = str_pad(\strlen($secret) > self::BLOCK ? hash('sha256', $secret, true) : $secret, self::BLOCK, "\0");
        $this->inner = \extension_loaded('openssl') ? $padded ^ str_repeat("\x36", self::BLOCK) : null;
        $this->outer = $padded ^ str_repeat("\x5c", self::BLOCK);
    }

    public function sign(string $key, string $payload): string
    {
        $mark = $this->hasBlake2b && ($this->inner === null || \strlen($payload) < self::LARGE) ? self::BLAKE2B : self::HMAC;

        return $mark . $this->proof($mark, $key, $payload) . $payload;
    }

    /** @return ?string the payload that was signed; null if it was not, or not for this */
    public function verified(string $key, string $signed): ?string
    {
        $mark = $signed[0] ?? '';
        if (\strlen($signed) < self::LENGTH || ($mark !== self::HMAC && ($mark !== self::BLAKE2B || !$this->hasBlake2b))) {
            return null;
        }
        $payload = substr($signed, self::LENGTH);

        return hash_equals($this->proof($mark, $key, $payload), substr($signed, 1, self::LENGTH - 1)) ? $payload : null;
    }

    private function proof(string $mark, string $key, string $payload): string
    {
        // With their lengths, so that no part can be taken for the end or beginning of another.
        $signed = pack('NN', \strlen($this->namespace), \strlen($key)) . $this->namespace . $key . $payload;
        if ($mark === self::BLAKE2B) {
            return sodium_crypto_generichash($signed, $this->blake2bKey, self::LENGTH - 1);
        }
        if ($this->inner !== null && \strlen($signed) >= self::WORTH_OPENSSL) {
            // The same bytes. OpenSSL uses the processor's instructions for them, which PHP does not: up to five times as fast.
            $digest = openssl_digest($this->inner . $signed, 'sha256', true);
            $digest = $digest === false ? false : openssl_digest($this->outer . $digest, 'sha256', true);
            if ($digest !== false) {
                return $digest;
            }
        }

        return hash_hmac('sha256', $signed, $this->secret, true);
    }
}
