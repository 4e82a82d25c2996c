// SPDX-License-Identifier: Apache-2.0
// Messages of the command, and the few helpers that all commands use.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "device_option.h"
#include "given_options.h"
#include "progress.h"
#include "threads_option.h"
#include "write_option.h"

#define TIMEOUT_GRACE_S 2
#define MESSAGE_BYTES   8192 // more than the library's messages have

// Messages quote files, and what a file says must not steer the terminal.
void put_printable(const char *text, FILE *file)
{
    ln_fprint_safe(file, text);
}

const char *printable(const char *text)
{
    static char buffers[4][4 * LN_MAXLINE];
    static unsigned next;
    char *buffer = buffers[next++ % 4];
    ln_sprint_safe(buffer, sizeof buffers[0], text);
    return buffer;
}

static void say(const char *tag, const char *colour, const char *fmt, va_list ap)
{
    int has_colour = isatty(STDERR_FILENO);
    char text[MESSAGE_BYTES];
    vsnprintf(text, sizeof text, fmt, ap);
    progress_lock();
    fprintf(stderr, "%s%s%s ", has_colour ? colour : "", tag, has_colour ? "\x1b[0m" : "");
    put_printable(text, stderr);
    fputc('\n', stderr);
    progress_unlock();
}

void say_info(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say("info:", "\x1b[1m", fmt, ap);
    va_end(ap);
}

static void say_debug(const char *fmt, ...) LN_PRINTF(1, 2);

static void say_debug(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say("debug:", "\x1b[2m", fmt, ap);
    va_end(ap);
}

void say_warning(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say("warning:", "\x1b[1;35m", fmt, ap);
    va_end(ap);
}

// For --json, which says it too.
static char error_text[MESSAGE_BYTES];
static ln_status error_status;

void say_error(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(error_text, sizeof error_text, fmt, ap);
    va_end(ap);
    error_status = LN_OK;
    va_start(ap, fmt);
    say("error:", "\x1b[1;31m", fmt, ap);
    va_end(ap);
}

const char *last_error(ln_status *out_status)
{
    *out_status = error_status;
    return *error_text ? error_text : NULL;
}

// What the library says on the way, by level; errors come back as statuses and are not here.
static struct {
    int warnings;
    int internal_warnings;
    int debug;
} shown = {.warnings = 1, .internal_warnings = 1};

static void handle_message(const ln_msg *msg, void *user)
{
    (void)user;
    switch (msg->level) {
    case LN_MSG_INFO: say_info("%s", msg->text); break;
    case LN_MSG_WARN:
    case LN_MSG_WARN_SYS:
        if (shown.warnings)
            say_warning("%s", msg->text);
        break;
    case LN_MSG_INTER_WARN:
    case LN_MSG_INTER_WARN_SYS:
        if (shown.internal_warnings)
            say_warning("%s", msg->text);
        break;
    case LN_MSG_DEBUG:
        if (shown.debug)
            say_debug("%s", msg->text);
        break;
    default: break;
    }
}

void show_messages(int warnings, int internal_warnings, int debug)
{
    shown.warnings = warnings;
    shown.internal_warnings = internal_warnings;
    shown.debug = debug;
    ln_msg_set_handler(handle_message, NULL);
}

int show_warnings(int is_shown)
{
    int was_shown = shown.warnings;
    shown.warnings = is_shown;
    return was_shown;
}

int say_failure(void)
{
    ln_status status = ln_error_status();
    say_error("%s", ln_error_message());
    error_status = status;
    return EXIT_FAILED;
}

static const char *program = "lightnet";

const char *program_name(void)
{
    return program;
}

void set_program_name(const char *name)
{
    program = name;
}

int say_usage_error(const char *command_name, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say_error("%s%s try `%s%s%s --help`", text, text[strlen(text) - 1] == '?' ? "" : ";", program,
              command_name ? " " : "", command_name ? command_name : "");
    return EXIT_USAGE;
}

// A file that is opened while standard output is closed would take its place and receive what is
// printed. What cannot be written to in its place keeps it free, so printing still fails.
void keep_standard_files(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static size_t budget_byte_count; // 0: the library's default

int take_budget(void *unused, const char *verb, const char *text)
{
    (void)unused;
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    double number = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    double base = unit && end[1] == 'i' ? 1024 : 1000;
    if (unit) {
        for (const char *u = units; u <= unit; u++)
            number *= base;
        end += base > 1000 ? 2 : 1;
    }
    if (end == text || errno || strcmp(end, *end == 'B' ? "B" : "") != 0 || !(number >= 1) ||
        number >= 9e18)
        return say_usage_error(verb,
                               "--budget takes a number of bytes such as 64000000, 64M or 64Mi, "
                               "not '%s'",
                               text);
    budget_byte_count = (size_t)number;
    return EXIT_OK;
}

int has_budget(void)
{
    return budget_byte_count > 0;
}

static int is_strict;

int take_strict(void *unused, const char *verb, const char *value)
{
    (void)unused;
    (void)verb;
    (void)value;
    is_strict = 1;
    return EXIT_OK;
}

static const char *signature;

int take_signature(void *unused, const char *verb, const char *value)
{
    (void)unused;
    (void)verb;
    signature = value;
    return EXIT_OK;
}

bool has_signature(void)
{
    return signature != NULL;
}

static const char *rounding;

int take_rounding(void *unused, const char *verb, const char *value)
{
    (void)unused;
    if (strcmp(value, "float") != 0 && strcmp(value, "reference") != 0)
        return say_usage_error(verb, "--rounding takes float or reference, not '%s'", value);
    rounding = value;
    return EXIT_OK;
}

static bool is_resizable;

int take_resizable(void *unused, const char *verb, const char *value)
{
    (void)unused;
    (void)verb;
    (void)value;
    is_resizable = true;
    return EXIT_OK;
}

ln_status read_model(ln_context *ctx, const char *source)
{
    const ln_read_options options = {
        .signature = signature, .rounding = rounding, .is_resizable = is_resizable};
    return ln_context_init_with(ctx, source, &options);
}

static double work_limit, timeout_s; // 0: the library's default

int take_work(void *unused, const char *verb, const char *text)
{
    (void)unused;
    char *end;
    work_limit = strtod(text, &end);
    if (end == text || *end || !(work_limit > 0))
        return say_usage_error(verb, "--work takes a number of work units such as 5e12, not '%s'",
                               text);
    return EXIT_OK;
}

double timeout_seconds(void)
{
    return timeout_s;
}

// What looks at no deadline, such as the decoding of a picture, ends a little later by a signal.
static void stop_late(int number)
{
    static const char words[] = "error: stopped, --timeout is over\n";
    (void)number;
    ssize_t ignored = write(STDERR_FILENO, words, sizeof words - 1);
    (void)ignored;
    _exit(EXIT_FAILED);
}

void begin_timeout(void)
{
    if (!(timeout_s > 0))
        return;
    (void)ln_thread_set_timeout(timeout_s);
    if (timeout_s < 1e6) {
        signal(SIGALRM, stop_late);
        alarm((unsigned)timeout_s + TIMEOUT_GRACE_S + 1);
    }
}

int take_timeout(void *unused, const char *verb, const char *text)
{
    (void)unused;
    char *end;
    timeout_s = strtod(text, &end);
    if (end == text || *end || !(timeout_s > 0))
        return say_usage_error(verb, "--timeout takes a number of seconds, not '%s'", text);
    begin_timeout();
    return EXIT_OK;
}

static void apply_limits(ln_context *ctx)
{
    ln_limits limits;
    ln_context_get_limits(ctx, &limits);
    if (budget_byte_count)
        limits.memory_byte_count = budget_byte_count;
    if (work_limit > 0)
        limits.work = work_limit;
    (void)ln_context_set_limits(ctx, &limits);
}

// What a file that cannot be read is, where its bytes or its size say so.
static void say_what_it_is(const char *source)
{
    struct stat info;
    unsigned char bytes[65] = "";
    size_t len = strlen(source), text_count = 0;
    FILE *file = stat(source, &info) == 0 && S_ISREG(info.st_mode) ? fopen(source, "rb") : NULL;
    size_t count = file ? fread(bytes, 1, sizeof bytes - 1, file) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i < count; i++)
        text_count += (bytes[i] >= 0x20 && bytes[i] < 0x7f) || bytes[i] == '\n' ||
                      bytes[i] == '\t' || bytes[i] == '\r';
    if (count == 0 || len < 5 || strcmp(source + len - 5, ".onnx") != 0)
        return;
    if (text_count == count)
        say_info("%s is a text, and models in ONNX are not; it begins with '%.*s'", source,
                 (int)strcspn((const char *)bytes, "\r\n"), (const char *)bytes);
    else if (ln_error_status() == LN_SYNTAX)
        say_info("%s has %s bytes; where it came from it may have more", source,
                 grouped((size_t)info.st_size));
}

// A folder and an empty file are told from a model before anything reads them.
ln_status check_source(const char *source)
{
    struct stat info;
    int is_there = stat(source, &info) == 0;
    if (!is_there && strstr(source, "://"))
        return LN_FAIL(
            LN_IO, "cannot open '%s': addresses are not fetched; download the file first", source);
    if (strcmp(source, "-") == 0 || !is_there)
        return LN_OK;
    if (S_ISDIR(info.st_mode))
        return LN_FAIL(LN_INVALID, "'%s' is a folder; name the model in it, such as %s%smodel.onnx",
                       source, source, source[strlen(source) - 1] == '/' ? "" : "/");
    if (S_ISREG(info.st_mode) && info.st_size == 0)
        return LN_FAIL(LN_INVALID, "'%s' is empty: what should have written it has failed", source);
    return LN_OK;
}

ln_context *open_model(const char *source)
{
    if (check_source(source) != LN_OK) {
        say_failure();
        return NULL;
    }
    progress_begin("reading %s", source);
    ln_context *ctx = ln_context_create();
    if (ctx)
        apply_limits(ctx);
    ln_context_set_strict(ctx, is_strict);
    ln_status status = ctx ? device_option_apply(ctx) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = read_model(ctx, source);
    progress_end();
    device_option_note(ctx); // of a compiled file
    if (status == LN_OK)
        return ctx;
    say_failure();
    if (status == LN_SYNTAX)
        say_what_it_is(source);
    ln_context_free(ctx);
    return NULL;
}

ln_status compile_model(ln_context *ctx, const char *target, const ln_optimize_options *options)
{
    // A command changes no constants, so that they need not be kept beside what is folded from
    // them.
    ln_optimize_options frozen = options ? *options : ln_optimize_options_default();
    frozen.freezes_constants = 1;
    progress_begin("compiling %s for %s",
                   ln_context_source(ctx) ? ln_context_source(ctx) : "the model", target);
    ln_status status = ln_context_compile_with(ctx, target, &frozen);
    progress_end();
    device_option_note(ctx);
    return status;
}

ln_status load_model(ln_context *ctx, const char *datafile)
{
    progress_begin("loading %s", datafile ? datafile : "the model");
    ln_status status = threads_option_apply(ctx);
    if (status == LN_OK)
        status = write_option_apply(ctx);
    if (status == LN_OK)
        status = ln_context_load(ctx, datafile);
    progress_end();
    return status;
}

// What is compiled has been rewritten already.
static ln_status check_uncompiled(const ln_context *ctx, const char *source,
                                  const ln_optimize_options *options)
{
    if (options &&
        (options->skip_count > 0 || options->rule_file_count > 0 || options->stays_as_read ||
         options->tunes || options->keeps_halves || options->fails_over))
        return LN_FAIL(LN_STATE,
                       "%s is compiled already, so --skip, --rules, --tune, --keep-halves and "
                       "--failover come too late; give them where it is compiled",
                       source);
    const char *wanted = given_value(OPT_TARGET), *target = ln_context_target(ctx);
    if (wanted && target && strcmp(wanted, target) != 0)
        return LN_FAIL(
            LN_STATE, "%s is compiled already, for %s; --target=%s belongs to where it is compiled",
            source, target, wanted);
    return LN_OK;
}

ln_status compile_if_needed(ln_context *ctx, const char *source, const char *target,
                            const ln_optimize_options *options)
{
    return ln_context_get_state(ctx) >= LN_CONTEXT_PLANNED ? check_uncompiled(ctx, source, options)
                                                           : compile_model(ctx, target, options);
}

void close_model(ln_context *ctx)
{
    if (!ctx)
        return;
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
}

const char *grouped(size_t number)
{
    static char buffers[4][32];
    static unsigned next;
    char *buffer = buffers[next++ % 4];

    char digits[24];
    size_t len = (size_t)snprintf(digits, sizeof digits, "%zu", number);
    char *out = buffer;
    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return buffer;
}

// Bytes of the character of UTF-8 that starts at `text`, as far as they are there.
static size_t character_len(const char *text)
{
    unsigned char first = (unsigned char)*text;
    size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1, len = 1;
    while (len < wanted && ((unsigned char)text[len] & 0xc0) == 0x80)
        len++;
    return len;
}

void print_json_string(FILE *file, const char *text)
{
    fputc('"', file);
    while (*text) {
        char one[8], safe[32];
        size_t len = character_len(text);
        snprintf(one, sizeof one, "%.*s", (int)len, text);
        ln_sprint_safe(safe, sizeof safe, one);
        if ((unsigned char)*one < 0x20 || *one == '"' || *one == '\\' || *one == 0x7f)
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)*one);
        else
            fputs(strncmp(safe, "\\x", 2) == 0 ? "\\ufffd" : safe, file); // \u009b is JSON too
        text += len;
    }
    fputc('"', file);
}

int write_text(const char *outfile, const char *text)
{
    FILE *file = strcmp(outfile, "-") == 0 ? stdout : fopen(outfile, "w");
    if (!file) {
        say_error("cannot open %s: %s", outfile, strerror(errno));
        return EXIT_FAILED;
    }
    int is_written = fputs(text, file) >= 0;
    if ((file == stdout ? fflush(file) : fclose(file)) != 0 || !is_written) {
        say_error("cannot write %s: %s", outfile, strerror(errno));
        return EXIT_FAILED;
    }
    return EXIT_OK;
}
