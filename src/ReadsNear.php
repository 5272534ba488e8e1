<?php

declare(strict_types=1);

namespace Larder;

/** A store whose items are in part nearer than the store itself, at times. */
interface ReadsNear
{
    /** @return Near always the same, kept up to date by the store */
    public function near(): Near;
}
