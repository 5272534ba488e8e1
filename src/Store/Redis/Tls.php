<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/** The options of an encrypted connection. */
final class Tls
{
    /**
     * @param ?string $ca          a file of the authorities that may have signed the server's certificate; null: the system's
     * @param ?string $certificate a file with the certificate that we show; null: none
     * @param ?string $key         a file with its key; null: it is in the same file
     * @param ?string $name        the name that the server's certificate has to have; null: that of its address
     * @param bool    $verify      false: any server that answers is believed, which keeps out listeners but no impostors
     */
    public function __construct(
        public readonly ?string $ca = null,
        public readonly ?string $certificate = null,
        public readonly ?string $key = null,
        public readonly ?string $name = null,
        public readonly bool $verify = true,
    ) {}

    /**
     * Has a client connect. What PHP says of a handshake that fails is a warning, which the client's exception does not tell. It is
     * none of the site's, whose own handler may throw it.
     *
     * @param \Closure(): mixed $connect
     * @param string            $why     set to why the handshake failed
     */
    public static function handshake(\Closure $connect, string &$why): void
    {
        $others = set_error_handler(static function (int $level, string $message, string $file, int $line) use (&$others, &$why): bool {
            if (preg_match('/^(?:Redis::p?connect|stream_socket_enable_crypto)\(\): (?:SSL operation.*:)?(?:SSL: )?(.+)$/s', $message, $match) === 1) {
                $why = $why === '' ? 'the TLS handshake failed: ' . trim($match[1]) : $why;

                return true;
            }

            // It is of a signal's handler.
            return \is_callable($others) && $others($level, $message, $file, $line) !== false;
        });
        try {
            $connect();
        } finally {
            restore_error_handler();
        }
    }

    /** @return array<string, string|bool> as PHP's stream contexts want it */
    public function context(): array
    {
        return array_filter([
            'cafile' => $this->ca,
            'local_cert' => $this->certificate,
            'local_pk' => $this->key,
            'peer_name' => $this->name,
            'verify_peer' => $this->verify,
            'verify_peer_name' => $this->verify,
        ], static fn(string|bool|null $value): bool => $value !== null);
    }
}
