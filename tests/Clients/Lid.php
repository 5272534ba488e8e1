<?php

declare(strict_types=1);

namespace Larder\Tests\Clients;

use Doctrine\ORM\Mapping as ORM;

#[ORM\Entity]
#[ORM\Cache('READ_WRITE')]
class Lid
{
    #[ORM\Id]
    #[ORM\Column]
    #[ORM\GeneratedValue]
    public ?int $id = null;

    public function __construct(
        #[ORM\Column]
        public string $colour,
    ) {}
}
