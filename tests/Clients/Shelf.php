<?php

declare(strict_types=1);

namespace Larder\Tests\Clients;

use Doctrine\Common\Collections\ArrayCollection;
use Doctrine\Common\Collections\Collection;
use Doctrine\ORM\Mapping as ORM;

#[ORM\Entity]
#[ORM\Cache('NONSTRICT_READ_WRITE')]
class Shelf
{
    #[ORM\Id]
    #[ORM\Column]
    #[ORM\GeneratedValue]
    public ?int $id = null;

    /** @var Collection<int, Jar> */
    #[ORM\OneToMany(targetEntity: Jar::class, mappedBy: 'shelf', cascade: ['persist'])]
    #[ORM\Cache('NONSTRICT_READ_WRITE')]
    public Collection $jars;

    public function __construct(
        #[ORM\Column]
        public string $name,
    ) {
        $this->jars = new ArrayCollection();
    }
}
