<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** The plugin's part of WordPress's Site Health. */
final class SiteHealth
{
    public function __construct(
        private readonly Plugin $plugin,
    ) {}

    /**
     * @param array<string, array<string, mixed>> $tests
     *
     * @return array<string, array<string, mixed>>
     */
    public function tests(array $tests): array
    {
        $tests['direct']['larder'] = ['label' => 'Larder', 'test' => $this->cache(...)];
        $tests['direct']['larder_database'] = ['label' => 'Larder', 'test' => $this->database(...)];

        return $tests;
    }

    /**
     * @param array<string, array<string, mixed>> $information
     *
     * @return array<string, array<string, mixed>>
     */
    public function information(array $information): array
    {
        $report = new Report($this->plugin);
        $heard = $report->commandLineHeard();
        $fields = [
            'state' => ['label' => __('State', 'larder'), 'value' => $report->state()],
            'why' => ['label' => __('Why this store', 'larder'), 'value' => $report->why()],
            'heard' => ['label' => __('Command line last heard', 'larder'), 'value' => $heard === null ? __('never', 'larder') : gmdate('c', $heard)],
        ];
        foreach ($report->figures() as [$name, $figure]) {
            $fields[$name] = ['label' => $name, 'value' => $figure];
        }

        return [...$information, 'larder' => ['label' => 'Larder', 'fields' => $fields]];
    }

    /** @return array<string, mixed> */
    private function cache(): array
    {
        $report = new Report($this->plugin);

        return $this->result('larder', $report->state(), [$report->why(), ...$report->problems()], $report->problems() === []);
    }

    /** @return array<string, mixed> */
    private function database(): array
    {
        $problem = Directory::served();

        return $problem !== null
            ? $this->result('larder_database', __('The web server hands out the files of the object cache', 'larder'), [$problem], false)
            : $this->result('larder_database', __('The web server does not hand out the files of the object cache', 'larder'), [__('They lie where it does not serve them, or there are none.', 'larder')], true);
    }

    /**
     * @param list<string> $sentences
     *
     * @return array<string, mixed>
     */
    private function result(string $test, string $label, array $sentences, bool $isGood): array
    {
        return [
            'label' => $label,
            'status' => $isGood ? 'good' : 'recommended',
            'badge' => ['label' => __('Performance', 'larder'), 'color' => $isGood ? 'blue' : 'orange'],
            'description' => '<p>' . implode('</p><p>', array_map(esc_html(...), $sentences)) . '</p>',
            'actions' => '',
            'test' => $test,
        ];
    }
}
