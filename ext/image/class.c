/* Classes as images see them.
 *
 * An image holds the properties of an object in the order of its class's slots, so it may be read only with a
 * class of the very same layout. Hashing a layout takes a microsecond or so and is done once per class and
 * request; the table that remembers it is direct-mapped, because a class that falls out costs no more than
 * that again. It does not outlive the request: user classes do not, and their addresses are used again.
 */
#include "class.h"
#include "image.h"

#define LARDER_CLASSES 256 /* a power of two */

#ifdef ZTS
static TSRM_TLS struct larder_class known[LARDER_CLASSES];
static TSRM_TLS bool known_any;
#else
static struct larder_class known[LARDER_CLASSES];
static bool known_any;
#endif

void larder_image_request_start(void)
{
    if (known_any) {
        memset(known, 0, sizeof(known));
        known_any = false;
    }
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static uint64_t mix_string(uint64_t hash, zend_string *string)
{
    return mix(hash, zend_string_hash_val(string));
}

/* Lists nest one deep at most (a union of intersections), so this does too. */
static uint64_t mix_type(uint64_t hash, zend_type type)
{
    zend_type *member;

    hash = mix(hash, ZEND_TYPE_PURE_MASK(type));
    hash = mix(hash, ZEND_TYPE_IS_INTERSECTION(type));
    if (!ZEND_TYPE_HAS_LIST(type)) {
        return ZEND_TYPE_HAS_NAME(type) ? mix_string(hash, ZEND_TYPE_NAME(type)) : hash;
    }
    ZEND_TYPE_LIST_FOREACH(ZEND_TYPE_LIST(type), member)
    {
        hash = mix_type(hash, *member);
    }
    ZEND_TYPE_LIST_FOREACH_END();
    return hash;
}

static uint64_t layout_of(zend_class_entry *entry)
{
    uint32_t flags = ZEND_ACC_PPP_MASK | ZEND_ACC_READONLY;
#ifdef ZEND_ACC_PPP_SET_MASK
    flags |= ZEND_ACC_PPP_SET_MASK;
#endif
    uint64_t hash = mix((uint64_t)entry->default_properties_count,
                        entry->ce_flags & (ZEND_ACC_NO_DYNAMIC_PROPERTIES | ZEND_ACC_READONLY_CLASS));

    for (zend_class_entry *class = entry; class; class = class->parent) {
        hash = mix_string(hash, class->name);
    }
    for (int i = 0; i < entry->default_properties_count; i++) {
        zend_property_info *property = entry->properties_info_table[i];
        /* A slot that only an inherited and redeclared property had is nobody's. */
        if (property) {
            hash = mix_string(hash, property->name);
            hash = mix(hash, property->flags & flags);
            hash = mix_type(hash, property->type);
        }
    }
    return hash ? hash : 1;
}

static bool has_magic(zend_class_entry *entry)
{
    return entry->serialize || entry->unserialize || entry->__serialize || entry->__unserialize ||
           zend_hash_find_known_hash(&entry->function_table, ZSTR_KNOWN(ZEND_STR_SLEEP)) ||
           zend_hash_find_known_hash(&entry->function_table, ZSTR_KNOWN(ZEND_STR_WAKEUP));
}

static bool is_plain(zend_class_entry *entry)
{
    const uint32_t never = ZEND_ACC_NOT_SERIALIZABLE | ZEND_ACC_ANON_CLASS | ZEND_ACC_ENUM | ZEND_ACC_INTERFACE |
                           ZEND_ACC_TRAIT | ZEND_ACC_EXPLICIT_ABSTRACT_CLASS | ZEND_ACC_IMPLICIT_ABSTRACT_CLASS;

    if ((entry->ce_flags & never) || entry->create_object || has_magic(entry)) {
        return false;
    }
#if PHP_VERSION_ID >= 80300
    if (entry->default_object_handlers != &std_object_handlers) {
        return false;
    }
#endif
#if PHP_VERSION_ID >= 80400
    /* Which of them have a slot, and what else hooks will keep, is PHP's business. */
    if (entry->num_hooked_props) {
        return false;
    }
#endif
    for (zend_class_entry *class = entry; class; class = class->parent) {
        if (class->type != ZEND_USER_CLASS && class != zend_standard_class_def) {
            return false;
        }
    }
    return true;
}

static struct larder_class *slot_of(zend_string *name)
{
    return &known[zend_string_hash_val(name) & (LARDER_CLASSES - 1)];
}

const struct larder_class *larder_class_of(zend_class_entry *entry)
{
    struct larder_class *class = slot_of(entry->name);
    if (class->entry != entry) {
        class->entry = entry;
        class->plain = is_plain(entry);
        class->layout = class->plain ? layout_of(entry) : 1;
        known_any = true;
    }
    return class;
}

const struct larder_class *larder_class_named(zend_string *name)
{
    struct larder_class *class = slot_of(name);
    if (class->entry && zend_string_equals(class->entry->name, name)) {
        return class;
    }
    /* Whoever autoloads may keep the name (an error message, a list of what was loaded): give it its own. */
    zend_string *copy = zend_string_init(ZSTR_VAL(name), ZSTR_LEN(name), false);
    zend_class_entry *entry = zend_lookup_class(copy);
    zend_string_release(copy);
    return entry && !EG(exception) ? larder_class_of(entry) : NULL;
}

bool larder_object_is_ordinary(zend_object *object)
{
#if PHP_VERSION_ID >= 80400
    if (zend_object_is_lazy(object)) {
        return false;
    }
#endif
    return object->handlers == &std_object_handlers;
}
