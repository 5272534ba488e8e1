<?php

declare(strict_types=1);

// A page of TierTest's: goes some steps of a random history, each of them as if it were a request, and says what it saw.

use Larder\Stores;
use Larder\Tests\Contract\History;
use Larder\Tests\Contract\RequestEachTime;
use Larder\Tests\Contract\Value\Ledger;
use Larder\Tier\TieredStore;

require __DIR__ . '/../../../vendor/autoload.php';

$asked = array_map(static fn(mixed $value): string => is_scalar($value) ? (string) $value : '', $_GET);
$store = Stores::open($asked['dsn']);
if (!$store instanceof TieredStore) {
    throw new LogicException('This page is about tiers.');
}
mt_srand((int) $asked['seed']);
$report = (new History(RequestEachTime::of($store), new Ledger($asked['ledger']), true))->run((int) $asked['steps']);
// So that what others have done meanwhile is applied to the near store, too.
$store->beginRequest();
$store->read('of no interest');
$near = [...$store->near->keys('thing')];
sort($near);
echo json_encode($report + ['near' => $near]);
