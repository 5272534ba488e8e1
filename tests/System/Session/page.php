<?php

declare(strict_types=1);

// A page with a session, for SessionTest: what it does is in the query, what came of it is printed as JSON.

use Larder\Cache;
use Larder\Session\SessionHandler;

require __DIR__ . '/../../../vendor/autoload.php';

$asked = PHP_SAPI === 'cli' ? json_decode($argv[1] ?? '{}', true) : $_GET;
$asked = is_array($asked) ? array_filter($asked, is_scalar(...)) : [];
ini_set('session.use_cookies', '0');
ini_set('session.use_strict_mode', (string) ($asked['strict'] ?? '0'));
ini_set('session.gc_probability', '0');
ini_set('session.cache_limiter', '');
$handler = new SessionHandler(
    Cache::open((string) $asked['dsn']),
    (int) ($asked['lifetime'] ?? 1_000),
    longest: (float) ($asked['longest'] ?? 60),
    wait: (float) ($asked['wait'] ?? 30),
);
session_set_save_handler($handler);
session_id((string) $asked['id']);
$warnings = [];
set_error_handler(static function (int $level, string $message) use (&$warnings): bool {
    if ((error_reporting() & $level) !== 0) {
        $warnings[] = $message;
    }

    return true;
});
$isStarted = session_start();
switch ($asked['do'] ?? 'look') {
    case 'count':
        $seen = $_SESSION['n'] ?? 0;
        usleep(20_000);
        $_SESSION['n'] = (is_int($seen) ? $seen : 0) + 1;
        break;
    case 'exit':
        $_SESSION['left'] = true;
        exit(json_encode(['left' => true]));
    case 'hang':
        $_SESSION['hung'] = true;
        touch((string) $asked['file']);
        sleep(1_000);
        break;
    case 'regenerate':
        session_regenerate_id(true);
        $_SESSION['moved'] = true;
        break;
    case 'destroy':
        session_destroy();
        break;
    case 'nest':
        $_SESSION['objects'] = [new DateTimeImmutable('2020-02-02 02:02:02 UTC')];
        break;
}
$answer = ['started' => $isStarted, 'id' => session_id(), 'session' => $_SESSION ?? null];
if (session_status() === PHP_SESSION_ACTIVE) {
    session_write_close();
}
echo json_encode($answer + ['warnings' => $warnings]);
