<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Store\Redis\ErrorReply;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(ErrorReply::class)]
final class ErrorReplyTest extends TestCase
{
    public function testWhatAServerSaysBeginsWithACodeAndWhatAClientSaysDoesNot(): void
    {
        foreach (['WRONGPASS invalid username-password pair or user is disabled.', 'NOAUTH Authentication required.', 'ERR invalid password', 'LOADING Redis is loading'] as $message) {
            self::assertTrue(ErrorReply::isOne($message), $message);
        }
        foreach (['Connection refused', 'read error on connection to 127.0.0.1:6379', 'protocol error, got \'H\' as reply type byte', 'SSL: Handshake timed out', 'no connection', ''] as $message) {
            self::assertFalse(ErrorReply::isOne($message), $message);
        }
    }
}
