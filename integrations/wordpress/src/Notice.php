<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Goes back to the settings page, and says there how it went. The address has the sentence, signed: a link of another site's says nothing. */
final class Notice
{
    private function __construct() {}

    /** @param ?string $mistake in a sentence; null: it is done */
    public static function answer(string $action, ?string $mistake): never
    {
        $page = is_multisite() ? network_admin_url('settings.php') : admin_url('options-general.php');
        wp_safe_redirect(add_query_arg(['page' => 'larder', 'larder-done' => $action] + ($mistake === null ? [] : ['larder-mistake' => rawurlencode($mistake), 'larder-signature' => self::signature($mistake)]), $page));
        exit;
    }

    public static function show(): void
    {
        $mistake = $_GET['larder-mistake'] ?? null;
        $signature = $_GET['larder-signature'] ?? null;
        if (($_GET['page'] ?? '') !== 'larder' || !isset($_GET['larder-done'])) {
            return;
        }
        if ($mistake === null) {
            printf('<div class="notice notice-success"><p>%s</p></div>', esc_html__('Done.', 'larder'));
        } elseif (\is_string($mistake) && \is_string($signature) && hash_equals(self::signature((string) wp_unslash($mistake)), $signature)) {
            printf('<div class="notice notice-error"><p>%s</p></div>', esc_html((string) wp_unslash($mistake)));
        }
    }

    private static function signature(string $mistake): string
    {
        return wp_hash(get_current_user_id() . "|larder|{$mistake}");
    }
}
