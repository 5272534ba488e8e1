<?php

declare(strict_types=1);

namespace Larder\Tools\Publication;

/** The parts of pages that a tool writes, each between two marks. */
enum Block: string
{
    case Result = 'result';
    case Agreement = 'agreement';

    /**
     * The page with this part replaced.
     *
     * @throws \UnexpectedValueException when the page has no place for it
     */
    public function in(string $page, string $text): string
    {
        [$first, $last] = ["<!-- {$this->value} -->", "<!-- /{$this->value} -->"];
        $begin = strpos($page, "{$first}\n");
        $end = strpos($page, $last);
        if ($begin === false || $end === false || $end < $begin) {
            throw new \UnexpectedValueException("The page has no place for the {$this->value}: put {$first} and {$last} on lines of their own.");
        }

        return substr($page, 0, $begin + strlen("{$first}\n")) . $text . substr($page, $end);
    }
}
