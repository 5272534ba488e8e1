/* Asking objects what they are to be made of again, where they decide that themselves: __serialize(), __sleep(), the
 * initialiser of a lazy object, and so on. Only this runs user code on the way into the pool, and it asks each object
 * once: that answer is looked through and stored afterwards.
 */
#ifndef LARDER_ASK_H
#define LARDER_ASK_H

#include "class.h"
#include "image.h"
#include "seen.h"

struct larder_answer {
    zend_object *object;   /* held, so that no other object comes to lie at its address */
    zval told;             /* an array or a string; undefined if all that is to know of it is its turn */
    uint32_t turn;         /* from the inside to the outside, as PHP's unserialize() wakes objects */
    enum larder_form form; /* of what was told */
};

struct larder_answers {
    struct larder_answer *list;
    uint32_t count;
    uint32_t capacity;
    uint32_t turns;
    struct larder_seen places; /* in the list, by object */
};

void larder_answers_init(struct larder_answers *answers);
void larder_answers_free(struct larder_answers *answers);

/* Asks all objects in the value that were not asked before. False with a refusal, or an exception pending. */
bool larder_ask(struct larder_answers *answers, zval *value, larder_image_refusal *refusal);

static inline const struct larder_answer *larder_answer_of(struct larder_answers *answers, const zend_object *object)
{
    const struct larder_seen_entry *entry = answers ? larder_seen_slot(&answers->places, object) : NULL;
    return entry && entry->key ? &answers->list[entry->place] : NULL;
}

#endif
