<?php

declare(strict_types=1);

namespace Larder\WordPress;

/** Constants of wp-config.php that say what they cannot say: without a sentence an administrator would take them for heard. */
final class WrongConstants
{
    private const NUMBERS = ['WP_LARDER_MAXTTL', 'WP_REDIS_MAXTTL', 'WP_LARDER_SAMPLE', 'WP_REDIS_PORT'];

    private const LISTS = ['WP_LARDER_IGNORED_GROUPS', 'WP_REDIS_IGNORED_GROUPS', 'WP_LARDER_UNFLUSHABLE_GROUPS', 'WP_REDIS_UNFLUSHABLE_GROUPS'];

    private function __construct() {}

    /**
     * @param ?string $directory of databases and the journal
     *
     * @return list<string> what is wrong and what to change, a sentence each
     */
    public static function sentences(?string $directory): array
    {
        $sentences = [];
        if (\defined('WP_LARDER_DSN') && Settings::text('WP_LARDER_DSN') === '') {
            $sentences[] = __('WP_LARDER_DSN in wp-config.php is no text, or an empty one, and is not used; write a DSN, or remove the line.', 'larder');
        }
        if (\defined('WP_LARDER_DIRECTORY') && $directory === null) {
            $sentences[] = __('WP_LARDER_DIRECTORY in wp-config.php names no directory that PHP may write to; name one by its absolute path, or remove the line.', 'larder');
        }
        foreach (self::NUMBERS as $name) {
            $number = \defined($name) ? \constant($name) : 0;
            if (!is_numeric($number) || $number < 0) {
                /* translators: %s: the name of a constant. */
                $sentences[] = sprintf(__('%s in wp-config.php is no number from 0 on, and is not used; write one, or remove the line.', 'larder'), $name);
            }
        }
        foreach (self::LISTS as $name) {
            $list = \defined($name) ? \constant($name) : [];
            if (!\is_array($list) || array_filter($list, is_string(...)) !== $list) {
                /* translators: %s: the name of a constant. */
                $sentences[] = sprintf(__('%s in wp-config.php is no list of names, and is not used as one; write an array of texts, or remove the line.', 'larder'), $name);
            }
        }

        return $sentences;
    }
}
