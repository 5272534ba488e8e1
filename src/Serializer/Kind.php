<?php

declare(strict_types=1);

namespace Larder\Serializer;

/**
 * Tells how objects of a class are stored, and which objects cannot be stored at all.
 *
 * A user's class consists of its properties and methods. A class of PHP's own, or of an extension, may have a state that no PHP code
 * sees. PHP's serialize() drops it silently, and the restored object is empty, or fatal when used. Such an object is stored in three cases:
 *
 * - Its class has an __unserialize().
 * - It is an exception, or of a class known to consist of its properties.
 * - A user's class that extends it restores it with an __unserialize(), a __wakeup() or an unserialize() of its own.
 *
 * The extension judges alike, in ext/image/class.c.
 */
final class Kind
{
    /** Classes of PHP and of its extensions that are nothing but their properties. The extension has the same list. */
    public const PLAIN = [
        'AllowDynamicProperties',
        'AMQPBasicProperties',
        'AMQPDecimal',
        'AMQPEnvelope',
        'AMQPTimestamp',
        'ast\Metadata',
        'ast\Node',
        'Attribute',
        'CURLStringFile',
        'Deprecated',
        'EmptyIterator',
        'http\Env\Url',
        'http\Url',
        'Larder\Token',
        'LibXMLError',
        'MaxMind\Db\Reader\Metadata',
        'NoDiscard',
        'Override',
        'PhpToken',
        'PsrExt\Log\AbstractLogger',
        'PsrExt\Log\LogLevel',
        'PsrExt\Log\NullLogger',
        'ReturnTypeWillChange',
        'SensitiveParameter',
        'SoapHeader',
        'SoapParam',
        'SoapVar',
        'stdClass',
        'StompFrame',
    ];

    /**
     * @param bool $isRefused whether objects of it cannot be stored, whatever is in them
     * @param bool $asksUser  whether code of a user's says what they are made of, which may answer otherwise the next time
     * @param bool $isUsers   whether it is a user's, and so may be gone when they are read
     * @param bool $isWoken   whether code of a user's makes them again, which may come to something else when it is run once more
     */
    private function __construct(
        public readonly bool $isRefused,
        public readonly Form $form,
        public readonly bool $asksUser,
        public readonly bool $isUsers,
        public readonly bool $isWoken,
    ) {}

    public static function of(object $object): self
    {
        $class = new \ReflectionClass($object);
        $form = Form::of($object);

        return new self(
            $class->isAnonymous() || self::isRefused($class),
            $form,
            $form->asksUser($class),
            $class->isUserDefined(),
            $class->isUserDefined() && self::isMadeByUser($class),
        );
    }

    /** Whether an object that is refused would not be if its class, which is a user's, saw to it. */
    public static function isUpToUser(object $object): bool
    {
        $class = new \ReflectionClass($object);
        $base = self::base($class);

        return $class->isUserDefined() && !$class->isAnonymous() && $base !== false && !self::forbids($base);
    }

    /** @param \ReflectionClass<object> $class */
    private static function isRefused(\ReflectionClass $class): bool
    {
        $base = self::base($class);

        return $base !== false
            && !self::isGivenBack($base)
            && ($base === $class || !self::isMadeByUser($class) || self::forbids($base));
    }

    /**
     * @param \ReflectionClass<object> $class
     *
     * @return \ReflectionClass<object>|false the class of PHP's own that it is or extends
     */
    private static function base(\ReflectionClass $class): \ReflectionClass|false
    {
        for ($base = $class; $base !== false && $base->isUserDefined();) {
            $base = $base->getParentClass();
        }

        return $base;
    }

    /** @param \ReflectionClass<object> $class of PHP's own */
    private static function isGivenBack(\ReflectionClass $class): bool
    {
        return $class->name === \stdClass::class
            || $class->hasMethod('__unserialize')
            || $class->isSubclassOf(\Throwable::class)
            || $class->isEnum()
            || \in_array($class->name, self::PLAIN, true);
    }

    /** @param \ReflectionClass<object> $class */
    private static function isMadeByUser(\ReflectionClass $class): bool
    {
        foreach (['__unserialize', '__wakeup', ...($class->implementsInterface(\Serializable::class) ? ['unserialize'] : [])] as $method) {
            if ($class->hasMethod($method) && $class->getMethod($method)->isUserDefined()) {
                return true;
            }
        }

        return false;
    }

    /**
     * Whether a class of PHP's own says that it and all that extend it cannot be serialised. There is no other way to see it than
     * to try, and serialize() would ask.
     *
     * @param \ReflectionClass<object> $class
     */
    private static function forbids(\ReflectionClass $class): bool
    {
        try {
            @unserialize('O:' . \strlen($class->name) . ":\"{$class->name}\":0:{}");

            return false;
        } catch (\Throwable $failure) {
            return $failure->getMessage() === "Unserialization of '{$class->name}' is not allowed";
        }
    }
}
