/* The last step of making a value anew: objects are given what they told, or woken. Runs user code. */
#ifndef LARDER_WAKE_H
#define LARDER_WAKE_H

#include "class.h"

struct larder_turn {
    zend_object *object; /* held */
    zval told;           /* held */
    enum larder_form form;
};

/* Lets each have its turn, and goes of all. False as soon as one fails: an exception is pending, and no destructor is
 * called of those that never came to be. */
bool larder_take_turns(struct larder_turn *turns, uint32_t count);

/* One that will have no turn. */
void larder_give_up_turn(struct larder_turn *turn);

#endif
