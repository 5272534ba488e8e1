<?php

declare(strict_types=1);

namespace Larder\Bench\Server;

/** One request at a time to PHP-FPM, over a connection of its own. FastCGI 1.0, as much of it as that takes. */
final readonly class FastCgi
{
    private const BEGIN_REQUEST = 1;
    private const END_REQUEST = 3;
    private const PARAMETERS = 4;
    private const INPUT = 5;
    private const OUTPUT = 6;

    /** @param string $socket the path of a Unix socket */
    public function __construct(private string $socket) {}

    /**
     * The body of the answer, or null if the worker died before it answered.
     *
     * @param array<string, string|int> $query
     * @param array<string, string>     $more  parameters of the request beside those of every one
     */
    public function get(string $script, array $query = [], array $more = []): ?string
    {
        $connection = $this->begin($script, $query, $more);
        $answer = self::answer($connection);
        fclose($connection);

        return $answer;
    }

    /**
     * Sends a request without waiting for its answer.
     *
     * @param array<string, string|int> $query
     * @param array<string, string>     $more  parameters of the request beside those of every one
     * @return resource for answer()
     */
    public function begin(string $script, array $query = [], array $more = []): mixed
    {
        $connection = stream_socket_client("unix://{$this->socket}", $code, $message, 10.0);
        if ($connection === false) {
            throw new \RuntimeException("PHP-FPM does not listen on {$this->socket} ({$message}); see its log.");
        }
        stream_set_timeout($connection, 60);
        $parameters = '';
        foreach ([
            'GATEWAY_INTERFACE' => 'CGI/1.1', 'REQUEST_METHOD' => 'GET', 'SCRIPT_FILENAME' => $script,
            'SERVER_PROTOCOL' => 'HTTP/1.1', 'QUERY_STRING' => http_build_query($query), ...$more,
        ] as $name => $value) {
            $parameters .= pack('NN', \strlen($name) | 0x80000000, \strlen($value) | 0x80000000) . $name . $value;
        }
        fwrite(
            $connection,
            self::record(self::BEGIN_REQUEST, pack('nCx5', 1, 0)) . self::record(self::PARAMETERS, $parameters)
                . self::record(self::PARAMETERS, '') . self::record(self::INPUT, ''),
        );

        return $connection;
    }

    /** @param resource $connection */
    public static function answer(mixed $connection): ?string
    {
        $output = '';
        while (\strlen($header = (string) stream_get_contents($connection, 8)) === 8) {
            ['type' => $type, 'length' => $length, 'padding' => $padding] = self::header($header);
            $content = $length > 0 ? (string) stream_get_contents($connection, $length) : '';
            if ($padding > 0) {
                stream_get_contents($connection, $padding);
            }
            if ($type === self::OUTPUT) {
                $output .= $content;
            } elseif ($type === self::END_REQUEST) {
                return explode("\r\n\r\n", $output, 2)[1] ?? '';
            }
        }

        return null;
    }

    /** @return array{type: int, length: int, padding: int} */
    private static function header(string $bytes): array
    {
        return ['type' => \ord($bytes[1]), 'length' => \ord($bytes[4]) << 8 | \ord($bytes[5]), 'padding' => \ord($bytes[6])];
    }

    private static function record(int $type, string $content): string
    {
        return pack('CCnnCx', 1, $type, 1, \strlen($content), 0) . $content;
    }
}
