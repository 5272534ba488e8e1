<?php
/**
 * What host.c ends with, when its threads have ended.
 *
 * @var string $name of the pools
 */

require __DIR__ . '/share.inc';

look_back($name);
