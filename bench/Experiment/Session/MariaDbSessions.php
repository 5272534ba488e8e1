<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment\Session;

use PDO;

/**
 * Sessions in a table, written plainly: the row stays locked from the read to the end of the request.
 */
final class MariaDbSessions implements \SessionHandlerInterface
{
    private readonly PDO $database;

    public function __construct(string $socket)
    {
        $this->database = new PDO("mysql:unix_socket={$socket}", 'root', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
        $this->database->exec('CREATE DATABASE IF NOT EXISTS larder_bench');
        $this->database->exec('USE larder_bench');
        $this->database->exec('CREATE TABLE IF NOT EXISTS session (id VARBINARY(128) PRIMARY KEY, data MEDIUMBLOB NOT NULL, changed INT UNSIGNED NOT NULL) ENGINE = InnoDB');
    }

    public function open(string $path, string $name): bool
    {
        return true;
    }

    public function read(string $id): string
    {
        $this->database->beginTransaction();
        $data = $this->lock($id);
        if ($data === null) {
            // A row that is not there cannot be locked, so it is made, in a transaction of its own.
            $this->database->commit();
            $this->database->prepare("INSERT IGNORE INTO session (id, data, changed) VALUES (?, '', 0)")->execute([$id]);
            $this->database->beginTransaction();
            $data = $this->lock($id);
        }

        return $data ?? '';
    }

    private function lock(string $id): ?string
    {
        $statement = $this->database->prepare('SELECT data FROM session WHERE id = ? FOR UPDATE');
        $statement->execute([$id]);
        $data = $statement->fetchColumn();

        return is_string($data) ? $data : null;
    }

    public function write(string $id, string $data): bool
    {
        return $this->database->prepare('UPDATE session SET data = ?, changed = ? WHERE id = ?')->execute([$data, time(), $id]);
    }

    public function close(): bool
    {
        return !$this->database->inTransaction() || $this->database->commit();
    }

    public function destroy(string $id): bool
    {
        return $this->database->prepare('DELETE FROM session WHERE id = ?')->execute([$id]);
    }

    public function gc(int $max_lifetime): int
    {
        return 0;
    }
}
