<?php

declare(strict_types=1);

namespace Larder\Event;

/** Everything was killed; the store has learnt of it. */
final class Cleared {}
