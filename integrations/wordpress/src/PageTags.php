<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * The names of what pages show, so that PageRecording and PageChanges mean the same. Of each site of a network they are others.
 *
 * | tag               | of pages that                                                                    |
 * |-------------------|----------------------------------------------------------------------------------|
 * | post/7, term/7    | have read the post, its meta or its terms; the term or its meta                  |
 * | comment/7, user/7 | have read the comment; the user                                                  |
 * | comments/7        | list comments of the post                                                        |
 * | option/name       | have asked for the option                                                        |
 * | list/product      | list posts of the type, by what a change of text does not move                   |
 * | all/product       | list posts of the type by anything                                               |
 * | list/any          | list posts in a way that is not known closer                                     |
 * | list/term/7       | list posts of the term or those below it                                         |
 * | list/author/7     | list posts of the author                                                         |
 * | terms/category    | list terms of the taxonomy                                                       |
 * | list/users, list/comments | list these                                                               |
 * | all/users, all/comments   | list users by their meta; comments that are held back as well            |
 * | links             | have read the blogroll                                                           |
 * | transient/name    | have read the transient; those of a network are of site 0                        |
 * | group/name        | have read the group of the object cache, which is a plugin's own; of all sites    |
 * | group/name/a7     | have read an entry of the group, one of a 256th of all                            |
 * | table/wp_posts    | have read the table by SQL of a plugin or theme                                  |
 * | any               | show what something else has kept, and may look for it elsewhere after any change |
 * | url/host/path     | are this page, of either scheme                                                  |
 * | site, network     | all of the site; all                                                             |
 */
final class PageTags
{
    /** Transients that hold nothing of the site's content, or what the hooks of queries know closer. */
    private const TRANSIENTS = '~^(?:doing_cron|wp_core_block_css_files|wp_styles_for_blocks|global_styles.*|dirsize_cache|update_(?:core|plugins|themes)|theme_roots|wp_theme_files_patterns-.*|wp_theme_patterns_.*|wp_plugin_dependencies.*|available_translations|is_multi_author)$~D';

    /** The group of the object cache that has what code keeps without one. */
    public const NAMELESS = 'default';

    private function __construct() {}

    /** @param int|string|null $site its id; null: the present one */
    public static function of(string $kind, int|string $what = '', int|string|null $site = null): string
    {
        $site ??= get_current_blog_id();

        return $what === '' ? "{$site}/{$kind}" : "{$site}/{$kind}/{$what}";
    }

    /**
     * A page may be asked for with octets of either case, and by a person with letters as they are. WordPress answers all alike.
     *
     * @param string $at the host, and the URI without dropped arguments
     */
    public static function ofUrl(string $at, int $site): string
    {
        return self::of('url', (string) preg_replace_callback('~%[0-9a-f]{2}|[\x80-\xff]~i', static fn(array $octet): string => strtoupper(\strlen($octet[0]) === 1 ? rawurlencode($octet[0]) : $octet[0]), $at), $site);
    }

    /** What of a group an entry is in: pages read some, and something writes others all the time. */
    public static function ofEntry(string $group, int|string $id): string
    {
        return "{$group}/" . substr(hash('xxh3', (string) $id), 0, 2);
    }

    /** Whether a transient says nothing of what pages show. */
    public static function isOfNoPage(string $transient): bool
    {
        return preg_match(self::TRANSIENTS, $transient) === 1;
    }

    /** One of 256 names for a tag, where tags may be many. */
    public static function bucket(string $tag): string
    {
        return 'bucket/' . substr(hash('xxh3', $tag), 0, 2);
    }
}
