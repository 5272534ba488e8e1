<?php
/** The other PHP of phps.php: calls of SharedMemory as it is told them, each a line of JSON: answer.php POOL */

use Larder\SharedMemory;

$pool = SharedMemory::open($argv[1], 4 << 20);
while (($line = fgets(STDIN)) !== false) {
    [$method, $arguments] = json_decode($line, true);
    echo json_encode($pool->$method(...$arguments)), "\n";
}
