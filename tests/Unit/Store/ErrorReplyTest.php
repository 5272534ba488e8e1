<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Store\Redis\ErrorReply;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(ErrorReply::class)]
final class ErrorReplyTest extends TestCase
{
    public function testAReplicaIsToldByWhatItRefusesAlsoInAScriptOfRedis6(): void
    {
        foreach ([
            'READONLY You can\'t write against a read only replica.',
            'READONLY You can\'t write against a read only replica. script: 8a2, on @user_script:12.',
            'ERR Error running script (call to f_8a2): @user_script:12: @user_script: 12: -READONLY You can\'t write against a read only replica.',
            'ERR Can not execute the command on a stale replica script: 8a2, on @user_script:2.',
            'MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to \'no\'.',
        ] as $message) {
            self::assertTrue(ErrorReply::isByReplica(['value', new ErrorReply($message)]), $message);
        }
        foreach (['OOM command not allowed', 'ERR unknown command \'READONLY \'', 'NOPERM READONLY ', 'READONLYS x'] as $message) {
            self::assertFalse(ErrorReply::isByReplica([new ErrorReply($message), 'READONLY You', null, ['READONLY x']]), $message);
        }
    }

    public function testAServerThatTakesNothingIsToldFromABusyOne(): void
    {
        foreach ([
            'OOM command not allowed when used memory > \'maxmemory\'.',
            'ERR Error running script (call to f_8a2): @user_script:1: @user_script: 1: -OOM command not allowed when used memory > \'maxmemory\'.',
            'NOPERM this user has no permissions to run the \'set\' command',
            'ERR ACL failure in script: User default has no permissions to run the \'set\' command script: 0a9, on @user_script:1.',
            'ERR The user executing the script can\'t run this command or subcommand script: 8a2, on @user_script:1.',
        ] as $message) {
            self::assertTrue((new ErrorReply($message))->takesNothing(), $message);
        }
        foreach (['BUSY Redis is busy running a script.', 'LOADING Redis is loading the dataset in memory', 'ERR unknown command'] as $message) {
            self::assertFalse((new ErrorReply($message))->takesNothing(), $message);
        }
    }

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
