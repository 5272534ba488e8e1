<?php

declare(strict_types=1);

namespace Larder\WordPress;

/**
 * Makes pages anew that a change has killed, before a visitor asks for them. wp-cron does it, a while after the change.
 *
 * Visitors who wait for a page are counted, and the pages with most of them come first. It asks for one at a time, and then pauses as long
 * as that took. It ends at a failure, and comes back later where the machine is busy or the time is over.
 */
final class PageWarming
{
    /** The event of wp-cron. */
    public const HOOK = 'larder_warm';

    /** Pages after a change, if the owner says nothing else. */
    public const PAGES = 20;

    public const MOST_PAGES = 500;

    /** How many addresses are counted for each page that is made. */
    private const COUNTED = 5;

    private const LONGEST_KEY = 300;

    /** Seconds after a change, so that several changes are followed by one round. */
    private const DELAY = 10;

    /** Seconds of a round. The request at its end stays below PHP's usual limit of 30. */
    private const ROUND = 15.0;

    /** Seconds for a page. */
    private const TIMEOUT = 10;

    /** Seconds until a round is gone on with: because its time was over, or the machine was busy. */
    private const NEXT = 30;
    private const WHEN_BUSY = 300;

    private const SHORTEST_PAUSE = 0.1;

    /** @param array<string, mixed> $options of the page cache */
    public function __construct(
        private readonly PageCache $pages,
        private readonly array $options,
    ) {}

    /** How many pages are made after a change; 0: the owner wants none. */
    public function limit(): int
    {
        $limit = $this->options['warm'] ?? self::PAGES;

        return \is_int($limit) ? max(0, min(self::MOST_PAGES, $limit)) : self::PAGES;
    }

    /**
     * Counts a page that a visitor has waited for.
     *
     * @param string $key its name as PageRequest has it. A proxy's headers are in it, so each way to the site is counted alone.
     */
    public function count(string $key): void
    {
        if ($this->limit() === 0 || ($_SERVER['HTTP_USER_AGENT'] ?? '') === PageRequest::WARMING || \strlen($key) > self::LONGEST_KEY) {
            return;
        }
        $counts = $this->counts();
        $count = ($counts[$key] ?? 0) + 1;
        unset($counts[$key]);
        // Where there are too many, the last makes room. A newer one stands before an older one with the same count.
        $counts = [$key => $count] + \array_slice($counts, 0, self::COUNTED * $this->limit() - 1, true);
        arsort($counts);
        if (reset($counts) > 1_000) {
            // What was asked for long ago counts less and less.
            $counts = array_map(static fn(int $count): int => intdiv($count + 1, 2), $counts);
        }
        $this->pages->store()->keep($this->name(), $counts);
    }

    /** Has wp-cron begin, unless it is about to. */
    public function schedule(int $seconds = self::DELAY): void
    {
        if ($this->limit() > 0 && wp_next_scheduled(self::HOOK) === false && $this->counts() !== []) {
            wp_schedule_single_event(time() + $seconds, self::HOOK);
        }
    }

    /** @return int how many pages were made */
    public function run(): int
    {
        $made = 0;
        $ends = microtime(true) + self::ROUND;
        foreach (array_keys(\array_slice($this->counts(), 0, $this->limit(), true)) as $key) {
            [$url, $headers] = $this->request((string) $key);
            if (!$this->pages->mayKeep($url) || !$this->isDead((string) $key)) {
                continue;
            }
            if ($this->isBusy()) {
                $this->schedule(self::WHEN_BUSY);
                break;
            }
            if (microtime(true) >= $ends) {
                $this->schedule(self::NEXT);
                break;
            }
            $began = microtime(true);
            $answer = wp_remote_get($url, ['timeout' => self::TIMEOUT, 'redirection' => 0, 'user-agent' => PageRequest::WARMING, 'headers' => ['Accept' => 'text/html', 'Accept-Encoding' => 'gzip', ...$headers], 'sslverify' => apply_filters('https_local_ssl_verify', false) === true]);
            $status = is_wp_error($answer) ? 0 : (int) wp_remote_retrieve_response_code($answer);
            if ($status === 0 || $status === 429 || $status >= 500) {
                // A site in trouble has enough to do. The next change begins anew.
                error_log("Larder: no more pages are made anew for now: {$url} " . (is_wp_error($answer) ? "did not answer ({$answer->get_error_message()})." : "answered {$status}."));
                break;
            }
            $made++;
            if ($this->isDead((string) $key)) {
                // It is not kept any more, or is none.
                $this->pages->store()->keep($this->name(), array_diff_key($this->counts(), [$key => 0]));
            }
            usleep((int) (1e6 * max(self::SHORTEST_PAUSE, microtime(true) - $began)));
        }

        return $made;
    }

    /** @return array<array-key, int> how often visitors waited, by the name of the page; most first */
    private function counts(): array
    {
        return array_filter($this->pages->store()->kept($this->name()), is_int(...));
    }

    private function name(): string
    {
        return 'waits-' . get_current_blog_id();
    }

    /**
     * What makes a page of this name: asked for as the visitor was, whether a proxy is on the way or not.
     *
     * @return array{string, array<string, string>} its URL, and headers of a proxy
     */
    private function request(string $key): array
    {
        [$scheme, $protocol, $ssl, $port, $rest] = explode('|', $key, 5) + ['', '', '', '', ''];
        $headers = array_filter(['X-Forwarded-Proto' => $protocol, 'X-Forwarded-Ssl' => $ssl, 'X-Forwarded-Port' => $port], static fn(string $said): bool => $said !== '');
        // The host is the site's, whatever was kept. A proxy may end HTTPS, so that the site itself does not see it.
        $home = (string) preg_replace('~^(https?://[^/]+).*$~i', '$1', home_url());

        return [($headers === [] ? (string) preg_replace('~^https?~i', $scheme, $home) : $home) . strstr($rest, '/'), $headers];
    }

    /** @phpstan-impure another process may make the page */
    private function isDead(string $key): bool
    {
        return $this->pages->store()->find($key) === null;
    }

    /** Whether more processes wait for a processor than there are. */
    private function isBusy(): bool
    {
        $most = apply_filters('larder_warming_load', max(1, preg_match_all('/^processor\s*:/m', (string) @file_get_contents('/proc/cpuinfo'))));
        $load = \function_exists('sys_getloadavg') ? sys_getloadavg() : false;

        return $load !== false && is_numeric($most) && $load[0] > $most;
    }
}
