/* Walks through a value, depth first and in the order in which PHP's serialize() would, and asks the objects on the
 * way.
 *
 * The user's code may change the value meanwhile. So the walk holds whatever it is in (PHP copies an array that is
 * held elsewhere before it writes to it, and looks at an object's properties anew each time), and nothing that is
 * found here is relied on but the answers: the survey, during which nothing runs, starts from the value again.
 *
 * An object is asked when the walk meets it, and has its turn (to be woken, when the value is read) when all that it
 * told was walked through. No recursion, whatever holds whatever.
 */
#include "ask.h"
#include "found.h"
#include "refusal.h"
#include "tell.h"

#define NO_ANSWER        UINT32_MAX
#define ANSWERS_AT_FIRST 8

/* Something that the walk is in the middle of. */
struct place {
    zval holder; /* held: an array or an object */
    uint32_t position;
    uint32_t answer; /* the next after this; NO_ANSWER: none */
};

struct walk {
    struct larder_answers *answers;
    larder_image_refusal *refusal;
    struct place *places;
    uint32_t depth;
    uint32_t capacity;
    struct larder_seen seen; /* arrays, objects and references */
};

void larder_answers_init(struct larder_answers *answers)
{
    memset(answers, 0, offsetof(struct larder_answers, places));
    answers->capacity = ANSWERS_AT_FIRST;
    answers->list = safe_emalloc(answers->capacity, sizeof(*answers->list), 0);
    larder_seen_init(&answers->places, false);
}

void larder_answers_free(struct larder_answers *answers)
{
    for (uint32_t i = 0; i < answers->count; i++) {
        zval_ptr_dtor(&answers->list[i].told);
        OBJ_RELEASE(answers->list[i].object);
    }
    efree(answers->list);
    larder_seen_free(&answers->places);
}

static uint32_t add_answer(struct larder_answers *answers, zend_object *object, enum larder_form form)
{
    uint32_t place = answers->count++;

    if (place == answers->capacity) {
        answers->capacity *= 2;
        answers->list = safe_erealloc(answers->list, answers->capacity, sizeof(*answers->list), 0);
    }
    GC_ADDREF(object);
    answers->list[place] = (struct larder_answer){.object = object, .form = form, .turn = NO_ANSWER};
    larder_seen_place(&answers->places, object, place);
    return place;
}

static void enter(struct walk *walk, zval *holder, uint32_t answer)
{
    if (walk->depth == walk->capacity) {
        walk->capacity = walk->capacity ? walk->capacity * 2 : 16;
        walk->places = safe_erealloc(walk->places, walk->capacity, sizeof(*walk->places), 0);
    }
    struct place *place = &walk->places[walk->depth++];
    *place = (struct place){.answer = answer};
    ZVAL_COPY(&place->holder, holder);
}

static void leave(struct walk *walk)
{
    struct place *place = &walk->places[--walk->depth];

    if (place->answer != NO_ANSWER && walk->answers->list[place->answer].turn == NO_ANSWER) {
        walk->answers->list[place->answer].turn = walk->answers->turns++;
    }
    /* May run a destructor, if the user's code has let go of it meanwhile. */
    zval holder = place->holder;
    zval_ptr_dtor(&holder);
}

static bool is_new(struct walk *walk, const void *thing)
{
    uint32_t count = walk->seen.count;
    larder_seen_place(&walk->seen, thing, 0);
    return walk->seen.count != count;
}

static void refuse(struct walk *walk, const char *reason)
{
    uint32_t count = 0;
    struct larder_step *steps = safe_emalloc(walk->depth + 1, sizeof(*steps), 0);

    for (uint32_t i = 0; i < walk->depth; i++) {
        const struct place *place = &walk->places[i];
        struct larder_step step = {.position = place->position - 1, .holder = Z_PTR(place->holder)};
        if (Z_TYPE(place->holder) == IS_ARRAY && place->answer != NO_ANSWER) {
            step.teller = walk->answers->list[place->answer].object->ce;
            step.type = larder_step_into_told(step.teller);
        } else if (Z_TYPE(place->holder) == IS_OBJECT) {
            zend_object *object = Z_OBJ(place->holder);
            uint32_t slots = (uint32_t)object->ce->default_properties_count;
            step.type = LARDER_STEP_SLOT;
            if (step.position >= slots) {
                step.type = LARDER_STEP_NAME;
                step.holder = object->properties;
                step.position -= slots;
            }
        }
        steps[count++] = step;
    }
    larder_refuse_answer(walk->refusal, steps, count, reason);
    efree(steps);
}

static uint32_t answer_of(struct walk *walk, const zend_object *object)
{
    const struct larder_seen_entry *entry = larder_seen_slot(&walk->answers->places, object);
    return entry->key ? (uint32_t)entry->place : NO_ANSWER;
}

static bool meet_teller(struct walk *walk, zend_object *object, enum larder_form form)
{
    uint32_t answer = answer_of(walk, object);

    if (answer == NO_ANSWER) {
        const char *reason = NULL;
        zval told;
        answer = add_answer(walk->answers, object, form);
        ZVAL_UNDEF(&told);
        if (!larder_ask_object(&told, object, form, &reason)) {
            refuse(walk, reason);
            return false;
        }
        walk->answers->list[answer].told = told;
    }
    struct larder_answer *known = &walk->answers->list[answer];
    if (Z_TYPE(known->told) == IS_ARRAY) {
        enter(walk, &known->told, answer);
    } else if (known->turn == NO_ANSWER) {
        known->turn = walk->answers->turns++;
    }
    return true;
}

static bool meet_object(struct walk *walk, zval *value)
{
    zend_object *object = Z_OBJ_P(value);

    if ((object->ce->ce_flags & ZEND_ACC_ENUM) || !is_new(walk, object)) {
        return true;
    }
    const struct larder_class *class = larder_class_of(object->ce);
    enum larder_form form = larder_form_of(object, class);
    if (form == LARDER_FORM_DATE) {
        return true;
    }
    if (form == LARDER_FORM_NONE) {
        return true; /* the survey says so, with more words */
    }
    if (form != LARDER_FORM_SLOTS) {
        return meet_teller(walk, object, form);
    }
    uint32_t answer = NO_ANSWER;
    if (class->wakes) {
        answer = answer_of(walk, object);
        if (answer == NO_ANSWER) {
            answer = add_answer(walk->answers, object, form);
        }
    }
    enter(walk, value, answer);
    return true;
}

static bool meet(struct walk *walk, zval *value)
{
    if (Z_ISREF_P(value)) {
        if (GC_REFCOUNT(Z_REF_P(value)) > 1 && !is_new(walk, Z_REF_P(value))) {
            return true;
        }
        value = Z_REFVAL_P(value);
    }
    if (Z_TYPE_P(value) == IS_OBJECT) {
        return meet_object(walk, value);
    }
    /* PHP's own immutable arrays have no objects in them. */
    if (Z_TYPE_P(value) == IS_ARRAY && !(GC_FLAGS(Z_ARR_P(value)) & GC_IMMUTABLE) &&
        (!larder_may_be_shared(&Z_ARR_P(value)->gc) || is_new(walk, Z_ARR_P(value)))) {
        enter(walk, value, NO_ANSWER);
    }
    return true;
}

/* `dynamic`: of a table of an object's properties, those that have no slot. A hole is as good as null here. */
static zval *part_at(zend_array *table, uint32_t position, bool dynamic)
{
    zval *element = HT_IS_PACKED(table) ? &table->arPacked[position] : &table->arData[position].val;
    zval *value = larder_live_value(element, dynamic);
    return value ? value : &EG(uninitialized_zval);
}

/* The next part of what the walk is in; NULL at its end. */
static zval *next_part(struct place *place)
{
    if (Z_TYPE(place->holder) == IS_ARRAY) {
        zend_array *table = Z_ARR(place->holder);
        return place->position < table->nNumUsed ? part_at(table, place->position++, false) : NULL;
    }
    zend_object *object = Z_OBJ(place->holder);
    uint32_t slots = (uint32_t)object->ce->default_properties_count;
    if (place->position < slots) {
        return OBJ_PROP_NUM(object, place->position++);
    }
    if (!object->properties || place->position - slots >= object->properties->nNumUsed) {
        return NULL;
    }
    return part_at(object->properties, place->position++ - slots, true);
}

bool larder_ask(struct larder_answers *answers, zval *value, larder_image_refusal *refusal)
{
    struct walk walk = {.answers = answers, .refusal = refusal};
    bool done;

    larder_seen_init(&walk.seen, false);
    done = meet(&walk, value);
    while (done && walk.depth) {
        zval *part = next_part(&walk.places[walk.depth - 1]);
        if (part) {
            done = meet(&walk, part);
        } else {
            leave(&walk);
            done = !EG(exception);
        }
    }
    while (walk.depth) {
        zval_ptr_dtor(&walk.places[--walk.depth].holder);
    }
    if (walk.places) {
        efree(walk.places);
    }
    larder_seen_free(&walk.seen);
    if (EG(exception) && !refusal->message) {
        larder_refuse_answer(refusal, NULL, 0, NULL); /* a destructor has thrown it */
    }
    return done;
}
