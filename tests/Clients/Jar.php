<?php

declare(strict_types=1);

namespace Larder\Tests\Clients;

use Doctrine\ORM\Mapping as ORM;
use Symfony\Component\Serializer\Attribute\Groups;
use Symfony\Component\Serializer\Attribute\SerializedName;
use Symfony\Component\Validator\Constraints as Assert;

#[ORM\Entity]
#[ORM\Cache('NONSTRICT_READ_WRITE')]
class Jar
{
    #[ORM\Id]
    #[ORM\Column]
    #[ORM\GeneratedValue]
    public ?int $id = null;

    public function __construct(
        #[ORM\Column]
        #[Assert\NotBlank]
        #[Assert\Length(max: 10)]
        #[Groups(['public'])]
        #[SerializedName('called')]
        public string $label,
        #[ORM\Column]
        #[Assert\Range(min: 0, max: 100)]
        public int $grams,
        #[ORM\ManyToOne(targetEntity: Shelf::class, inversedBy: 'jars')]
        #[ORM\Cache('NONSTRICT_READ_WRITE')]
        public ?Shelf $shelf = null,
    ) {}
}
