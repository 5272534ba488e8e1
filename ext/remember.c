/* Larder\SharedMemory: leases, and remember(), which computes what is missing once. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"

#include "shared_memory.h"

#include "engine/larder.h"

#include "ext/random/php_random.h"
#include "zend_closures.h"
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

/* The arguments of lease() and awaitLease(). False: an exception is pending, and there is nothing to discard. */
static bool lease_arguments(zend_execute_data *execute_data, larder_full_key *full, uint32_t *milliseconds)
{
    zend_string *name;
    double seconds = LARDER_LEASE_MS / 1000.0;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_DOUBLE(seconds)
    ZEND_PARSE_PARAMETERS_END_EX(return false);
    return lease_time(seconds, 2, milliseconds) && larder_make_key(full, THIS(), name, 1);
}

ZEND_METHOD(Larder_SharedMemory, lease)
{
    uint32_t milliseconds;
    larder_full_key full;
    if (!lease_arguments(execute_data, &full, &milliseconds)) {
        RETURN_THROWS();
    }
    /* Where no lease can be had, every process may compute. */
    RETVAL_BOOL(larder_lease_take(THIS()->pool, &full.key, milliseconds) != LARDER_LEASE_HELD);
    larder_discard_key(&full);
}

ZEND_METHOD(Larder_SharedMemory, release)
{
    larder_full_key full;
    if (!larder_key_argument(execute_data, &full)) {
        RETURN_THROWS();
    }
    larder_lease_give_back(THIS()->pool, &full.key);
    larder_discard_key(&full);
}

ZEND_METHOD(Larder_SharedMemory, awaitLease)
{
    uint32_t milliseconds;
    larder_full_key full;
    if (!lease_arguments(execute_data, &full, &milliseconds)) {
        RETURN_THROWS();
    }
    RETVAL_BOOL(larder_lease_wait(THIS()->pool, &full.key, milliseconds));
    larder_discard_key(&full);
}

/* What a computation is given if nothing is said, in seconds. */
#define COMPUTATION_S 30.0
#define RETRY_S       1.0

/* ---- remember ------------------------------------------------------------------------------------------ */

/* One call of remember(). */
typedef struct remembering {
    const shared_memory *self;
    larder_pool *pool;
    zend_string *name;
    const larder_key *key;
    larder_conditions on;
    zend_long ttl; /* seconds, unless it is for ever */
    bool forever;
    zval *tags;      /* as they were given; NULL: none */
    zval *through;   /* called in place of the computation, which it calls; NULL: nothing */
    uint64_t *own;   /* room for tags */
    bool has_failed; /* the computation, and the value there was served */
    bool is_leased;
    zend_object *told; /* what the computation that runs is told; NULL: none runs */
    zend_fcall_info compute;
    zend_fcall_info_cache cache;
    double beta;
    uint64_t grace_ms;
    uint32_t lease_ms;                    /* 0: without one */
    uint32_t stale_wait_ms, miss_wait_ms; /* where something stale could be served, and where not */
    uint32_t retry_ms;                    /* in which a failed computation is not tried again */
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

/* Hands out what has expired or was invalidated, but not for longer than it may be served. */
static bool read_stale(const remembering *call, zval *result)
{
    larder_stale its;
    if (!larder_read_stale(call->pool, call->key, call->grace_ms, &its)) {
        return false;
    }
    ZVAL_COPY_VALUE(result, &its.value);
    return true;
}

/* ---- what a computation is told, and says ---- */

typedef struct computation {
    remembering *call; /* NULL: it is over */
    const zval *found; /* the value that is there and still good; NULL: none */
    zend_object object;
} computation;

/* Its properties, in the order of the stub. */
enum { ITS_KEY, ITS_TTL, ITS_TAGS, IS_STORED, HAS_FAILED };

static zend_object_handlers computation_handlers;

static computation *computation_of(zend_object *object)
{
    return (computation *)((char *)object - offsetof(computation, object));
}

static zend_object *create_computation(zend_class_entry *class)
{
    computation *self = zend_object_alloc(sizeof *self, class);
    zend_object_std_init(&self->object, class);
    object_properties_init(&self->object, class);
    self->object.handlers = &computation_handlers;
    self->call = NULL;
    self->found = NULL;
    return &self->object;
}

void larder_computations_begin(void)
{
    larder_computation_class->create_object = create_computation;
    memcpy(&computation_handlers, zend_get_std_object_handlers(), sizeof computation_handlers);
    computation_handlers.offset = offsetof(computation, object);
    computation_handlers.clone_obj = NULL;
}

/* Private; only there so that `new` is an error. */
ZEND_METHOD(Larder_Computation, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

ZEND_METHOD(Larder_Computation, old)
{
    zval *fallback = NULL;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_ZVAL(fallback)
    ZEND_PARSE_PARAMETERS_END();
    const computation *self = computation_of(Z_OBJ_P(ZEND_THIS));
    if (self->found != NULL) {
        RETURN_COPY(self->found);
    }
    if (self->call != NULL && read_stale(self->call, return_value)) {
        return;
    }
    if (fallback != NULL && !EG(exception)) {
        RETURN_COPY_DEREF(fallback);
    }
}

static zend_object *begin_computation(remembering *call, const zval *found)
{
    zval made;
    object_init_ex(&made, larder_computation_class);
    zend_object *object = Z_OBJ(made);
    computation_of(object)->call = call;
    computation_of(object)->found = found;
    ZVAL_STR_COPY(OBJ_PROP_NUM(object, ITS_KEY), call->name);
    if (!call->forever) {
        ZVAL_LONG(OBJ_PROP_NUM(object, ITS_TTL), call->ttl);
    }
    if (call->tags != NULL) {
        ZVAL_COPY(OBJ_PROP_NUM(object, ITS_TAGS), call->tags);
    }
    return object;
}

static zval *property(zend_object *object, int index)
{
    zval *value = OBJ_PROP_NUM(object, index);
    ZVAL_DEREF(value);
    return value;
}

/* Is it to be stored? Under the terms that the computation has left, as of now: it, and waiting for another's, may have
 * taken longer than the TTL. An exception is pending if they are none. */
static bool take_terms(remembering *call, zend_object *object)
{
    const zval *ttl = property(object, ITS_TTL);
    zval *tags = property(object, ITS_TAGS);
    larder_terms *terms = &call->on.terms;
    call->has_failed = Z_TYPE_P(property(object, HAS_FAILED)) == IS_TRUE;
    if (call->has_failed || Z_TYPE_P(property(object, IS_STORED)) != IS_TRUE) {
        return false;
    }
    call->on.lifetime =
        larder_lifetime_of(call->pool, Z_TYPE_P(ttl) == IS_LONG ? Z_LVAL_P(ttl) : 0, Z_TYPE_P(ttl) != IS_LONG);
    terms->expiry = call->on.lifetime.expiry;
    if (Z_TYPE_P(tags) != IS_ARRAY || (call->tags != NULL && Z_ARR_P(tags) == Z_ARR_P(call->tags))) {
        return true;
    }
    larder_discard_tags(call->self, terms, call->own);
    return larder_read_tags_of(terms, call->self, Z_ARR_P(tags), 4, call->own);
}

/* ---- computing ---- */

static void call_computation(remembering *call, zend_object *object, zval *result)
{
    zval arguments[2];
    zend_fcall_info compute = call->compute;
    zend_fcall_info_cache cache = call->cache;
    if (call->through != NULL) {
        zend_fcall_info_init(call->through, 0, &compute, &cache, NULL, NULL); /* a closure can be called */
    }
    ZVAL_COPY_VALUE(&arguments[0], &call->compute.function_name);
    ZVAL_OBJ(&arguments[1], object);
    ZVAL_UNDEF(result);
    compute.retval = result;
    compute.params = call->through != NULL ? arguments : &arguments[1];
    compute.param_count = call->through != NULL ? 2 : 1;
    zend_call_function(&compute, &cache);
}

/* The object that it was given may be kept for longer. */
static void end_computation(remembering *call)
{
    if (call->told != NULL) {
        computation_of(call->told)->call = NULL;
        computation_of(call->told)->found = NULL;
        call->told = NULL;
    }
}

/* Computes and keeps it. False: it threw. The token comes before the reading, or what is deleted meanwhile would be
 * stored. model/lease.pml: begin_to_compute(), fill() */
static bool compute(remembering *call, const zval *found, zval *result)
{
    larder_pool *pool = call->pool;
    bool usable = larder_pool_enter(pool);
    uint64_t began = microseconds();
    call->on.terms.attachment = pool->attached.number;
    call->on.terms.token = usable ? larder_now_logical(pool->header) : 0;
    zend_object *object = call->told = begin_computation(call, found);
    call_computation(call, object, result);
    end_computation(call);
    bool computed = !EG(exception) && !Z_ISUNDEF_P(result);
    if (computed) {
        if (Z_ISREF_P(result)) {
            zend_unwrap_reference(result);
        }
        call->on.terms.cost = larder_cost_of((double)(microseconds() - began) / 1e6);
        if (take_terms(call, object) && usable) {
            larder_store_value(pool, call->name, call->key, result, &call->on);
        }
    }
    OBJ_RELEASE(object);
    return computed && !EG(exception);
}

/* What the application throws may be made up for by what is still there. Errors are mistakes that must be seen,
 * and exit() is meant. */
static bool may_be_forgiven(void)
{
    return EG(exception) != NULL && instanceof_function(EG(exception)->ce, zend_ce_exception);
}

/* A stale value may stand in for one that could not be computed. */
static void compute_missing(remembering *call, zval *result)
{
    if (compute(call, NULL, result)) {
        return;
    }
    zval_ptr_dtor(result);
    ZVAL_NULL(result);
    if (!may_be_forgiven()) {
        return;
    }
    zend_object *thrown = EG(exception);
    GC_ADDREF(thrown);
    zend_clear_exception();
    if (read_stale(call, result) || EG(exception)) {
        OBJ_RELEASE(thrown);
        call->has_failed = EG(exception) == NULL;
        return;
    }
    zend_throw_exception_internal(thrown);
}

static void end_lease(remembering *call)
{
    if (!call->is_leased) {
        return;
    }
    call->is_leased = false;
    if (call->has_failed && call->retry_ms > 0) {
        larder_lease_hold_off(call->pool, call->key, call->retry_ms);
    } else {
        larder_lease_give_back(call->pool, call->key);
    }
}

/* The value there is still good: a failure to compute it early is made up for by it. */
static void compute_early(remembering *call, zval *result)
{
    zval fresh;
    if (call->lease_ms > 0) {
        if (larder_lease_take(call->pool, call->key, call->lease_ms) != LARDER_LEASE_TAKEN) {
            return;
        }
        call->is_leased = true;
    }
    bool computed = compute(call, result, &fresh);
    call->has_failed |= !computed && may_be_forgiven();
    end_lease(call);
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

/* A fatal error leaves the call by a jump. Functions that run at the end of the request may then take their time, or
 * ask what the computation was told. */
static void run_to_its_end(remembering *call, void (*run)(remembering *call, zval *result), zval *result)
{
    zend_try
    {
        run(call, result);
    }
    zend_catch
    {
        end_computation(call);
        end_lease(call);
        zend_bailout();
    }
    zend_end_try();
}

/* Hands out what is there; computes it early if it is time to. False: nothing is there. model/lease.pml: serve() */
static bool serve(remembering *call, zval *result)
{
    larder_hit hit;
    if (!larder_get(call->pool, call->key, &hit)) {
        return false;
    }
    bool early = is_early(call, hit.item);
    if (!larder_read(call->pool, call->key, &hit, result)) {
        return EG(exception) != NULL;
    }
    if (UNEXPECTED(early)) {
        run_to_its_end(call, compute_early, result);
    }
    return true;
}

/* Another process computes it: takes what it stores, or something stale, or the lease. True: there is a result.
 * model/lease.pml: wait(), serve(), take() */
static bool wait_for_other(remembering *call, uint64_t began, enum larder_lease_result *lease, zval *result)
{
    uint64_t last = began + call->miss_wait_ms * UINT64_C(1000);
    uint64_t soft = MIN(last, began + call->stale_wait_ms * UINT64_C(1000));
    while (*lease == LARDER_LEASE_HELD) {
        uint64_t now = microseconds();
        bool may_be_stale = now >= soft;
        if (may_be_stale && (read_stale(call, result) || EG(exception))) {
            return true;
        }
        uint64_t until = may_be_stale ? last : soft;
        bool is_free = now < until && larder_lease_wait(call->pool, call->key, (uint32_t)((until - now) / 1000 + 1));
        if (!is_free && may_be_stale) {
            *lease = LARDER_LEASE_NOWHERE; /* it takes too long, or too many wait */
        } else if (!is_free) {
            soft = began;
        }
        if (!larder_pool_enter(call->pool)) {
            return false;
        }
        if (larder_exists(call->pool, call->key) && serve(call, result)) {
            return true;
        }
        if (*lease == LARDER_LEASE_HELD) {
            *lease = larder_lease_take(call->pool, call->key, call->lease_ms);
        }
    }
    return false;
}

/* The lease is given back when the value is stored, not before: a process that waits for it looks then.
 * model/lease.pml: compute() */
static void compute_leased(remembering *call, zval *result)
{
    /* Between our look and our lease another may have come and gone. */
    if (!call->is_leased || !larder_exists(call->pool, call->key) || !serve(call, result)) {
        compute_missing(call, result);
    }
    end_lease(call);
}

/* model/lease.pml: remember() */
static void remember(remembering *call, zval *result)
{
    larder_pool *pool = call->pool;
    if (!larder_pool_enter(pool)) {
        run_to_its_end(call, compute_missing, result);
        return;
    }
    if (serve(call, result)) {
        return;
    }
    uint64_t began = microseconds();
    enum larder_lease_result lease =
        call->lease_ms == 0 ? LARDER_LEASE_NOWHERE : larder_lease_take(pool, call->key, call->lease_ms);
    if (wait_for_other(call, began, &lease, result)) {
        return;
    }
    call->is_leased = lease == LARDER_LEASE_TAKEN;
    run_to_its_end(call, compute_leased, result);
}

ZEND_METHOD(Larder_SharedMemory, remember)
{
    remembering call = {.beta = 1.0, .forever = true};
    const larder_lifetime later = {.expiry = LARDER_NO_EXPIRY}; /* take_terms() says for how long */
    zend_long grace = 0;
    larder_full_key full;
    uint64_t own[LARDER_TAGS_ON_STACK];
    double lease = COMPUTATION_S, miss_wait = 0, stale_wait = 0, retry = RETRY_S;
    bool automatic = true; /* the miss wait */
    ZEND_PARSE_PARAMETERS_START(2, 11)
    Z_PARAM_STR(call.name)
    Z_PARAM_FUNC(call.compute, call.cache)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(call.ttl, call.forever)
    Z_PARAM_ARRAY(call.tags)
    Z_PARAM_DOUBLE(call.beta)
    Z_PARAM_LONG(grace)
    Z_PARAM_OBJECT_OF_CLASS_OR_NULL(call.through, zend_ce_closure)
    Z_PARAM_DOUBLE(lease)
    Z_PARAM_DOUBLE_OR_NULL(miss_wait, automatic)
    Z_PARAM_DOUBLE(stale_wait)
    Z_PARAM_DOUBLE(retry)
    ZEND_PARSE_PARAMETERS_END();
    call.self = THIS();
    call.pool = call.self->pool;
    call.own = own;
    if (!(call.beta >= 0)) {
        zend_argument_value_error(5, "must be 0 or more");
        RETURN_THROWS();
    }
    if (grace < 0) {
        zend_argument_value_error(6, "must be 0 or more");
        RETURN_THROWS();
    }
    if (automatic) {
        miss_wait = MIN(2 * lease, LARDER_LEASE_MOST_S);
    }
    if (!lease_time(lease, 8, &call.lease_ms) || !lease_time(miss_wait, 9, &call.miss_wait_ms) ||
        !lease_time(stale_wait, 10, &call.stale_wait_ms) || !lease_time(retry, 11, &call.retry_ms) ||
        !larder_make_key(&full, call.self, call.name, 1)) {
        RETURN_THROWS();
    }
    zend_array *tags = call.tags == NULL ? NULL : Z_ARR_P(call.tags);
    if (larder_read_conditions(&call.on, call.self, LARDER_SET, later, tags, 4, own)) {
        call.key = &full.key;
        call.grace_ms = (uint64_t)MIN(grace, UINT32_MAX) * 1000;
        call.on.terms.verb = LARDER_FILL;
        call.on.terms.grace_ms = call.grace_ms;
        remember(&call, return_value);
        larder_discard_tags(call.self, &call.on.terms, own);
    }
    larder_discard_key(&full);
}
