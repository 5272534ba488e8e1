<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;

/** A server that answers, but does not let us in. It may let others in: by another password, or into another database. */
final class Refused extends StoreUnavailable {}
