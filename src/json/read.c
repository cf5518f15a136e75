/* SPDX-License-Identifier: MIT */
/*
 * Typed access to a parsed document. Every function takes NULL for a value that is not there, so
 * that look-ups can be chained and checked once.
 */
#include <leat/json.h>

#include <cjson/cJSON.h>

#define INTEGER_MAX 9007199254740991.0 /* 2^53 - 1: its neighbours are doubles of their own */

enum leat_json_type leat_json_type_of(const leat_json *j)
{
    if (cJSON_IsBool(j)) {
        return LEAT_JSON_BOOL;
    }
    if (cJSON_IsNumber(j)) {
        return LEAT_JSON_NUMBER;
    }
    if (cJSON_IsString(j)) {
        return LEAT_JSON_STRING;
    }
    if (cJSON_IsArray(j)) {
        return LEAT_JSON_ARRAY;
    }
    return cJSON_IsObject(j) ? LEAT_JSON_OBJECT : LEAT_JSON_NULL;
}

const char *leat_json_type_text(enum leat_json_type type)
{
    switch (type) {
    case LEAT_JSON_NULL:
        break;
    case LEAT_JSON_BOOL:
        return "true or false";
    case LEAT_JSON_NUMBER:
        return "a number";
    case LEAT_JSON_STRING:
        return "a string";
    case LEAT_JSON_ARRAY:
        return "an array";
    case LEAT_JSON_OBJECT:
        return "an object";
    }
    return "null";
}

const leat_json *leat_json_get(const leat_json *object, const char *key)
{
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
}

const leat_json *leat_json_first(const leat_json *j)
{
    return j ? j->child : NULL;
}

const leat_json *leat_json_next(const leat_json *child)
{
    return child ? child->next : NULL;
}

const char *leat_json_key(const leat_json *member)
{
    return member && member->string ? member->string : "";
}

size_t leat_json_count(const leat_json *j)
{
    size_t count = 0;
    for (const leat_json *child = leat_json_first(j); child; child = child->next) {
        count++;
    }
    return count;
}

bool leat_json_string(const leat_json *j, struct leat_span *out)
{
    if (!cJSON_IsString(j)) {
        return false;
    }
    *out = leat_span_str(j->valuestring);
    return true;
}

bool leat_json_int(const leat_json *j, int64_t *out)
{
    /* valueint saturates at 2^31 - 1 */
    if (!cJSON_IsNumber(j) || !(j->valuedouble >= -INTEGER_MAX && j->valuedouble <= INTEGER_MAX)) {
        return false;
    }
    int64_t v = (int64_t)j->valuedouble;
    if ((double)v < j->valuedouble || (double)v > j->valuedouble) {
        return false;
    }
    *out = v;
    return true;
}

bool leat_json_number(const leat_json *j, double *out)
{
    if (!cJSON_IsNumber(j)) {
        return false;
    }
    *out = j->valuedouble;
    return true;
}

bool leat_json_bool(const leat_json *j, bool *out)
{
    if (!cJSON_IsBool(j)) {
        return false;
    }
    *out = cJSON_IsTrue(j) != 0;
    return true;
}

const char *leat_json_library_version(void)
{
    return cJSON_Version();
}
