/* The engine's door: all that the extension calls, besides the inline read path (get.h). A pool is used by one thread.
 *
 *     open -> ( begin a request: the first operation does -> operations -> end ) ... -> close
 *
 * An operation that cannot reach the pool behaves as if the pool were empty. Those that must not be lost say so in
 * pool->request.undone: then nothing may rely on them. No operation waits for a dead process, and none for long for a
 * stopped one; none calls code of the caller's but through larder_value and `visit`. What goes in and out: terms.h.
 */
#ifndef LARDER_LARDER_H
#define LARDER_LARDER_H

#include "key.h"
#include "terms.h"

/* ---- open and close ---- */

/* Opens the pool of that name, making it if there is none. NULL: `error` says why and what to do. */
larder_pool *larder_pool_open(const larder_pool_config *config, larder_error *error);
/* Unmaps and gives the slot back. The file stays. */
void larder_pool_close(larder_pool *pool);
/* Calls `visit` with the name of each pool where such a pool would be, once for each format. False: `error`. */
bool larder_pool_names(const larder_pool_config *config, void (*visit)(void *context, const char *name), void *context,
                       larder_error *error);
/* Takes the pool's name away, and its snapshot; other processes go on in the next pool. 1: done, 0: none, -1: error. */
int larder_pool_remove(const larder_pool_config *config, larder_error *error);
/* The handle's pool was just removed: frees all memory that no process reads. The handle then finds or makes the next
 * pool of the name. */
void larder_pool_abandon(larder_pool *pool);
/* The size that a pool gets that is asked for with so many bytes. */
uint64_t larder_round_size(uint64_t size);
/* The pool's owner, in the words of an error: "user 33", "the members of group 50". Good until the next call. */
const char *larder_pool_owner(const larder_pool *pool);

/* ---- begin and end of a request ---- */

/* Begins an operation that only looks: a pool that is gone is not made anew. False: there is none. */
bool larder_pool_visit(larder_pool *pool);
/* This process uses no value any more: drops the pins, forgets misses and leases. */
void larder_pool_leave(larder_pool *pool);
/* The same, but the pins stay, as values may live on. */
void larder_pool_begin_another(larder_pool *pool);
/* Is this an address that PHP may have been handed a value at? */
bool larder_pool_contains(const larder_pool *pool, const void *address);
/* Makes room ahead of need, for so long at most. */
void larder_keep_house(larder_pool *pool, uint32_t microseconds);

/* ---- items; larder_get() and the other ways to read are in get.h ---- */

/* All or nothing. A refused store is counted by cause. The key's old value then goes, as it is not true any more,
 * unless the terms, or a pool that does not evict, keep it. A refused fill or add changes nothing. change.c says what
 * is done if the pool is closed meanwhile; store.c has the store itself. */
enum larder_result larder_store(larder_pool *pool, const larder_key *key, const larder_value *value,
                                const larder_terms *terms);
/* Was there a living item? Of all that delete it one is told so. It is gone in any case, for good: no store that began
 * before brings it back. */
bool larder_delete(larder_pool *pool, const larder_key *key);
/* Changes the expiry. Was there a living item? */
bool larder_touch(larder_pool *pool, const larder_key *key, uint64_t expiry);
/* Counts each call once, and keeps the counter's expiry, tags and cost. */
enum larder_counted larder_count_up(larder_pool *pool, const larder_key *key, const larder_counting *how,
                                    int64_t *result);
/* Removes the living item of that very version: of all that try, one succeeds. `counter`: its number. */
bool larder_take(larder_pool *pool, const larder_key *key, const larder_met *met, int64_t *counter);
/* Kills all items that carry one of the tags and are older than this call, and fills that began before it, in constant
 * time. */
void larder_invalidate(larder_pool *pool, const uint64_t *tags, size_t count);
/* The same, but for so long readers that ask for stale items (larder_get_stale(), get.h) still get what it killed. */
void larder_invalidate_softly(larder_pool *pool, const uint64_t *tags, size_t count, uint64_t serve_ms);
/* Kills all items, in constant time. */
void larder_clear(larder_pool *pool);
/* Calls `visit` for each living key that begins with `prefix`, until it returns false. */
void larder_each_key(larder_pool *pool, const char *prefix, size_t length,
                     bool (*visit)(void *context, const char *key, size_t key_length), void *context);

/* ---- leases: one process computes a missing item ---- */

enum larder_lease_result larder_lease_take(larder_pool *pool, const larder_key *key, uint32_t milliseconds);
void larder_lease_give_back(larder_pool *pool, const larder_key *key);
/* Gives it back, but no process gets it for so long, even if this process dies. */
void larder_lease_hold_off(larder_pool *pool, const larder_key *key, uint32_t milliseconds);
/* Waits, for so long at most, until the lease is free, its holder dead or past its time, or the pool removed or saved;
 * not at all if too many wait already. Is it to be had? */
bool larder_lease_wait(larder_pool *pool, const larder_key *key, uint32_t milliseconds);

/* ---- save, statistics ---- */

/* Closes the pool of that name and writes its snapshot, which the next pool loads once. 1: done, 0: there is no such
 * pool, -1: `error`; the pool is as it was. */
int larder_pool_save(const larder_pool_config *config, larder_saved *saved, larder_error *error);
/* Replaces the pool by one of config->size bytes that has its items. 1: done, 0: there is none, -1: `error`; nothing is
 * lost then, and the pool is as it was, or another process made the next one meanwhile. */
int larder_pool_resize(const larder_pool_config *config, larder_resized *resized, larder_error *error);
/* False: the pool cannot be reached, and the figures are all zero. */
bool larder_stats_read(larder_pool *pool, larder_stats *stats);

/* ---- writes into values; stray.c tells how they are answered ---- */

/* Sees to it that the signal comes here first. To be repeated now and then: others may install handlers, too. Theirs
 * are called for what is not answered here. */
void larder_stray_watch(void);
/* Gives the signal back, if no other handler has taken it since. */
void larder_stray_ignore(void);
/* Is called in the signal handler, in the thread that writes, each time a page was made private. NULL: no listener. */
void larder_stray_listen(void (*listener)(void));

#endif
