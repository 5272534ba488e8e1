<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** A panel of the plugin Query Monitor: this request's use of the object cache. */
final class QueryMonitor
{
    private function __construct() {}

    /**
     * @param array<string, object> $collectors
     *
     * @return array<string, object>
     */
    public static function collectors(array $collectors): array
    {
        if (\class_exists('QM_Collector')) {
            $collectors['larder'] = new class extends \QM_Collector {
                /** @var string */
                public $id = 'larder';

                public function name(): string
                {
                    return 'Larder';
                }
            };
        }

        return $collectors;
    }

    /**
     * @param array<string, object> $outputs
     *
     * @return array<string, object>
     */
    public static function outputs(array $outputs): array
    {
        $collector = \class_exists('QM_Collectors') ? \QM_Collectors::get('larder') : null;
        if ($collector !== null && \class_exists('QM_Output_Html')) {
            $output = new class ($collector) extends \QM_Output_Html {
                public function name(): string
                {
                    return 'Larder';
                }

                public function output(): void
                {
                    $cache = ObjectCache::current();
                    $this->before_non_tabular_output();
                    if ($cache !== null) {
                        printf('<section><h3>Larder</h3><p>%s</p></section>', esc_html($cache->trouble() ?? 'The store answers.'));
                        $cache->stats();
                    } else {
                        echo '<section><p>The object cache is off.</p></section>';
                    }
                    $this->after_non_tabular_output();
                }
            };
            // Without an entry in the menu it is not found.
            add_filter('qm/output/menus', [$output, 'admin_menu'], 101);
            $outputs['larder'] = $output;
        }

        return $outputs;
    }
}
