/* Larder\SharedMemory: storing. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"

#include "shared_memory.h"

#include "engine/larder.h"
#include "image/image.h"

#include "ext/standard/php_string.h"
#include "zend_exceptions.h"

/* ---- values in ----------------------------------------------------------------------------------------- */

static void write_image(const void *context, void *to, uintptr_t address)
{
    larder_image_write(context, to, address);
}

larder_lifetime larder_lifetime_of(const larder_pool *pool, zend_long ttl, bool forever)
{
    if (forever) {
        return (larder_lifetime){.dead = false, .expiry = LARDER_NO_EXPIRY};
    }
    return (larder_lifetime){.dead = ttl <= 0,
                             .expiry = ttl <= 0 ? 0 : larder_expiry(larder_pool_now(pool), (uint64_t)ttl)};
}

/* A store with a TTL of zero or less: as if the item had been stored and had expired at once. */
static bool store_dead(larder_pool *pool, const larder_key *key, enum larder_mode mode)
{
    if (mode == LARDER_ADD) {
        return !larder_exists(pool, key);
    }
    bool existed = larder_delete(pool, key);
    larder_throw_if_undone(pool);
    return mode == LARDER_SET ? !EG(exception) : existed;
}

/* What the value's own code throws while it is asked for its state is the previous exception, so that callers have one
 * exception to expect. exit() and the like go on. */
static ZEND_COLD void refuse_value(const zend_string *key, const larder_image_refusal *refusal)
{
    if (EG(exception) == NULL || instanceof_function(EG(exception)->ce, zend_ce_throwable)) {
        zend_string *start = zend_string_init(ZSTR_VAL(key), MIN(ZSTR_LEN(key), 64), 0);
        zend_string *shown = php_addcslashes(start, ZEND_STRL(LARDER_UNPRINTABLE "\""));
        zend_throw_exception_ex(larder_unstorable_class, 0, "The value of the key \"%s\" was not stored: %s%s",
                                ZSTR_VAL(shown), ZSTR_VAL(refusal->message), EG(exception) == NULL ? "." : "");
        zend_string_release(shown);
        zend_string_release(start);
    }
    zend_string_release(refusal->message);
}

/* A name of a tag out of a list. False: an exception is pending. */
static bool tag_of(zval *entry, uint32_t argument, uint64_t *tag)
{
    zend_string *name = larder_listed_name(entry, argument);
    if (name == NULL) {
        return false;
    }
    bool sound = ZSTR_LEN(name) - 1 < LARDER_KEY_MAX;
    if (sound) {
        *tag = larder_tag_of(ZSTR_VAL(name), ZSTR_LEN(name));
    } else {
        zend_argument_value_error(argument, "must not contain a tag of %zu bytes; a tag has 1 to %u bytes",
                                  ZSTR_LEN(name), LARDER_KEY_MAX);
    }
    zend_string_release(name);
    return sound;
}

uint64_t *larder_read_tags(zend_array *list, uint32_t argument, uint32_t most, uint32_t more,
                           uint64_t own[LARDER_TAGS_ON_STACK])
{
    uint32_t count = zend_hash_num_elements(list), i = 0;
    zval *entry;
    if (count > most - more) {
        zend_argument_value_error(argument, "must not contain more than %u tags, %u given", most - more, count);
        return NULL;
    }
    uint64_t *tags = count + more <= LARDER_TAGS_ON_STACK ? own : safe_emalloc(count + more, sizeof *tags, 0);
    ZEND_HASH_FOREACH_VAL(list, entry)
    {
        if (!tag_of(entry, argument, &tags[i++])) {
            if (tags != own) {
                efree(tags);
            }
            return NULL;
        }
    }
    ZEND_HASH_FOREACH_END();
    return tags;
}

void larder_discard_tags(const shared_memory *self, const larder_terms *terms, const uint64_t own[LARDER_TAGS_ON_STACK])
{
    if (terms->tags != NULL && terms->tags != own && terms->tags != self->tags) {
        efree((void *)(uintptr_t)terms->tags);
    }
}

/* A token becomes the tick that the engine judges by. */
static void judge_by(larder_conditions *on, larder_pool *pool, zend_object *token, enum larder_verb verb)
{
    zval *epoch = OBJ_PROP_NUM(token, 0), *version = OBJ_PROP_NUM(token, 1);
    on->terms.verb = verb;
    if (Z_TYPE_P(epoch) != IS_STRING || Z_TYPE_P(version) != IS_LONG || !larder_pool_enter_to_write(pool)) {
        return;
    }
    zend_string *id = larder_pool_id(pool);
    on->terms.token = (uint64_t)Z_LVAL_P(version);
    if (zend_string_equals(Z_STR_P(epoch), id) && on->terms.token <= larder_now_logical(pool->header)) {
        on->terms.attachment = pool->attached.number;
    }
    zend_string_release(id);
}

static bool store_plan(larder_pool *pool, const larder_key *key, larder_image_plan *plan, const larder_conditions *on)
{
    bool is_judged = on->terms.verb == LARDER_JUDGED && on->terms.mode != LARDER_ADD;
    if (on->lifetime.dead && !is_judged) { /* a judged item is stored as an expired one */
        return on->terms.verb == LARDER_FILL || on->terms.expected != 0 || store_dead(pool, key, on->terms.mode);
    }
    const larder_value in = {.kind = plan->kind,
                             .has_abi = plan->kind >= LARDER_FIRST_KIND_WITH_ABI,
                             .size = plan->size,
                             .counter = plan->kind == LARDER_KIND_COUNTER ? Z_LVAL(plan->value) : 0,
                             .write = write_image,
                             .context = plan};
    enum larder_result result = larder_store(pool, key, &in, &on->terms);
    if (result == LARDER_UNREACHED && on->terms.mode != LARDER_ADD && on->terms.verb != LARDER_FILL) {
        larder_throw_unreachable(pool); /* the item that it was to replace may still be there for others */
    }
    return result == LARDER_OK;
}

bool larder_store_value(larder_pool *pool, zend_string *name, const larder_key *key, zval *value,
                        const larder_conditions *on)
{
    larder_image_plan plan;
    larder_image_refusal refusal;
    ZVAL_DEREF(value);
    if (!larder_image_measure(&plan, value, &refusal)) {
        refuse_value(name, &refusal);
        return false;
    }
    bool stored = store_plan(pool, key, &plan, on);
    larder_image_discard(&plan);
    return stored;
}

bool larder_read_tags_of(larder_terms *terms, const shared_memory *self, zend_array *tags, uint32_t argument,
                         uint64_t own[LARDER_TAGS_ON_STACK])
{
    uint32_t given = tags == NULL ? 0 : zend_hash_num_elements(tags);
    terms->tags = self->tags;
    terms->tags_count = self->tags_count;
    if (given == 0) {
        return true;
    }
    uint64_t *all = larder_read_tags(tags, argument, LARDER_TAGS_MAX, self->tags_count, own);
    if (all == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < self->tags_count; i++) {
        all[given + i] = self->tags[i];
    }
    terms->tags = all;
    terms->tags_count += given;
    return true;
}

bool larder_read_conditions(larder_conditions *on, const shared_memory *self, enum larder_mode mode,
                            larder_lifetime lifetime, zend_array *tags, uint32_t argument,
                            uint64_t own[LARDER_TAGS_ON_STACK])
{
    *on = (larder_conditions){.lifetime = lifetime, .terms = {.mode = mode, .expiry = lifetime.expiry}};
    return larder_read_tags_of(&on->terms, self, tags, argument, own);
}

uint32_t larder_cost_of(double seconds)
{
    return seconds > 0 ? (uint32_t)MIN(seconds * 1e6, (double)UINT32_MAX) : 0;
}

/* What no value can be made of is a miss, and hinders nothing. Before the value is measured, as code may be run. */
static void look_past_the_unreadable(larder_conditions *on, larder_pool *pool, const larder_key *key)
{
    uint32_t attachment = 0;
    on->terms.expected = larder_unreadable(pool, key, &attachment);
    if (on->terms.expected != 0 && on->terms.verb == LARDER_AS_MISSED) {
        on->terms.attachment =
            attachment; /* one that is judged has that of its token, and is refused if it is another */
    }
}

/* Says what a store is to leave that the pool refuses, by PHP's `?bool $keep`: null is `by_pool`, false is nothing. */
static enum larder_leaving leaving(bool keep, bool by_pool)
{
    return by_pool ? LARDER_LEAVES_BY_POOL : keep ? LARDER_LEAVES_OLD : LARDER_LEAVES_NOTHING;
}

/* A negative version: the value was made from nothing. */
static void make_of(larder_conditions *on, zend_long version)
{
    on->terms.made_of = version < 0 ? LARDER_OF_NOTHING : (uint64_t)version;
    if (version < 0) {
        on->terms.mode = LARDER_ADD;
    }
}

static void store_one(INTERNAL_FUNCTION_PARAMETERS, enum larder_mode mode)
{
    zend_string *name;
    zval *value;
    zend_long ttl = 0;
    bool forever = true, keep = false, by_pool = true;
    zend_array *tags = NULL;
    zend_object *token = NULL;
    zend_long version = 0;
    bool is_of_any = true;
    larder_full_key full;
    larder_conditions on;
    uint64_t own[LARDER_TAGS_ON_STACK];
    ZEND_PARSE_PARAMETERS_START(2, mode == LARDER_ADD ? 5 : mode == LARDER_REPLACE ? 6 : 7)
    Z_PARAM_STR(name)
    Z_PARAM_ZVAL(value)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(ttl, forever)
    Z_PARAM_ARRAY_HT(tags)
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(token, larder_token_class)
    Z_PARAM_BOOL_OR_NULL(keep, by_pool)
    Z_PARAM_LONG_OR_NULL(version, is_of_any)
    ZEND_PARSE_PARAMETERS_END();
    if (!is_of_any && token == NULL) {
        zend_argument_value_error(7,
                                  "must be null without a token; take one before you read what the value is made from");
        RETURN_THROWS();
    }
    const shared_memory *self = THIS();
    larder_pool *pool = self->pool;
    if (!larder_make_key(&full, self, name, 1)) {
        RETURN_THROWS();
    }
    larder_lifetime lifetime = larder_lifetime_of(pool, ttl, ZEND_NUM_ARGS() < 3 || forever);
    if (larder_read_conditions(&on, self, mode, lifetime, tags, 4, own)) {
        on.terms.leaves = leaving(keep, by_pool);
        if (token != NULL) {
            judge_by(&on, pool, token, LARDER_JUDGED);
            if (!is_of_any) {
                make_of(&on, version);
            }
        }
        if (on.terms.mode == LARDER_ADD) {
            look_past_the_unreadable(&on, pool, &full.key);
        }
        RETVAL_BOOL(!EG(exception) && larder_store_value(pool, name, &full.key, value, &on));
        larder_discard_tags(self, &on.terms, own);
    }
    larder_discard_key(&full);
}

/* ---- storing ------------------------------------------------------------------------------------------- */

ZEND_METHOD(Larder_SharedMemory, set)
{
    store_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, LARDER_SET);
}

ZEND_METHOD(Larder_SharedMemory, add)
{
    store_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, LARDER_ADD);
}

ZEND_METHOD(Larder_SharedMemory, replace)
{
    store_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, LARDER_REPLACE);
}

/* One of many that are stored together, or not at all. */
typedef struct one_of_many {
    zend_string *name;
    larder_full_key full;
    zval value; /* held */
    larder_image_plan plan;
} one_of_many;

/* Names and holds them. The number of those that have a key; an exception is pending if these are not all. */
static uint32_t take_many(const shared_memory *self, zend_array *values, one_of_many *many)
{
    uint32_t count = 0;
    zend_ulong number;
    zend_string *name;
    zval *value;
    ZEND_HASH_FOREACH_KEY_VAL(values, number, name, value)
    {
        one_of_many *one = &many[count];
        one->name = name != NULL ? zend_string_copy(name) : zend_long_to_str((zend_long)number);
        if (!larder_make_key(&one->full, self, one->name, 1)) {
            zend_string_release(one->name);
            break;
        }
        ZVAL_COPY_DEREF(&one->value, value);
        count++;
    }
    ZEND_HASH_FOREACH_END();
    return count;
}

/* The number of those that were measured; an exception is pending if these are not all. All are held by then: a value
 * may be inside another. Held only after that one is measured, it would look like one that is met twice. */
static uint32_t measure_many(one_of_many *many, uint32_t count, bool *any_asked)
{
    for (uint32_t i = 0; i < count; i++) {
        larder_image_refusal refusal;
        if (!larder_image_measure(&many[i].plan, &many[i].value, &refusal)) {
            refuse_value(many[i].name, &refusal);
            return i;
        }
        *any_asked |= many[i].plan.answers != NULL;
    }
    return count;
}

/* Objects in one value may have changed others when they were asked for their state. */
static bool measure_many_again(one_of_many *many, uint32_t count)
{
    larder_image_refusal refusal;
    for (uint32_t i = 0; i < count; i++) {
        if (!larder_image_measure_again(&many[i].plan, &refusal)) {
            refuse_value(many[i].name, &refusal);
            return false;
        }
    }
    return true;
}

/* Lists the keys of those that were refused. */
static void store_many(const shared_memory *self, zend_array *values, const larder_conditions *on, zval *refused)
{
    one_of_many *many = safe_emalloc(zend_hash_num_elements(values), sizeof *many, 0);
    bool any_asked = false;
    uint32_t count = take_many(self, values, many);
    uint32_t measured = EG(exception) ? 0 : measure_many(many, count, &any_asked);
    if (!EG(exception) && (!any_asked || count < 2 || measure_many_again(many, count))) {
        for (uint32_t i = 0; i < count; i++) {
            if (!store_plan(self->pool, &many[i].full.key, &many[i].plan, on) && !EG(exception)) {
                add_next_index_str(refused, zend_string_copy(many[i].name));
            }
            if (EG(exception)) {
                break;
            }
        }
    }
    for (uint32_t i = 0; i < measured; i++) {
        larder_image_discard(&many[i].plan);
    }
    for (uint32_t i = 0; i < count; i++) {
        zval_ptr_dtor(&many[i].value);
        larder_discard_key(&many[i].full);
        zend_string_release(many[i].name);
    }
    efree(many);
}

ZEND_METHOD(Larder_SharedMemory, setMany)
{
    zend_array *values;
    zend_long ttl = 0;
    bool forever = true, keep = false, by_pool = true;
    zend_array *tags = NULL;
    zend_object *token = NULL;
    larder_conditions on;
    uint64_t own[LARDER_TAGS_ON_STACK];
    ZEND_PARSE_PARAMETERS_START(1, 5)
    Z_PARAM_ARRAY_HT(values)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(ttl, forever)
    Z_PARAM_ARRAY_HT(tags)
    Z_PARAM_OBJ_OF_CLASS_OR_NULL(token, larder_token_class)
    Z_PARAM_BOOL_OR_NULL(keep, by_pool)
    ZEND_PARSE_PARAMETERS_END();
    const shared_memory *self = THIS();
    larder_pool *pool = self->pool;
    larder_lifetime lifetime = larder_lifetime_of(pool, ttl, ZEND_NUM_ARGS() < 2 || forever);
    if (!larder_read_conditions(&on, self, LARDER_SET, lifetime, tags, 3, own)) {
        RETURN_THROWS();
    }
    on.terms.leaves = leaving(keep, by_pool);
    if (token != NULL) {
        judge_by(&on, pool, token, LARDER_JUDGED);
    }
    array_init(return_value);
    store_many(self, values, &on, return_value);
    larder_discard_tags(self, &on.terms, own);
}

ZEND_METHOD(Larder_SharedMemory, fill)
{
    zend_string *name;
    zval *value;
    zend_object *token;
    zend_long ttl = 0;
    bool forever = true;
    zend_array *tags = NULL;
    double cost = 0;
    larder_full_key full;
    larder_conditions on;
    uint64_t own[LARDER_TAGS_ON_STACK];
    ZEND_PARSE_PARAMETERS_START(3, 6)
    Z_PARAM_STR(name)
    Z_PARAM_ZVAL(value)
    Z_PARAM_OBJ_OF_CLASS(token, larder_token_class)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(ttl, forever)
    Z_PARAM_ARRAY_HT(tags)
    Z_PARAM_DOUBLE(cost)
    ZEND_PARSE_PARAMETERS_END();
    const shared_memory *self = THIS();
    larder_pool *pool = self->pool;
    if (!larder_make_key(&full, self, name, 1)) {
        RETURN_THROWS();
    }
    larder_lifetime lifetime = larder_lifetime_of(pool, ttl, ZEND_NUM_ARGS() < 4 || forever);
    if (larder_read_conditions(&on, self, LARDER_SET, lifetime, tags, 5, own)) {
        judge_by(&on, pool, token, LARDER_FILL);
        on.terms.cost = larder_cost_of(cost);
        RETVAL_BOOL(larder_store_value(pool, name, &full.key, value, &on));
        larder_discard_tags(self, &on.terms, own);
    }
    larder_discard_key(&full);
}
