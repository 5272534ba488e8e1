<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Dsn;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidOption;
use Larder\Exception\Unstorable;
use Larder\Serializer;

/**
 * How a value lies in a store that keeps bytes:
 *
 *     int       its decimal digits, so that a server can count with it; never unserialised, nor signed
 *     string    "S" and the string
 *     a value in which objects of a user's class say themselves what they are made of
 *               "T" and what a Writer wrote, whatever the serializer
 *     the rest  the serializer's mark and what it wrote
 *
 * The latter three may be compressed (with the mark of a Codec), and then signed: a mark, the proof, and the rest (see Signature).
 * Any other bytes come from other software, or from another setting, and are a miss.
 */
final class Payload
{
    /** The options of a DSN that fromDsn() reads. */
    public const OPTIONS = Dsn::OF_PAYLOADS;

    private const STRING = 'S';

    private const TOLD = 'T';

    /** Bytes of PHP_INT_MIN. */
    private const LONGEST_COUNTER = 20;

    /** Null until it is needed: strings and counters do without it. */
    private ?Serializer $serializer = null;

    /** Its mark, if it is there. */
    private string $mark = '';

    /** Null until it is needed. */
    private ?PhpSerializer $php = null;

    /** What the serializer is, if that is not there yet. */
    private readonly string $name;

    /**
     * @param Serializer|string $serializer also "php", "igbinary", or "auto" for igbinary where it is loaded
     *
     * @throws \Larder\Exception
     */
    public function __construct(
        Serializer|string $serializer,
        private readonly ?Compression $compression = null,
        private readonly ?Signature $signature = null,
    ) {
        if (\is_string($serializer)) {
            $this->name = self::known($serializer);
        } else {
            $this->name = '';
            $this->serializer = $serializer;
            $this->mark = $serializer->mark();
        }
    }

    /**
     * Options: serializer (auto, igbinary, php); classes (names with commas between them, or "none": those that may be
     * stored and made again); compression (none, zlib, zstd, lz4), compress_above (bytes); secret (at least 16 bytes,
     * with which payloads are signed).
     *
     * @param string $namespace the store's prefix
     *
     * @throws \Larder\Exception
     */
    public static function fromDsn(Dsn $dsn, string $namespace): self
    {
        $secret = $dsn->text('secret', '');
        $classes = $dsn->text('classes', '');
        $compression = $dsn->text('compression', 'none');
        // Also where nothing is compressed: a mistake in it is not to wait until something is.
        $above = $dsn->bytes('compress_above');

        return new self(
            $classes === ''
                ? $dsn->text('serializer', 'auto')
                : self::limited($dsn->text('serializer', 'php'), $classes),
            $compression === 'none' ? null : new Compression($above ?? Compression::THRESHOLD, self::codec($compression)),
            $secret === '' ? null : new Signature($secret, $namespace),
        );
    }

    /**
     * @param string $name "php", "igbinary", or "auto" for igbinary where it is loaded
     *
     * @throws \Larder\Exception
     */
    public static function named(string $name): self
    {
        return new self($name);
    }

    /**
     * @param string $head bytes to put in front, as a large value is copied for nothing else then
     *
     * @throws Unstorable
     */
    public function encode(string $key, mixed $value, string $head = ''): string
    {
        if (\is_int($value)) {
            return $head . $value;
        }
        [$mark, $bytes] = $this->apart($key, $value);

        return $head . $mark . $bytes;
    }

    /**
     * @param mixed $value no int
     *
     * @return array{string, string} the payload's first byte and the rest, which need not be copied then; '' and the whole where it
     *                               is compressed or signed
     *
     * @throws Unstorable
     */
    public function apart(string $key, mixed $value): array
    {
        $parts = \is_string($value) ? [self::STRING, $value] : $this->serialized($key, $value);
        if ($this->compression === null && $this->signature === null) {
            return $parts;
        }
        $payload = $parts[0] . $parts[1];
        if ($this->compression !== null) {
            $payload = $this->compression->compress($payload);
        }

        return ['', $this->signature === null ? $payload : $this->signature->sign($key, $payload)];
    }

    /**
     * The value, or $foreign if the payload is not one of this setting's.
     *
     * @param string $key  the one that it was encoded for; with a secret, there is no value for another
     * @param int    $at   where in the bytes the payload begins
     * @param string $mark its first byte, if that is not among them: to take it off, PHP has to copy all
     */
    public function decode(string $bytes, mixed $foreign, string $key = '', int $at = 0, string $mark = ''): mixed
    {
        if ($mark === '' && \strlen($bytes) - $at <= self::LONGEST_COUNTER && self::isCounter(substr($bytes, $at))) {
            return (int) substr($bytes, $at);
        }
        if ($this->signature !== null || $this->compression !== null) {
            $bytes = $this->plain($mark . ($at === 0 ? $bytes : substr($bytes, $at)), $key);
            $at = 0;
            $mark = '';
        }
        if ($mark === '') {
            $mark = $bytes[$at] ?? '';
            $at++;
        }

        if ($mark === self::STRING) {
            return substr($bytes, $at);
        }
        $serializer = $this->serializer ?? $this->serializer();

        return match ($mark) {
            self::TOLD => self::unserialized($this->php(), substr($bytes, $at), $foreign),
            $this->mark => self::unserialized($serializer, substr($bytes, $at), $foreign),
            default => $foreign,
        };
    }

    /**
     * As decode() of each. PHP is told once for all what to do about classes that are not there: of a batch of small values that took a
     * third as long as the serializer.
     *
     * @param array<array-key, string> $all    by key
     * @param int                      $at     where in each the payload begins
     * @param array<array-key, int>    $others where it does in those where it does elsewhere
     *
     * @return array<array-key, mixed> by key; without what is not one of this setting's
     */
    public function decodeAll(array $all, int $at, array $others = []): array
    {
        $isPlain = $this->signature === null && $this->compression === null;
        [$mark, $serializer] = [$this->mark, $this->serializer];
        $values = [];
        $callback = null;
        try {
            foreach ($all as $key => $payload) {
                $from = $others[$key] ?? $at;
                if (!$isPlain && (\strlen($payload) - $from > self::LONGEST_COUNTER || !self::isCounter(substr($payload, $from)))) {
                    $payload = $this->plain($from === 0 ? $payload : substr($payload, $from), (string) $key);
                    $from = 0;
                }
                $first = $payload[$from] ?? '';
                if ($first === self::STRING) {
                    $values[$key] = substr($payload, $from + 1);

                    continue;
                }
                if ($serializer === null) {
                    $serializer = $this->serializer();
                    $mark = $this->mark;
                }
                if ($first === $mark) {
                    $callback ??= self::refuseClasses();
                    try {
                        $values[$key] = $serializer->unserialize(substr($payload, $from + 1));
                    } catch (\Throwable) {
                        // As of unserialized().
                    }
                } else {
                    $value = $first === self::TOLD
                        ? self::unserialized($this->php(), substr($payload, $from + 1), $this)
                        : $this->decode($all[$key], $this, (string) $key, $others[$key] ?? $at);
                    if ($value !== $this) {
                        $values[$key] = $value;
                    }
                }
            }
        } finally {
            self::allowClasses($callback);
        }

        return $values;
    }

    /** @return string what was signed and compressed; '' if its signature is wrong or it cannot be uncompressed */
    private function plain(string $payload, string $key): string
    {
        if ($this->signature !== null) {
            $payload = $this->signature->verified($key, $payload);
        }
        if ($payload !== null && $this->compression?->isCompressed($payload) === true) {
            $payload = $this->compression->uncompress($payload);
        }

        return $payload ?? '';
    }

    /**
     * What PHP calls for a class that is not there; an object without its class is of no use to anyone.
     *
     * @throws \UnexpectedValueException
     */
    public static function refuseClass(string $class): never
    {
        throw new \UnexpectedValueException("The class {$class} is not there.");
    }

    /** Whether decode() may run the serializer on it. */
    public function isSerialized(string $payload): bool
    {
        return ($payload[0] ?? self::STRING) !== self::STRING && !self::isCounter($payload);
    }

    public static function isCounter(string $payload): bool
    {
        return (string) (int) $payload === $payload;
    }

    /**
     * @return array{string, string} its mark and its bytes
     *
     * @throws Unstorable
     */
    private function serialized(string $key, mixed $value): array
    {
        $tells = Contents::check($key, $value);
        $serializer = $this->serializer ?? $this->serializer();
        try {
            return $tells
                ? [self::TOLD, $this->php()->allowed(Writer::write($key, $value))]
                : [$this->mark, $serializer->serialize($value)];
        } catch (Unstorable $refusal) {
            throw $refusal;
        } catch (\Throwable $failure) {
            throw Refusal::ofAnswer($key, [], $failure);
        }
    }

    private static function unserialized(Serializer $serializer, string $bytes, mixed $foreign): mixed
    {
        $callback = self::refuseClasses();
        try {
            return $serializer->unserialize($bytes);
        } catch (\Throwable) {
            // A class that changed or is gone, or damage: computing the value again repairs it.
            return $foreign;
        } finally {
            self::allowClasses($callback);
        }
    }

    /**
     * Has PHP refuse classes that are not there. A host may have disabled that; then such an object is in the value, as PHP has it
     * without this.
     *
     * @return string|false|null what allowClasses() is to be told
     */
    private static function refuseClasses(): string|false|null
    {
        return \function_exists('ini_set') ? ini_set('unserialize_callback_func', self::class . '::refuseClass') : null;
    }

    private static function allowClasses(string|false|null $before): void
    {
        if ($before !== null) {
            ini_set('unserialize_callback_func', (string) $before);
        }
    }

    private static function codec(string $name): Codec
    {
        return Codec::tryFrom($name) ?? throw InvalidOption::choice('compression', $name, 'none', ...array_column(Codec::cases(), 'value'));
    }

    private function serializer(): Serializer
    {
        if ($this->serializer === null) {
            $serializer = $this->name === 'igbinary' ? new IgbinarySerializer() : new PhpSerializer();
            // The mark first, as a signal's handler may ask for both in between.
            $this->mark = $serializer->mark();
            $this->serializer = $serializer;
        }

        return $this->serializer;
    }

    /**
     * @return string the name of one that can be made here
     *
     * @throws \Larder\Exception
     */
    private static function known(string $name): string
    {
        return match ($name) {
            'auto' => \function_exists('igbinary_serialize') ? 'igbinary' : 'php',
            'igbinary' => \function_exists('igbinary_serialize') ? $name : throw ExtensionMissing::of('IgbinarySerializer', 'igbinary'),
            'php' => $name,
            default => throw InvalidOption::choice('serializer', $name, 'auto', 'igbinary', 'php'),
        };
    }

    /** @param string $classes with commas between them, or "none" */
    private static function limited(string $name, string $classes): Serializer
    {
        if ($name !== 'php' && $name !== 'auto') {
            throw InvalidOption::choice('serializer', $name, 'php, as no other can be limited to some classes');
        }

        return new PhpSerializer($classes === 'none' ? [] : array_map(trim(...), explode(',', $classes)));
    }

    /** Reads what a Writer wrote, and knows which classes may be made. */
    private function php(): PhpSerializer
    {
        if ($this->php === null) {
            $serializer = $this->serializer();
            $this->php = $serializer instanceof PhpSerializer ? $serializer : new PhpSerializer();
        }

        return $this->php;
    }
}
