/* Classes as images see them.
 *
 * An image holds the properties of an object in the order of its class's slots, so it may be read only with a
 * class of the very same layout. Hashing a layout takes a microsecond or so and is done once per class and
 * request; the table that remembers it is direct-mapped, because a class that falls out costs no more than
 * that again. It does not outlive the request: user classes do not, and their addresses are used again.
 */
#include "class.h"
#include "date.h"
#include "image.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

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
    larder_date_request_start();
}

const zend_class_entry *larder_class_of_phps_own(const zend_class_entry *entry)
{
    while (entry && entry->type != ZEND_INTERNAL_CLASS) {
        entry = entry->parent;
    }
    return entry;
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
    const zend_type *member;

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

static uint64_t layout_of_properties(const struct larder_class *described)
{
    zend_class_entry *entry = described->entry;
    uint32_t flags = ZEND_ACC_PPP_MASK | ZEND_ACC_READONLY;
#ifdef ZEND_ACC_PPP_SET_MASK
    flags |= ZEND_ACC_PPP_SET_MASK;
#endif
    uint64_t hash = mix((uint64_t)entry->default_properties_count,
                        entry->ce_flags & (ZEND_ACC_NO_DYNAMIC_PROPERTIES | ZEND_ACC_READONLY_CLASS));

    hash = mix(hash, described->form * 2 + described->wakes);

    for (zend_class_entry *class = entry; class; class = class->parent) {
        hash = mix_string(hash, class->name);
    }
    for (int i = 0; i < entry->default_properties_count; i++) {
        zend_property_info *property = entry->properties_info_table[i];
        /* A slot that only an inherited and redeclared property had is unused. */
        if (property) {
            hash = mix_string(hash, property->name);
            hash = mix(hash, property->flags & flags);
            hash = mix_type(hash, property->type);
        }
    }
    return hash > LARDER_LAYOUT_OF_DATE ? hash : hash + LARDER_LAYOUT_OF_DATE + 1;
}

static uint64_t layout_of(const struct larder_class *class)
{
    if (class->entry->ce_flags & ZEND_ACC_ENUM) {
        return LARDER_LAYOUT_OF_ENUM;
    }
    switch (class->form) {
    case LARDER_FORM_STATE:
        return LARDER_LAYOUT_OF_STATE;
    case LARDER_FORM_TEXT:
        return LARDER_LAYOUT_OF_TEXT;
    case LARDER_FORM_DATE:
        return LARDER_LAYOUT_OF_DATE;
    default:
        return layout_of_properties(class);
    }
}

/* Classes of PHP and of its extensions that are nothing but their properties. The library has the same list, in
 * src/Serializer/Kind.php, and judges alike: what one store refuses, every store does. */
static bool is_plain(const zend_class_entry *entry)
{
    static const char *const plain[] = {
        "AllowDynamicProperties",
        "AMQPBasicProperties",
        "AMQPDecimal",
        "AMQPEnvelope",
        "AMQPTimestamp",
        "ast\\Metadata",
        "ast\\Node",
        "Attribute",
        "CURLStringFile",
        "Deprecated",
        "EmptyIterator",
        "http\\Env\\Url",
        "http\\Url",
        "Larder\\Token",
        "LibXMLError",
        "MaxMind\\Db\\Reader\\Metadata",
        "NoDiscard",
        "Override",
        "PhpToken",
        "PsrExt\\Log\\AbstractLogger",
        "PsrExt\\Log\\LogLevel",
        "PsrExt\\Log\\NullLogger",
        "ReturnTypeWillChange",
        "SensitiveParameter",
        "SoapHeader",
        "SoapParam",
        "SoapVar",
        "stdClass",
        "StompFrame",
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (zend_string_equals_cstr(entry->name, plain[i], strlen(plain[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_users_method(const zend_class_entry *entry, const char *name)
{
    const zend_function *method = zend_hash_str_find_ptr(&entry->function_table, name, strlen(name));
    return method && method->type == ZEND_USER_FUNCTION;
}

/* Objects of PHP's own classes, and of those that extend them, may have a state besides their properties: they are
 * stored if their class says how they are made again, or is known to have none. */
static bool is_given_back(const zend_class_entry *entry)
{
    const zend_class_entry *base = larder_class_of_phps_own(entry);

    return !base || base->__unserialize || is_plain(base) || instanceof_function(base, zend_ce_throwable) ||
           (base != entry && (is_users_method(entry, "__unserialize") || is_users_method(entry, "__wakeup") ||
                              (entry->unserialize && is_users_method(entry, "unserialize"))));
}

/* An object that can be made again must be made of what PHP's serialiser would make it of, in the same order of
 * precedence. */
static enum larder_form form_of(zend_class_entry *entry)
{
    const uint32_t never = ZEND_ACC_NOT_SERIALIZABLE | ZEND_ACC_ANON_CLASS | ZEND_ACC_ENUM | ZEND_ACC_INTERFACE |
                           ZEND_ACC_TRAIT | ZEND_ACC_EXPLICIT_ABSTRACT_CLASS | ZEND_ACC_IMPLICIT_ABSTRACT_CLASS;

    if ((entry->ce_flags & never) || !is_given_back(entry)) {
        return LARDER_FORM_NONE;
    }
    if (entry->serialize && !entry->__serialize) {
        /* An extension's own way would have to be told whose other values it may refer to. */
        return entry->serialize == zend_user_serialize ? LARDER_FORM_TEXT : LARDER_FORM_NONE;
    }
    if (entry->__unserialize) {
        return larder_date_type_of(entry, larder_class_of_phps_own(entry)) != LARDER_DATE_NONE ? LARDER_FORM_DATE
                                                                                               : LARDER_FORM_STATE;
    }
    if (entry->serialize) {
        return LARDER_FORM_NONE;
    }
    if (entry->__serialize || entry->create_object || larder_method(entry, ZEND_STR_SLEEP)) {
        return LARDER_FORM_PROPERTIES;
    }
    return LARDER_FORM_SLOTS;
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
        class->form = form_of(entry);
        class->date = class->form == LARDER_FORM_DATE
                          ? (uint8_t)larder_date_type_of(entry, larder_class_of_phps_own(entry))
                          : LARDER_DATE_NONE;
        class->wakes = class->form < LARDER_FORM_STATE && larder_method(entry, ZEND_STR_WAKEUP);
        class->layout = layout_of(class);
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
    /* An autoloader may keep the name (an error message, a list of what was loaded): give it its own. */
    zend_string *copy = zend_string_init(ZSTR_VAL(name), ZSTR_LEN(name), false);
    zend_class_entry *entry = zend_lookup_class(copy);
    zend_string_release(copy);
    return entry && !EG(exception) ? larder_class_of(entry) : NULL;
}

enum larder_form larder_form_of(zend_object *object, const struct larder_class *class)
{
    if (class->form == LARDER_FORM_DATE) {
        return larder_date_is_as_unserialised(object, class->date) ? LARDER_FORM_DATE : LARDER_FORM_STATE;
    }
    bool is_ordinary = object->handlers == &std_object_handlers;

#if PHP_VERSION_ID >= 80400
    is_ordinary = is_ordinary && !zend_object_is_lazy(object);
#endif
    return class->form == LARDER_FORM_SLOTS && !is_ordinary ? LARDER_FORM_PROPERTIES : class->form;
}
