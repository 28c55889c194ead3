#include "spank/plugin/environment_records.h"

#include <string.h>

static int is_letter(char byte) {
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_';
}

static int is_name(const char* name, size_t bytes) {
    if (bytes == 0 || !is_letter(name[0])) {
        return 0;
    }
    for (size_t index = 1; index < bytes; ++index) {
        if (!is_letter(name[index]) && (name[index] < '0' || name[index] > '9')) {
            return 0;
        }
    }
    return 1;
}

static int is_record(const char* record) {
    size_t name_bytes = strcspn(record, "=");
    return record[name_bytes] == '=' && is_name(record, name_bytes);
}

static int all_are_records(const struct inquest_records* records, const char** ret_last) {
    size_t position = 0;
    while (position < records->used_bytes) {
        const char* record = records->bytes + position;
        if (!is_record(record)) {
            return 0;
        }
        *ret_last = record;
        position += strlen(record) + 1;
    }
    return 1;
}

static enum inquest_answer judge(const struct inquest_records* records) {
    if (records->used_bytes == 0 || records->bytes[records->used_bytes - 1] != '\0') {
        return INQUEST_ANSWER_BROKEN;
    }
    const char* last = records->bytes;
    if (!all_are_records(records, &last)) {
        return INQUEST_ANSWER_BROKEN;
    }
    if (strcmp(last, "INQUEST_ARMED=1") == 0) {
        return INQUEST_ANSWER_ARMED;
    }
    static const char disarmed[] = "INQUEST_DISARMED=";
    return strncmp(last, disarmed, sizeof disarmed - 1) == 0 ? INQUEST_ANSWER_DISARMED
                                                             : INQUEST_ANSWER_BROKEN;
}

enum inquest_answer inquest_records_check(struct inquest_records* records) {
    enum inquest_answer answer = judge(records);
    size_t position = 0;
    while (answer != INQUEST_ANSWER_BROKEN && position < records->used_bytes) {
        char* record = records->bytes + position;
        position += strlen(record) + 1;
        record[strcspn(record, "=")] = '\0';
    }
    return answer;
}

int inquest_records_next(const struct inquest_records* records, size_t* position, const char** ret_name,
                         const char** ret_value) {
    if (*position >= records->used_bytes) {
        return 0;
    }
    const char* name = records->bytes + *position;
    const char* value = name + strlen(name) + 1;
    *position = (size_t)(value - records->bytes) + strlen(value) + 1;
    *ret_name = name;
    *ret_value = value;
    return 1;
}
