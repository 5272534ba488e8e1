#include "date.h"

#include "ext/date/php_date.h"
#include "zend_exceptions.h"

#define MODELS 16 /* a power of two */

/* What unserialize() makes of a date in this zone, but for the date. */
struct model {
    char zone[LARDER_ZONE_LENGTH];
    char abbreviation[LARDER_ABBREVIATION_LENGTH];
    uint8_t zone_type; /* 0: free */
    bool has_abbreviation;
    uint64_t rules;
    timelib_time time; /* its abbreviation has no owner */
};

#ifdef ZTS
static TSRM_TLS struct model models[MODELS];
static TSRM_TLS struct {
    bool known;
    int civil_or_wall;
    timelib_rel_time time;
} model_of_intervals;
static TSRM_TLS bool knows_any;
#else
static struct model models[MODELS];
static struct {
    bool known;
    int civil_or_wall;
    timelib_rel_time time;
} model_of_intervals;
static bool knows_any;
#endif

void larder_date_request_start(void)
{
    if (knows_any) {
        for (size_t i = 0; i < MODELS; i++) {
            models[i].zone_type = 0;
        }
        model_of_intervals.known = false;
        knows_any = false;
    }
}

enum larder_date_type larder_date_type_of(const zend_class_entry *entry, const zend_class_entry *base)
{
    enum larder_date_type type = LARDER_DATE_NONE;

    if (!base || entry->default_properties_count > 0 || entry->__serialize != base->__serialize ||
        entry->__unserialize != base->__unserialize || entry->create_object != base->create_object) {
        return LARDER_DATE_NONE;
    }
    if (base == php_date_get_date_ce() || base == php_date_get_immutable_ce()) {
        type = LARDER_DATE_TIME;
    } else if (base == php_date_get_timezone_ce()) {
        type = LARDER_DATE_ZONE;
    } else if (base == php_date_get_interval_ce()) {
        type = LARDER_DATE_INTERVAL;
    }
    return type;
}

/* A call of PHP's own method that runs nothing else. zend_call_function() looks for signals afterwards, whose handlers
 * may change the value that is being looked at, or end the request. They have their turn when our caller returns. */
static void call_alone(zend_function *method, zend_object *object, zval *argument)
{
    zval returned;
    zend_execute_data *call =
        zend_vm_stack_push_call_frame(ZEND_CALL_NESTED_FUNCTION | ZEND_CALL_HAS_THIS, method, 1, object);

    ZVAL_COPY(ZEND_CALL_ARG(call, 1), argument);
    ZVAL_NULL(&returned);
    call->prev_execute_data = EG(current_execute_data);
    EG(current_execute_data) = call;
    method->internal_function.handler(call, &returned);
    EG(current_execute_data) = call->prev_execute_data;
    zend_vm_stack_free_args(call);
    zend_vm_stack_free_call_frame(call);
    zval_ptr_dtor(&returned);
}

/* What PHP makes of the state; undefined if it refuses. */
static void unserialise(zval *result, zend_class_entry *entry, zval *state)
{
    if (object_init_ex(result, entry) != SUCCESS) {
        ZVAL_UNDEF(result);
        return;
    }
    call_alone(entry->__unserialize, Z_OBJ_P(result), state);
    if (EG(exception)) {
        zend_clear_exception();
        zval_ptr_dtor(result);
        ZVAL_UNDEF(result);
    }
}

/* When clocks were changed there, and to what. */
static uint64_t rules_of(const timelib_tzinfo *zone)
{
    uint64_t hash = zone->bit64.timecnt;

    for (uint64_t i = 0; i < zone->bit64.timecnt; i++) {
        uint64_t rule = (uint64_t)zone->trans[i] ^ (uint64_t)zone->trans_idx[i] << 48;
        hash += (rule ^ (i * UINT64_C(0xD6E8FEB86659FD93))) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= rule >> 7;
    }
    for (uint64_t i = 0; i < zone->bit64.charcnt; i++) {
        hash = (hash ^ (uint8_t)zone->timezone_abbr[i]) * UINT64_C(0x100000001B3);
    }
    for (const char *rule = zone->posix_string; rule && *rule; rule++) {
        hash = (hash ^ (uint8_t)*rule) * UINT64_C(0x100000001B3);
    }
    return hash;
}

static bool make_model(struct model *model, uint8_t zone_type, const char *zone)
{
    zval state, object;

    array_init_size(&state, 3);
    add_assoc_string(&state, "date", "2000-01-01 00:00:00.000000");
    add_assoc_long(&state, "timezone_type", zone_type);
    add_assoc_string(&state, "timezone", zone_type == TIMELIB_ZONETYPE_OFFSET ? "+00:00" : zone);
    unserialise(&object, php_date_get_immutable_ce(), &state);
    zval_ptr_dtor(&state);
    if (Z_ISUNDEF(object)) {
        return false;
    }
    const timelib_time *time = Z_PHPDATE_P(&object)->time;
    const char *abbreviation = time->tz_abbr ? time->tz_abbr : "";
    bool fits = time->zone_type == zone_type && strlen(abbreviation) < LARDER_ABBREVIATION_LENGTH;
    if (fits) {
        knows_any = true;
        model->time = *time;
        model->time.tz_abbr = NULL;
        model->has_abbreviation = time->tz_abbr != NULL;
        snprintf(model->zone, sizeof(model->zone), "%s", zone);
        snprintf(model->abbreviation, sizeof(model->abbreviation), "%s", abbreviation);
        model->rules = zone_type == TIMELIB_ZONETYPE_ID ? rules_of(time->tz_info) : 0;
        model->zone_type = zone_type;
    }
    zval_ptr_dtor(&object);
    return fits;
}

/* Where a zone's model is, or another's that has the same place. */
static struct model *place_of(const char *zone, size_t length)
{
    return &models[zend_inline_hash_func(zone, length) & (MODELS - 1)];
}

/* NULL: PHP knows no such zone. */
static const struct model *model_of(uint8_t zone_type, const char *zone)
{
    size_t length = strnlen(zone, LARDER_ZONE_LENGTH);
    if (length >= LARDER_ZONE_LENGTH) {
        return NULL;
    }
    struct model *model = place_of(zone, length);
    if (UNEXPECTED(model->zone_type != zone_type || memcmp(model->zone, zone, length + 1) != 0)) {
        return make_model(model, zone_type, zone) ? model : NULL;
    }
    return model;
}

static bool know_intervals(void)
{
    zval state, object;

    if (EXPECTED(model_of_intervals.known)) {
        return true;
    }
    array_init_size(&state, 10);
    for (const char *const *name = (const char *const[]){"y", "m", "d", "h", "i", "s", "invert", NULL}; *name; name++) {
        add_assoc_long(&state, *name, 0);
    }
    add_assoc_double(&state, "f", 0);
    add_assoc_bool(&state, "days", false);
    add_assoc_bool(&state, "from_string", false);
    unserialise(&object, php_date_get_interval_ce(), &state);
    zval_ptr_dtor(&state);
    if (Z_ISUNDEF(object)) {
        return false;
    }
    const php_interval_obj *interval = Z_PHPINTERVAL_P(&object);
    model_of_intervals.known = true;
    model_of_intervals.time = *interval->diff;
    model_of_intervals.civil_or_wall = interval->civil_or_wall;
    knows_any = true;
    zval_ptr_dtor(&object);
    return true;
}

/* Days from the epoch to a day of the Gregorian calendar. Years begin in March here: the leap day is the last. */
static int64_t days_to(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* PHP sets a date right after each change. Of one that is not, unserialize() would make another. */
static bool is_set_right(const timelib_time *time)
{
    return time->m >= 1 && time->m <= 12 && time->d >= 1 && time->d <= 31 && time->h >= 0 && time->h < 24 &&
           time->i >= 0 && time->i < 60 && time->s >= 0 && time->s < 60 && time->us >= 0 && time->us < 1000000;
}

/* Clocks are not changed there within a day of that moment: then a local time is one moment, and has one offset. */
static bool is_unambiguous(const timelib_tzinfo *zone, int64_t seconds)
{
    const int64_t day = 25 * 3600;
    uint64_t from = 0, to = zone->bit64.timecnt;

    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (zone->trans[middle] <= seconds - day) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    if (from < zone->bit64.timecnt) {
        return zone->trans[from] > seconds + day;
    }
    /* Behind the last change in the table there may be a rule for all years to come. */
    return !zone->posix_string || !strchr(zone->posix_string, ',');
}

static bool time_is_as_unserialised(const timelib_time *time)
{
    if (!time || time->y < 1 || time->y > 9999 || !is_set_right(time)) {
        return false;
    }
    int64_t offset = time->z;
    const struct model *model;
    switch (time->zone_type) {
    case TIMELIB_ZONETYPE_ID:
        if (!time->tz_abbr || strlen(time->tz_abbr) >= LARDER_ABBREVIATION_LENGTH ||
            !is_unambiguous(time->tz_info, time->sse)) {
            return false;
        }
        model = model_of(TIMELIB_ZONETYPE_ID, time->tz_info->name);
        if (!model || model->time.tz_info != time->tz_info) {
            return false;
        }
        break;
    case TIMELIB_ZONETYPE_ABBR:
        model = time->tz_abbr ? model_of(TIMELIB_ZONETYPE_ABBR, time->tz_abbr) : NULL;
        if (!model || strcmp(model->abbreviation, time->tz_abbr) != 0 || model->time.z != time->z ||
            model->time.dst != time->dst) {
            return false;
        }
        offset += time->dst * 3600;
        break;
    case TIMELIB_ZONETYPE_OFFSET:
        /* Seconds of an offset are not serialised. */
        model = time->z % 60 == 0 && time->z > -86400 && time->z < 86400 ? model_of(TIMELIB_ZONETYPE_OFFSET, "") : NULL;
        if (!model) {
            return false;
        }
        break;
    default:
        return false;
    }
    return time->sse == days_to(time->y, time->m, time->d) * 86400 + time->h * 3600 + time->i * 60 + time->s - offset;
}

static bool zone_is_as_unserialised(const php_timezone_obj *zone)
{
    const struct model *model;

    if (!zone->initialized) {
        return false;
    }
    switch (zone->type) {
    case TIMELIB_ZONETYPE_ID:
        model = model_of(TIMELIB_ZONETYPE_ID, zone->tzi.tz->name);
        return model && model->time.tz_info == zone->tzi.tz;
    case TIMELIB_ZONETYPE_ABBR:
        model = model_of(TIMELIB_ZONETYPE_ABBR, zone->tzi.z.abbr);
        return model && strcmp(model->abbreviation, zone->tzi.z.abbr) == 0 && model->time.z == zone->tzi.z.utc_offset &&
               model->time.dst == zone->tzi.z.dst;
    case TIMELIB_ZONETYPE_OFFSET:
        return zone->tzi.utc_offset % 60 == 0 && zone->tzi.utc_offset > -86400 && zone->tzi.utc_offset < 86400;
    default:
        return false;
    }
}

/* Of fractions of a second PHP serialises what a double keeps of them; of what only a text can say, the text. */
static bool interval_is_as_unserialised(const php_interval_obj *interval)
{
    return interval->initialized && !interval->from_string && interval->diff->us == 0 &&
           (interval->diff->invert == 0 || interval->diff->invert == 1) && know_intervals();
}

bool larder_date_is_as_unserialised(zend_object *object, enum larder_date_type type)
{
    if (object->properties && zend_hash_num_elements(object->properties) > 0) {
        return false;
    }
    switch (type) {
    case LARDER_DATE_TIME:
        return time_is_as_unserialised(php_date_obj_from_obj(object)->time);
    case LARDER_DATE_ZONE:
        return zone_is_as_unserialised(php_timezone_obj_from_obj(object));
    case LARDER_DATE_INTERVAL:
        return interval_is_as_unserialised(php_interval_obj_from_obj(object));
    default:
        return false;
    }
}

/* Another zone of the value may have taken the place of its model since that was compared. None is made here: that
 * takes memory, and a store is in flight. */
static uint64_t known_rules(const timelib_tzinfo *zone)
{
    const struct model *model = place_of(zone->name, strlen(zone->name));
    bool is_its = model->zone_type == TIMELIB_ZONETYPE_ID && model->time.tz_info == zone;
    return is_its ? model->rules : rules_of(zone);
}

/* `rules` are those of an ID; else NULL. */
static void write_zone(struct larder_date_part *part, int zone_type, const char *zone, const timelib_tzinfo *rules,
                       int64_t offset, int dst)
{
    part->zone_type = (uint8_t)zone_type;
    part->offset = (int32_t)offset;
    part->dst = dst;
    if (zone_type != TIMELIB_ZONETYPE_OFFSET) {
        part->rules = rules != NULL ? known_rules(rules) : 0;
        snprintf(part->zone, sizeof(part->zone), "%s", zone);
    }
}

static void write_time(struct larder_date_part *part, const timelib_time *time)
{
    bool is_named = time->zone_type == TIMELIB_ZONETYPE_ID;

    write_zone(part, (int)time->zone_type, is_named ? time->tz_info->name : time->tz_abbr,
               is_named ? time->tz_info : NULL, time->z, time->dst);
    part->year = (int32_t)time->y;
    part->month = (uint8_t)time->m;
    part->day = (uint8_t)time->d;
    part->hour = (uint8_t)time->h;
    part->minute = (uint8_t)time->i;
    part->second = (uint8_t)time->s;
    part->microsecond = (uint32_t)time->us;
    part->seconds = time->sse;
    if (time->zone_type != TIMELIB_ZONETYPE_OFFSET) {
        snprintf(part->abbreviation, sizeof(part->abbreviation), "%s", time->tz_abbr);
    }
}

static void write_interval(struct larder_date_part *part, const timelib_rel_time *time)
{
    part->invert = (uint8_t)time->invert;
    part->interval.years = time->y;
    part->interval.months = time->m;
    part->interval.days = time->d;
    part->interval.hours = time->h;
    part->interval.minutes = time->i;
    part->interval.seconds_more = time->s;
    part->interval.days_in_all = time->days;
}

void larder_date_write(struct larder_date_part *part, zend_object *object, enum larder_date_type type)
{
    memset(&part->type, 0, sizeof(*part) - offsetof(struct larder_date_part, type));
    part->type = (uint8_t)type;
    if (type == LARDER_DATE_TIME) {
        write_time(part, php_date_obj_from_obj(object)->time);
    } else if (type == LARDER_DATE_INTERVAL) {
        write_interval(part, php_interval_obj_from_obj(object)->diff);
    } else {
        const php_timezone_obj *zone = php_timezone_obj_from_obj(object);
        switch (zone->type) {
        case TIMELIB_ZONETYPE_ID:
            write_zone(part, zone->type, zone->tzi.tz->name, zone->tzi.tz, 0, 0);
            break;
        case TIMELIB_ZONETYPE_ABBR:
            write_zone(part, zone->type, zone->tzi.z.abbr, NULL, zone->tzi.z.utc_offset, zone->tzi.z.dst);
            break;
        default:
            write_zone(part, zone->type, "", NULL, zone->tzi.utc_offset, 0);
        }
    }
}

/* timelib frees with PHP's allocator what it is given (timelib_config.h). */
static timelib_time *make_time(const struct larder_date_part *part, const struct model *model)
{
    timelib_time *time = timelib_malloc(sizeof(*time));

    *time = model->time;
    time->y = part->year;
    time->m = part->month;
    time->d = part->day;
    time->h = part->hour;
    time->i = part->minute;
    time->s = part->second;
    time->us = part->microsecond;
    time->sse = part->seconds;
    time->z = part->offset;
    time->dst = part->dst;
    if (model->has_abbreviation) {
        /* unserialize() gives all offsets the same one, which nothing shows. */
        const char *from = part->zone_type == TIMELIB_ZONETYPE_OFFSET ? model->abbreviation : part->abbreviation;
        time->tz_abbr = timelib_strndup(from, strnlen(from, LARDER_ABBREVIATION_LENGTH));
    }
    return time;
}

static void make_zone(php_timezone_obj *zone, const struct larder_date_part *part, const struct model *model)
{
    zone->initialized = true;
    zone->type = part->zone_type;
    switch (part->zone_type) {
    case TIMELIB_ZONETYPE_ID:
        zone->tzi.tz = model->time.tz_info;
        break;
    case TIMELIB_ZONETYPE_ABBR:
        zone->tzi.z.utc_offset = part->offset;
        zone->tzi.z.abbr = timelib_strdup(model->zone);
        zone->tzi.z.dst = part->dst;
        break;
    default:
        zone->tzi.utc_offset = part->offset;
    }
}

static void make_interval(php_interval_obj *interval, const struct larder_date_part *part)
{
    timelib_rel_time *time = timelib_malloc(sizeof(*time));

    *time = model_of_intervals.time;
    time->y = part->interval.years;
    time->m = part->interval.months;
    time->d = part->interval.days;
    time->h = part->interval.hours;
    time->i = part->interval.minutes;
    time->s = part->interval.seconds_more;
    time->days = part->interval.days_in_all;
    time->invert = part->invert;
    interval->diff = time;
    interval->civil_or_wall = model_of_intervals.civil_or_wall;
    interval->initialized = true;
}

/* Has the zone the rules here that it had where the part was written? */
static bool is_same_zone(const struct larder_date_part *part, const struct model *model)
{
    return model && model->rules == part->rules &&
           (part->zone_type != TIMELIB_ZONETYPE_ABBR ||
            (model->time.z == part->offset && model->time.dst == part->dst));
}

zend_object *larder_date_make(zend_class_entry *entry, const struct larder_date_part *part)
{
    const struct model *model = NULL;

    if (part->type == LARDER_DATE_INTERVAL) {
        if (!know_intervals()) {
            return NULL;
        }
    } else {
        model = model_of(part->zone_type, part->zone);
        if (!is_same_zone(part, model)) {
            return NULL;
        }
    }
    zend_object *object = entry->create_object(entry);
    GC_SET_REFCOUNT(object, 0);
    switch (part->type) {
    case LARDER_DATE_TIME:
        php_date_obj_from_obj(object)->time = make_time(part, model);
        break;
    case LARDER_DATE_ZONE:
        make_zone(php_timezone_obj_from_obj(object), part, model);
        break;
    default:
        make_interval(php_interval_obj_from_obj(object), part);
    }
    return object;
}
