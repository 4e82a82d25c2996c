// SPDX-License-Identifier: Apache-2.0
// One walk over all bytes of a model, with a stack of its own, that believes nothing.
//
// Afterwards messages are opened one by one without looking for such faults again.

#include "serial/onnx/message.h"

#include <stdio.h>

// A message that is being walked.
typedef struct frame {
    const ln_onnx_schema *schema;
    const uint8_t *at, *end;
    const ln_onnx_field *field;        // the last one met; NULL: an unknown one, or none yet
    size_t counts[LN_ONNX_MAX_FIELDS]; // how often each has come
} frame;

typedef struct walk {
    const char *name;
    const uint8_t *start;
    frame frames[LN_ONNX_MAX_DEPTH];
    size_t depth;
    ln_onnx_findings findings;
} walk;

static int is_repeated(ln_onnx_field_kind kind)
{
    return kind == LN_FIELD_STRINGS || kind == LN_FIELD_NAMES || kind == LN_FIELD_MESSAGES ||
           kind == LN_FIELD_INTS || kind == LN_FIELD_FLOATS || kind == LN_FIELD_DOUBLES;
}

// "graph.node[12].attribute[3].t": the fields that lead to the innermost message.
static ln_status fail_here(const walk *w, ln_status status, const uint8_t *at, const char *reason)
{
    char path[1024];
    size_t len = 0;
    path[0] = '\0';
    for (size_t i = 0; i < w->depth; i++) {
        const frame *f = &w->frames[i];
        if (!f->field || len >= sizeof path)
            break;
        size_t count = f->counts[f->field - f->schema->fields];
        int wrote =
            is_repeated(f->field->kind) && count > 0
                ? snprintf(path + len, sizeof path - len, "%s%s[%zu]", len ? "." : "",
                           f->field->name, count - 1)
                : snprintf(path + len, sizeof path - len, "%s%s", len ? "." : "", f->field->name);
        if (wrote > 0)
            len += (size_t)wrote;
    }
    return LN_FAIL(status, "%s: byte %zu: %s%s%s", w->name, (size_t)(at - w->start), path,
                   *path ? ": " : "", reason);
}

static const char *check_ints(ln_onnx_bytes bytes)
{
    const uint8_t *at = bytes.at, *end = at + bytes.len;
    uint64_t value;
    while (at < end) {
        if (!ln_wire_varint(&at, end, &value))
            return "a packed number does not end, or has more than 64 bits";
    }
    return NULL;
}

// NULL, or why a field cannot hold what is there.
static const char *check_value(const ln_onnx_field *field, const ln_wire_field *got)
{
    int is_bytes = got->type == LN_WIRE_BYTES;
    switch (field->kind) {
    case LN_FIELD_IGNORED: return NULL;
    case LN_FIELD_INT: return got->type == LN_WIRE_VARINT ? NULL : "not an integer";
    case LN_FIELD_FLOAT: return got->type == LN_WIRE_FIXED32 ? NULL : "not a float";
    case LN_FIELD_STRING:
    case LN_FIELD_NAME:
    case LN_FIELD_STRINGS:
    case LN_FIELD_NAMES: return is_bytes ? NULL : "not a string";
    case LN_FIELD_MESSAGE:
    case LN_FIELD_MESSAGES: return is_bytes ? NULL : "not a message";
    case LN_FIELD_INTS:
        if (is_bytes)
            return check_ints(got->bytes);
        return got->type == LN_WIRE_VARINT ? NULL : "not integers";
    case LN_FIELD_FLOATS:
        if (is_bytes)
            return got->bytes.len % 4 == 0 ? NULL : "packed floats end within a float";
        return got->type == LN_WIRE_FIXED32 ? NULL : "not floats";
    case LN_FIELD_DOUBLES:
        if (is_bytes)
            return got->bytes.len % 8 == 0 ? NULL : "packed doubles end within a double";
        return got->type == LN_WIRE_FIXED64 ? NULL : "not doubles";
    }
    return NULL;
}

static ln_status push(walk *w, ln_onnx_kind kind, ln_onnx_bytes bytes)
{
    if (w->depth == LN_ONNX_MAX_DEPTH)
        return LN_FAIL(LN_LIMIT, "%s: byte %zu: more than %d messages inside each other", w->name,
                       (size_t)(bytes.at - w->start), LN_ONNX_MAX_DEPTH);
    w->frames[w->depth++] = (frame){
        .schema = &ln_onnx_schemas[kind],
        .at = bytes.at,
        .end = bytes.at + bytes.len,
    };
    return LN_OK;
}

static ln_status step(walk *w)
{
    frame *f = &w->frames[w->depth - 1];
    if (f->at == f->end) {
        w->depth--;
        return LN_OK;
    }
    ln_wire_field got;
    const char *reason = ln_wire_next(&f->at, f->end, &got);
    f->field = got.number ? ln_onnx_field_find_from(f->schema, f->field, got.number) : NULL;
    if (!f->field && !w->findings.unknown_field)
        w->findings.unknown_field = got.at;
    if (!f->field)
        return reason ? fail_here(w, LN_SYNTAX, f->at, reason) : LN_OK;

    size_t count = ++f->counts[f->field - f->schema->fields];
    if (!reason)
        reason = check_value(f->field, &got);
    int is_once = !is_repeated(f->field->kind) && f->field->kind != LN_FIELD_IGNORED;
    if (!reason && is_once && count > 1)
        reason = "the field is there twice";
    if (reason)
        return fail_here(w, LN_SYNTAX, got.at, reason);
    if (f->field->kind == LN_FIELD_MESSAGE || f->field->kind == LN_FIELD_MESSAGES)
        return push(w, f->field->child, got.bytes);
    int is_name = f->field->kind == LN_FIELD_NAME || f->field->kind == LN_FIELD_NAMES;
    if (is_name && !w->findings.bad_name && !ln_onnx_is_utf8(got.bytes))
        w->findings.bad_name = got.bytes.at;
    return LN_OK;
}

ln_status ln_onnx_check(ln_onnx_kind kind, ln_onnx_bytes bytes, const char *name,
                        ln_onnx_findings *out_findings)
{
    walk w;
    w.findings = *out_findings = (ln_onnx_findings){0};
    w.name = name;
    w.start = bytes.at;
    w.depth = 0;
    LN_TRY(push(&w, kind, bytes));
    while (w.depth > 0)
        LN_TRY(step(&w));
    *out_findings = w.findings;
    return LN_OK;
}
