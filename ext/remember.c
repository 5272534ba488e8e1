/* Larder\SharedMemory: leases, and remember(), which computes what is missing once. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"

#include "shared_memory.h"

#include "engine/lease.h"

#include "ext/random/php_random.h"
#include "zend_exceptions.h"

#include <math.h>
#include <time.h>

/* ---- leases -------------------------------------------------------------------------------------------- */

/* Milliseconds out of an argument in seconds. False: an exception is pending. */
static bool lease_time(double seconds, uint32_t argument, uint32_t *milliseconds)
{
    if (!(seconds >= 0 && seconds <= LARDER_LEASE_MOST_S)) {
        zend_argument_value_error(argument, "must be between 0 and %u seconds", LARDER_LEASE_MOST_S);
        return false;
    }
    *milliseconds = (uint32_t)(seconds * 1000);
    return true;
}

/* The arguments of lease() and awaitLease(). False: an exception is pending. */
static bool lease_arguments(zend_execute_data *execute_data, larder_key *key, uint32_t *milliseconds)
{
    zend_string *name;
    double seconds = LARDER_LEASE_MS / 1000.0;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_DOUBLE(seconds)
    ZEND_PARSE_PARAMETERS_END_EX(return false);
    return larder_make_key(key, name, 1) && lease_time(seconds, 2, milliseconds);
}

ZEND_METHOD(Larder_SharedMemory, lease)
{
    uint32_t milliseconds;
    larder_key key;
    if (!lease_arguments(execute_data, &key, &milliseconds)) {
        RETURN_THROWS();
    }
    /* Where there is no lease to be had, nobody is kept from computing. */
    RETURN_BOOL(larder_lease_take(THIS_POOL(), &key, milliseconds) != LARDER_LEASE_HELD);
}

ZEND_METHOD(Larder_SharedMemory, release)
{
    larder_key key;
    larder_pool *pool = THIS_POOL();
    if (!larder_key_argument(execute_data, &key)) {
        RETURN_THROWS();
    }
    larder_lease_give_back(pool, &key);
}

ZEND_METHOD(Larder_SharedMemory, awaitLease)
{
    uint32_t milliseconds;
    larder_key key;
    if (!lease_arguments(execute_data, &key, &milliseconds)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(larder_lease_wait(THIS_POOL(), &key, milliseconds));
}

/* ---- remember ------------------------------------------------------------------------------------------ */

/* One call of remember(). */
typedef struct remembering {
    larder_pool *pool;
    zend_string *name;
    larder_key key;
    larder_conditions on;
    zend_long ttl; /* seconds, unless it is for ever */
    bool forever;
    zend_fcall_info compute;
    zend_fcall_info_cache cache;
    double beta;
    uint64_t grace_ms;
    uint32_t lease_ms;         /* 0: without one */
    uint32_t soft_ms, wait_ms; /* to wait where something stale could be served, and where not */
    uint32_t retry_ms;         /* in which nobody tries again what has failed */
} remembering;

static uint64_t microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* XFetch: as if the item expired earlier by cost * beta * -ln(random). */
static bool is_early(const remembering *call, const larder_item *item)
{
    uint64_t expiry = larder_told_expiry(&item->expiry);
    if (EXPECTED(expiry == LARDER_NO_EXPIRY) || item->cost == 0 || call->beta <= 0) {
        return false;
    }
    double left = (double)expiry - (double)larder_pool_now(call->pool), step = item->cost / 1000.0 * call->beta;
    uint64_t random;
    if (left > step * 45 || php_random_bytes_silent(&random, sizeof random) == FAILURE) {
        return false; /* the logarithm of 2^-64 is -44.4 */
    }
    return left <= step * -log(((double)random + 1) / 18446744073709551616.0);
}

/* Hands out what has expired, but not for longer than it may be served. */
static bool read_stale(const remembering *call, zval *result)
{
    larder_hit hit;
    return call->grace_ms > 0 && larder_get_stale(call->pool, &call->key, call->grace_ms, &hit) &&
           larder_read(call->pool, &call->key, &hit, result);
}

/* Computes and keeps it. False: it threw. The token comes before the reading, or what is deleted meanwhile would be
 * stored. model/lease.pml: begin_to_compute(), fill() */
static bool compute(remembering *call, zval *result)
{
    larder_pool *pool = call->pool;
    bool usable = larder_pool_enter(pool);
    uint64_t began = microseconds();
    call->on.terms.life = pool->life;
    call->on.terms.token = usable ? larder_now_logical(pool->header) : 0;
    ZVAL_UNDEF(result);
    call->compute.retval = result;
    if (zend_call_function(&call->compute, &call->cache) != SUCCESS || EG(exception) || Z_ISUNDEF_P(result)) {
        return false;
    }
    if (Z_ISREF_P(result)) {
        zend_unwrap_reference(result);
    }
    call->on.terms.cost = larder_cost_of((double)(microseconds() - began) / 1e6);
    /* From now on, as with any store: the computation, and waiting for another's, may have taken longer than that. */
    call->on.life = larder_lifetime_of(pool, call->ttl, call->forever);
    call->on.terms.expiry = call->on.life.expiry;
    if (usable) {
        larder_store_value(pool, call->name, &call->key, result, &call->on);
    }
    return !EG(exception);
}

/* What the application throws may be made up for by what is still there. Errors are mistakes that somebody has to see,
 * and exit() is meant. */
static bool may_be_forgiven(void)
{
    return EG(exception) != NULL && instanceof_function(EG(exception)->ce, zend_ce_exception);
}

/* What is stale may stand in for what could not be computed. True: it does. */
static bool compute_missing(remembering *call, zval *result)
{
    if (compute(call, result)) {
        return false;
    }
    zval_ptr_dtor(result);
    ZVAL_NULL(result);
    if (call->grace_ms == 0 || !may_be_forgiven()) {
        return false;
    }
    zend_object *thrown = EG(exception);
    GC_ADDREF(thrown);
    zend_clear_exception();
    if (read_stale(call, result) || EG(exception)) {
        OBJ_RELEASE(thrown);
        return EG(exception) == NULL;
    }
    zend_throw_exception_internal(thrown);
    return false;
}

static void end_lease(remembering *call, bool failed)
{
    if (failed && call->retry_ms > 0) {
        larder_lease_hold_off(call->pool, &call->key, call->retry_ms);
    } else {
        larder_lease_give_back(call->pool, &call->key);
    }
}

/* What is there is still good: a failure to compute it early is made up for by it. */
static void compute_early(remembering *call, zval *result)
{
    zval fresh;
    bool leased = call->lease_ms > 0;
    if (leased && larder_lease_take(call->pool, &call->key, call->lease_ms) != LARDER_LEASE_TAKEN) {
        return;
    }
    bool computed = compute(call, &fresh);
    if (leased) {
        end_lease(call, !computed && may_be_forgiven());
    }
    if (computed) {
        zval_ptr_dtor(result);
        ZVAL_COPY_VALUE(result, &fresh);
        return;
    }
    zval_ptr_dtor(&fresh);
    if (may_be_forgiven()) {
        zend_clear_exception();
    }
}

/* Hands out what is there; computes it early if it is time to. False: nothing is there. model/lease.pml: serve() */
static bool serve(remembering *call, zval *result)
{
    larder_hit hit;
    if (!larder_get(call->pool, &call->key, &hit)) {
        return false;
    }
    bool early = is_early(call, hit.item);
    if (!larder_read(call->pool, &call->key, &hit, result)) {
        return EG(exception) != NULL;
    }
    if (UNEXPECTED(early)) {
        compute_early(call, result);
    }
    return true;
}

/* Somebody else computes it: takes what he stores, or something stale, or the lease. True: there is a result.
 * model/lease.pml: wait(), serve(), take() */
static bool wait_for_other(remembering *call, uint64_t began, enum larder_lease_result *lease, zval *result)
{
    uint64_t last = began + call->wait_ms * UINT64_C(1000);
    uint64_t soft = call->grace_ms == 0 ? began : MIN(last, began + call->soft_ms * UINT64_C(1000));
    while (*lease == LARDER_LEASE_HELD) {
        uint64_t now = microseconds();
        bool may_be_stale = now >= soft;
        if (may_be_stale && (read_stale(call, result) || EG(exception))) {
            return true;
        }
        uint64_t until = may_be_stale ? last : soft;
        bool is_free = now < until && larder_lease_wait(call->pool, &call->key, (uint32_t)((until - now) / 1000 + 1));
        if (!is_free && may_be_stale) {
            *lease = LARDER_LEASE_NOWHERE; /* it takes too long, or too many wait */
        } else if (!is_free) {
            soft = began;
        }
        if (!larder_pool_enter(call->pool)) {
            return false;
        }
        if (larder_exists(call->pool, &call->key) && serve(call, result)) {
            return true;
        }
        if (*lease == LARDER_LEASE_HELD) {
            *lease = larder_lease_take(call->pool, &call->key, call->lease_ms);
        }
    }
    return false;
}

/* The lease is given back when the value is stored, not before: who waits for it looks then.
 * model/lease.pml: remember(), compute() */
static void remember(remembering *call, zval *result)
{
    larder_pool *pool = call->pool;
    if (!larder_pool_enter(pool)) {
        compute_missing(call, result);
        return;
    }
    if (serve(call, result)) {
        return;
    }
    uint64_t began = microseconds();
    enum larder_lease_result lease =
        call->lease_ms == 0 ? LARDER_LEASE_NOWHERE : larder_lease_take(pool, &call->key, call->lease_ms);
    if (wait_for_other(call, began, &lease, result)) {
        return;
    }
    /* Between our look and our lease another may have come and gone. */
    bool failed = false;
    if (lease != LARDER_LEASE_TAKEN || !larder_exists(pool, &call->key) || !serve(call, result)) {
        failed = compute_missing(call, result);
    }
    if (lease == LARDER_LEASE_TAKEN) {
        end_lease(call, failed);
    }
}

ZEND_METHOD(Larder_SharedMemory, remember)
{
    remembering call = {.beta = 1.0, .forever = true};
    const larder_lifetime later = {.expiry = LARDER_NO_EXPIRY}; /* compute() says for how long */
    zend_long grace = 0;
    bool no_grace = true;
    zend_array *tags = NULL;
    uint64_t own[LARDER_TAGS_ON_STACK];
    double lease = LARDER_LEASE_MS / 1000.0, wait = 0, soft = 0, retry = 0;
    bool as_long = true; /* as the lease */
    ZEND_PARSE_PARAMETERS_START(2, 10)
    Z_PARAM_STR(call.name)
    Z_PARAM_FUNC(call.compute, call.cache)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(call.ttl, call.forever)
    Z_PARAM_ARRAY_HT(tags)
    Z_PARAM_DOUBLE(call.beta)
    Z_PARAM_LONG_OR_NULL(grace, no_grace)
    Z_PARAM_DOUBLE(lease)
    Z_PARAM_DOUBLE_OR_NULL(wait, as_long)
    Z_PARAM_DOUBLE(soft)
    Z_PARAM_DOUBLE(retry)
    ZEND_PARSE_PARAMETERS_END();
    call.pool = THIS_POOL();
    if (!(call.beta >= 0)) {
        zend_argument_value_error(5, "must be 0 or more");
        RETURN_THROWS();
    }
    if (!lease_time(lease, 7, &call.lease_ms) || !lease_time(as_long ? lease : wait, 8, &call.wait_ms) ||
        !lease_time(soft, 9, &call.soft_ms) || !lease_time(retry, 10, &call.retry_ms) ||
        !larder_make_key(&call.key, call.name, 1) ||
        !larder_read_conditions(&call.on, LARDER_SET, later, tags, 4, own)) {
        RETURN_THROWS();
    }
    call.grace_ms = grace > 0 && !no_grace ? (uint64_t)MIN(grace, UINT32_MAX) * 1000 : 0;
    call.on.terms.verb = LARDER_FILL;
    call.on.terms.grace_ms = call.grace_ms;
    remember(&call, return_value);
    larder_discard_tags(&call.on.terms, own);
}
