<?php
/** One process of one kind of PHP: process.php NAME NUMBER SEED OPERATIONS */

require __DIR__ . '/share.inc';

exit(take_part($argv[1], (int) $argv[2], (int) $argv[3], (int) $argv[4]) ? 0 : 1);
