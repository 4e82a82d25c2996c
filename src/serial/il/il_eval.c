// SPDX-License-Identifier: Apache-2.0
// Precedence climbing with a bounded depth. A side that && || ?: do not need is parsed but not
// computed (`dead_depth`), so that `n && 6 / n` is fine for n = 0.

#include "serial/il/il_eval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "serial/il/il_limits.h"

typedef struct evaluator {
    const ln_il_token *tokens;
    size_t count;
    size_t next;
    ln_il_token end; // stands where the expression begins
    ln_il_arithmetic arithmetic;
    int depth;
    int dead_depth;
} evaluator;

typedef enum operation {
    OP_OR,
    OP_AND,
    OP_EQ,
    OP_NE,
    OP_LE,
    OP_GE,
    OP_LT,
    OP_GT,
    OP_SHL,
    OP_SHR,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_POW, // not in the table: it groups from the right
} operation;

static const struct {
    const char *spelling;
    int level;
} binaries[] = {
    [OP_OR] = {"||", 1},  [OP_AND] = {"&&", 2}, [OP_EQ] = {"==", 3}, [OP_NE] = {"!=", 3},
    [OP_LE] = {"<=", 4},  [OP_GE] = {">=", 4},  [OP_LT] = {"<", 4},  [OP_GT] = {">", 4},
    [OP_SHL] = {"<<", 5}, [OP_SHR] = {">>", 5}, [OP_ADD] = {"+", 6}, [OP_SUB] = {"-", 6},
    [OP_MUL] = {"*", 7},  [OP_DIV] = {"/", 7},  [OP_MOD] = {"%", 7},
};

static ln_status parse_ternary(evaluator *e, ln_il_number *out);
static ln_status parse_unary(evaluator *e, ln_il_number *out);

// ---- Numbers ----

static ln_il_number whole(int64_t value)
{
    return (ln_il_number){.is_whole = true, .whole = value};
}

static ln_il_number real(double value)
{
    return (ln_il_number){.real = value};
}

static double to_real(const ln_il_number *n)
{
    return n->is_whole ? (double)n->whole : n->real;
}

static bool is_true(const ln_il_number *n)
{
    return n->is_whole ? n->whole != 0 : n->real != 0;
}

// A double without a fraction, as an integer when 64 bits hold it.
static ln_il_number whole_or_real(double value)
{
    const double limit = 9223372036854775808.0; // 2^63
    return value >= -limit && value < limit ? whole((int64_t)value) : real(value);
}

static int compare(const ln_il_number *a, const ln_il_number *b)
{
    if (a->is_whole && b->is_whole)
        return (a->whole > b->whole) - (a->whole < b->whole);
    double x = to_real(a), y = to_real(b);
    return (x > y) - (x < y);
}

void ln_il_number_print(const ln_il_number *number, char out_text[32])
{
    if (number->is_whole) {
        snprintf(out_text, 32, "%lld", (long long)number->whole);
        return;
    }
    char local[64];
    size_t len = 0;
    snprintf(local, sizeof local, "%.15g", number->real == 0 ? 0.0 : number->real);
    for (const char *p = local; *p && len < 31; p++) {
        bool is_ours = (*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == 'e';
        if (is_ours || out_text[len - 1] != '.') // the locale's point may have several bytes
            out_text[len++] = is_ours ? *p : '.';
    }
    out_text[len] = '\0';
}

// ---- Reading ----

static const ln_il_token *here(const evaluator *e)
{
    return e->next < e->count ? &e->tokens[e->next] : &e->end;
}

// True when the next tokens, written without a space between them, spell `s`.
static bool at(const evaluator *e, const char *s)
{
    for (size_t i = 0; s[i]; i++) {
        if (e->count - e->next <= i)
            return false;
        const ln_il_token *token = &e->tokens[e->next + i];
        if (!ln_il_is(token, s[i]) || (i > 0 && token->is_after_space))
            return false;
    }
    return true;
}

static bool take(evaluator *e, const char *s)
{
    bool is_here = at(e, s);
    if (is_here)
        e->next += strlen(s);
    return is_here;
}

static ln_status expect(evaluator *e, const char *s, const char *what)
{
    return take(e, s) ? LN_OK : ln_il_fail_expected(here(e), what);
}

static ln_status enter(evaluator *e)
{
    if (++e->depth > LN_IL_MAX_NESTING)
        return ln_il_fail(here(e), LN_LIMIT, "the expression nests deeper than %d levels",
                          LN_IL_MAX_NESTING);
    return LN_OK;
}

// ---- Computing ----

static ln_status check_result(const evaluator *e, const ln_il_token *where, ln_il_number *inout)
{
    if (inout->is_whole)
        return LN_OK;
    if (!isfinite(inout->real))
        return ln_il_fail(where, LN_INVALID, "the result of '%.*s' is no finite number",
                          (int)where->len, where->text);
    if (e->arithmetic == LN_IL_ARITHMETIC_IF)
        return ln_il_fail(where, LN_INVALID, "the result of '%.*s' is no integer of 64 bits",
                          (int)where->len, where->text);
    return LN_OK;
}

static ln_status divide(const evaluator *e, const ln_il_token *where, const ln_il_number *a,
                        const ln_il_number *b, ln_il_number *out)
{
    if (!is_true(b))
        return ln_il_fail(where, LN_INVALID, "division by zero");
    // The smallest number has no positive counterpart, so -1 goes the way of the doubles.
    bool is_whole = a->is_whole && b->is_whole && b->whole != -1;
    if (is_whole && (a->whole % b->whole == 0 || e->arithmetic == LN_IL_ARITHMETIC_IF))
        *out = whole(a->whole / b->whole);
    else if (a->is_whole && b->is_whole && b->whole == -1 && a->whole != INT64_MIN)
        *out = whole(-a->whole);
    else
        *out = real(to_real(a) / to_real(b));
    return LN_OK;
}

// Like Perl: of the whole parts, and the result has the sign of the right side.
static ln_status modulo(const ln_il_token *where, const ln_il_number *a, const ln_il_number *b,
                        ln_il_number *out)
{
    ln_il_number x = a->is_whole ? *a : whole_or_real(trunc(a->real));
    ln_il_number y = b->is_whole ? *b : whole_or_real(trunc(b->real));
    if (!x.is_whole || !y.is_whole)
        return ln_il_fail(where, LN_INVALID, "'%%' works on integers of 64 bits");
    if (y.whole == 0)
        return ln_il_fail(where, LN_INVALID, "division by zero");
    int64_t rest = y.whole == -1 ? 0 : x.whole % y.whole;
    if (rest != 0 && (rest < 0) != (y.whole < 0))
        rest += y.whole;
    *out = whole(rest);
    return LN_OK;
}

static ln_il_number power(const ln_il_number *a, const ln_il_number *b)
{
    if (a->is_whole && b->is_whole && b->whole >= 0) {
        int64_t result = 1, base = a->whole;
        bool has_overflow = false;
        for (int64_t left = b->whole; left > 0 && !has_overflow;) {
            if (left & 1)
                has_overflow |= __builtin_mul_overflow(result, base, &result);
            left >>= 1;
            if (left > 0)
                has_overflow |= __builtin_mul_overflow(base, base, &base);
        }
        if (!has_overflow)
            return whole(result);
    }
    return real(pow(to_real(a), to_real(b)));
}

// Times or divided by a power of two; of numbers >= 0, so that nobody needs to know how the
// negative ones are stored.
static ln_status shift(const ln_il_token *where, operation op, const ln_il_number *a,
                       const ln_il_number *b, ln_il_number *out)
{
    if (!a->is_whole || !b->is_whole || a->whole < 0 || b->whole < 0)
        return ln_il_fail(where, LN_INVALID, "'%s' works on integers >= 0", binaries[op].spelling);
    bool is_left = op == OP_SHL;
    if (is_left && a->whole > 0 && (b->whole > 62 || a->whole > INT64_MAX >> b->whole))
        return ln_il_fail(where, LN_INVALID, "the result of '<<' is no integer of 64 bits");
    int count = b->whole > 62 ? 63 : (int)b->whole;
    *out = whole(is_left ? (a->whole ? a->whole << count : 0) : a->whole >> count);
    return LN_OK;
}

static ln_status apply(const evaluator *e, operation op, const ln_il_token *where, ln_il_number a,
                       ln_il_number b, ln_il_number *out)
{
    int64_t sum;
    bool is_whole = a.is_whole && b.is_whole;
    *out = whole(0);
    if (e->dead_depth > 0)
        return LN_OK;
    switch (op) {
    case OP_OR: *out = is_true(&a) ? a : b; break;
    case OP_AND: *out = is_true(&a) ? b : a; break;
    case OP_EQ: *out = whole(compare(&a, &b) == 0); break;
    case OP_NE: *out = whole(compare(&a, &b) != 0); break;
    case OP_LE: *out = whole(compare(&a, &b) <= 0); break;
    case OP_GE: *out = whole(compare(&a, &b) >= 0); break;
    case OP_LT: *out = whole(compare(&a, &b) < 0); break;
    case OP_GT: *out = whole(compare(&a, &b) > 0); break;
    case OP_SHL:
    case OP_SHR: LN_TRY(shift(where, op, &a, &b, out)); break;
    case OP_ADD:
        *out = is_whole && !__builtin_add_overflow(a.whole, b.whole, &sum)
                   ? whole(sum)
                   : real(to_real(&a) + to_real(&b));
        break;
    case OP_SUB:
        *out = is_whole && !__builtin_sub_overflow(a.whole, b.whole, &sum)
                   ? whole(sum)
                   : real(to_real(&a) - to_real(&b));
        break;
    case OP_MUL:
        *out = is_whole && !__builtin_mul_overflow(a.whole, b.whole, &sum)
                   ? whole(sum)
                   : real(to_real(&a) * to_real(&b));
        break;
    case OP_DIV: LN_TRY(divide(e, where, &a, &b, out)); break;
    case OP_MOD: LN_TRY(modulo(where, &a, &b, out)); break;
    case OP_POW: *out = power(&a, &b); break;
    }
    return check_result(e, where, out);
}

// ---- Functions ----

typedef enum function {
    FN_INT,
    FN_ABS,
    FN_SQRT,
    FN_FLOOR,
    FN_CEIL,
    FN_ROUND,
    FN_MIN,
    FN_MAX,
    FN_COUNT,
} function;

static const char *const function_names[FN_COUNT] = {
    [FN_INT] = "int",   [FN_ABS] = "abs", [FN_SQRT] = "sqrt", [FN_FLOOR] = "floor",
    [FN_CEIL] = "ceil", [FN_MIN] = "min", [FN_MAX] = "max",   [FN_ROUND] = "round",
};

static function find_function(const ln_il_token *name)
{
    size_t fn = 0;
    while (fn < FN_COUNT && !ln_il_is_name(name, function_names[fn]))
        fn++;
    return (function)fn;
}

static ln_status call(const evaluator *e, function fn, const ln_il_token *name, ln_il_number *inout)
{
    if (e->dead_depth > 0)
        return LN_OK;
    double x = to_real(inout);
    switch (fn) {
    case FN_ABS:
        if (x < 0)
            *inout = inout->is_whole && inout->whole != INT64_MIN ? whole(-inout->whole) : real(-x);
        break;
    case FN_SQRT:
        if (x < 0)
            return ln_il_fail(name, LN_INVALID, "sqrt of the negative number %.15g", x);
        *inout = sqrt(x) == floor(sqrt(x)) ? whole_or_real(sqrt(x)) : real(sqrt(x));
        break;
    case FN_INT: *inout = inout->is_whole ? *inout : whole_or_real(trunc(x)); break;
    case FN_FLOOR: *inout = inout->is_whole ? *inout : whole_or_real(floor(x)); break;
    case FN_CEIL: *inout = inout->is_whole ? *inout : whole_or_real(ceil(x)); break;
    case FN_ROUND: *inout = inout->is_whole ? *inout : whole_or_real(round(x)); break;
    default: break; // min and max of one number
    }
    return check_result(e, name, inout);
}

static ln_status parse_call(evaluator *e, ln_il_number *out)
{
    const ln_il_token *name = here(e);
    function fn = find_function(name);
    e->next++;
    if (fn == FN_COUNT)
        return ln_il_fail(name, LN_SYNTAX,
                          "'%.*s' is no macro and no function (known are int, "
                          "abs, min, max, sqrt, floor, ceil, round)",
                          name->len > 40 ? 40 : (int)name->len, name->text);
    LN_TRY(expect(e, "(", "'(' after the function's name"));
    LN_TRY(parse_ternary(e, out));
    while ((fn == FN_MIN || fn == FN_MAX) && take(e, ",")) {
        ln_il_number other;
        LN_TRY(parse_ternary(e, &other));
        int order = compare(&other, out);
        if (fn == FN_MIN ? order < 0 : order > 0)
            *out = other;
    }
    LN_TRY(expect(e, ")", "')' after what the function is given"));
    return call(e, fn, name, out);
}

// ---- Grammar ----

static ln_status read_number(evaluator *e, const ln_il_token *token, ln_il_number *out)
{
    char spelling[LN_VALUE_MAX_DIGITS + 4];
    double number;
    LN_TRY(ln_il_token_number(token, false, spelling, &number));
    *out = real(number);
    int64_t value = 0;
    bool is_negative = spelling[0] == '-';
    const char *p = spelling + is_negative;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, *p - '0',
                                   &value)) // below zero, there is room for one more
            return check_result(e, token, out);
    if (*p == '\0' && (is_negative || value != INT64_MIN))
        *out = whole(is_negative ? value : -value);
    return check_result(e, token, out);
}

static ln_status parse_primary(evaluator *e, ln_il_number *out)
{
    const ln_il_token *token = here(e);
    if (take(e, "(")) {
        LN_TRY(parse_ternary(e, out));
        return expect(e, ")", "')' or an operator");
    }
    if (token->kind == LN_IL_NUMBER) {
        e->next++;
        return read_number(e, token, out);
    }
    if (token->kind == LN_IL_NAME && e->arithmetic == LN_IL_ARITHMETIC_IF) {
        e->next++;
        *out = whole(0);
        return LN_OK;
    }
    if (token->kind == LN_IL_NAME)
        return parse_call(e, out);
    return ln_il_fail_expected(token, "a number");
}

static ln_status parse_power(evaluator *e, ln_il_number *out)
{
    LN_TRY(parse_primary(e, out));
    const ln_il_token *where = here(e);
    if (!take(e, "**"))
        return LN_OK;
    ln_il_number exponent;
    LN_TRY(parse_unary(e, &exponent));
    return apply(e, OP_POW, where, *out, exponent, out);
}

static ln_status parse_unary(evaluator *e, ln_il_number *out)
{
    LN_TRY(enter(e));
    const ln_il_token *where = here(e);
    if (take(e, "-")) {
        LN_TRY(parse_unary(e, out));
        LN_TRY(apply(e, OP_SUB, where, whole(0), *out, out));
    } else if (take(e, "+")) {
        LN_TRY(parse_unary(e, out));
    } else if (take(e, "!")) {
        LN_TRY(parse_unary(e, out));
        *out = whole(!is_true(out));
    } else {
        LN_TRY(parse_power(e, out));
    }
    e->depth--;
    return LN_OK;
}

// The longest operator that stands here.
static bool find_binary(const evaluator *e, operation *out_op)
{
    size_t longest = 0;
    *out_op = OP_OR;
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++) {
        size_t len = strlen(binaries[i].spelling);
        if (len > longest && at(e, binaries[i].spelling)) {
            longest = len;
            *out_op = (operation)i;
        }
    }
    return longest > 0 && !at(e, "**");
}

static ln_status parse_binary(evaluator *e, int min_level, ln_il_number *out)
{
    LN_TRY(parse_unary(e, out));
    operation op;
    while (find_binary(e, &op) && binaries[op].level >= min_level) {
        const ln_il_token *where = here(e);
        e->next += strlen(binaries[op].spelling);
        bool is_decided = (op == OP_OR && is_true(out)) || (op == OP_AND && !is_true(out));
        ln_il_number right;
        e->dead_depth += is_decided;
        LN_TRY(parse_binary(e, binaries[op].level + 1, &right));
        e->dead_depth -= is_decided;
        LN_TRY(apply(e, op, where, *out, right, out));
    }
    return LN_OK;
}

static ln_status parse_ternary(evaluator *e, ln_il_number *out)
{
    LN_TRY(enter(e));
    ln_il_number condition;
    LN_TRY(parse_binary(e, 0, &condition));
    *out = condition;
    if (take(e, "?")) {
        ln_il_number yes, no;
        bool is_yes = is_true(&condition);
        e->dead_depth += !is_yes;
        LN_TRY(parse_ternary(e, &yes));
        e->dead_depth += is_yes - !is_yes;
        LN_TRY(expect(e, ":", "':' of '?:'"));
        LN_TRY(parse_ternary(e, &no));
        e->dead_depth -= is_yes;
        *out = is_yes ? yes : no;
    }
    e->depth--;
    return LN_OK;
}

ln_status ln_il_eval(const ln_il_token *tokens, size_t count, const ln_il_token *start,
                     ln_il_arithmetic arithmetic, ln_il_number *out_number)
{
    *out_number = whole(0);
    evaluator e = {.tokens = tokens, .count = count, .end = *start, .arithmetic = arithmetic};
    e.end.kind = LN_IL_END;
    ln_il_number number;
    LN_TRY(parse_ternary(&e, &number));
    if (e.next < count)
        return ln_il_fail_expected(here(&e), "an operator or the end of the expression");
    *out_number = number;
    return LN_OK;
}
