/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of the first LightNet: one include in place of its four headers.
 *
 *     #include <lightnet/compat.h>                       // and link with -llightnet-classic
 *
 *     ln_option *option = ln_option_create(argc, argv);
 *     ln_arch_init();
 *     ln_msg_init(option);
 *     ln_context *ctx = ln_context_create();
 *     ln_context_init(ctx, ln_option_get_source(option));
 *     ln_context_compile(ctx, ln_option_get_target(option), ln_option_get_datafile(option));
 *
 * As there, a call that fails ends the program with its message and exit code 1; with
 * LN_COMPAT_RETURNS defined before the include, calls return their status as everywhere else.
 * The third argument of `ln_context_compile` may be given and is not needed: the data file is read
 * by `ln_context_load`. docs/migrate-lightnet.md has the rest.
 */

#ifndef LIGHTNET_COMPAT_H
#define LIGHTNET_COMPAT_H

#include <stdio.h>
#include <stdlib.h>

#include <lightnet/lightnet.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LN_CLASSIC_API __attribute__((visibility("default")))

/* ---- Options ---- */

/* What the old command line says. Strings are those of `argv`, or constants. */
typedef struct ln_option {
    const char *source; /* "-" is standard input */
    const char *outfile;
    const char *target;
    const char *datafile; /* NULL: none */
    ln_bool compile;
    ln_bool run;
    ln_bool Winter;
    ln_bool Wwarn;
    ln_bool debug;
    ln_bool help;    /* -h was given; then there may be no source */
    ln_bool version; /* -v */
} ln_option;

/* Reads -h -v -o -t -f -c -r -d -Wwarn -w -Wno-warn -Winter -Wno-inter and their long names;
 * argv[0] is passed over. NULL with a recorded failure when an option is unknown or lacks its
 * value, when there is no source, or when memory is gone. Not to be called by two threads at once.
 */
LN_CLASSIC_API ln_option *ln_option_create(int argc, char **argv);
LN_CLASSIC_API void ln_option_free(ln_option *option); /* NULL is fine */

/* The text of -h. */
LN_CLASSIC_API const char *ln_option_usage(void);

/* Writes "lightnet <version>" to `buf`, of 20 bytes, and returns it. */
LN_CLASSIC_API char *ln_option_sprint_version(char *buf);

LN_CLASSIC_API const char *ln_option_get_source(const ln_option *option);
LN_CLASSIC_API const char *ln_option_get_outfile(const ln_option *option);
LN_CLASSIC_API const char *ln_option_get_target(const ln_option *option);
LN_CLASSIC_API const char *ln_option_get_datafile(const ln_option *option);
LN_CLASSIC_API ln_bool ln_option_get_compile(const ln_option *option);
LN_CLASSIC_API ln_bool ln_option_get_run(const ln_option *option);
LN_CLASSIC_API ln_bool ln_option_get_Winter(const ln_option *option);
LN_CLASSIC_API ln_bool ln_option_get_Wwarn(const ln_option *option);
LN_CLASSIC_API ln_bool ln_option_get_debug(const ln_option *option);

/* ---- Messages ---- */

/* Messages go to standard error from here on, warnings and debug messages as `option` says. Without
 * it there are none, as in the old library. */
LN_CLASSIC_API void ln_msg_init(const ln_option *option);
LN_CLASSIC_API void ln_msg_cleanup(void);

/* A message that a line of the program has at most once. */
#define ln_msg_emit_once(level, ...)                                                               \
    do {                                                                                           \
        static int ln_is_emitted_;                                                                 \
        if (!ln_is_emitted_) {                                                                     \
            ln_is_emitted_ = 1;                                                                    \
            ln_msg_emit(level, __VA_ARGS__);                                                       \
        }                                                                                          \
    } while (0)

/* ---- Time: LN_TIMEIT_START; work(); LN_TIMEIT_END(&seconds); ---- */

#define LN_TIMEIT_START                                                                            \
    do {                                                                                           \
        double ln_timeit_start_ = ln_clock();

#define LN_TIMEIT_END(out_seconds)                                                                 \
    *(out_seconds) = ln_clock() - ln_timeit_start_;                                                \
    }                                                                                              \
    while (0)

/* ---- TensorLight ---- */

typedef tl_bool tl_bool_t;

#define tl_free ln_free

/* ---- Failures end the program ---- */

/* The call with or without the data file. */
static inline ln_status ln_compat_compile(ln_context *ctx, const char *target, const char *datafile)
{
    (void)datafile;
    return ln_context_compile(ctx, target);
}

#define LN_COMPAT_COMPILE_(ctx, target, datafile, ...) ln_compat_compile(ctx, target, datafile)

#ifdef LN_COMPAT_RETURNS
#define ln_context_compile(...) LN_COMPAT_COMPILE_(__VA_ARGS__, NULL, 0)
#else

static inline ln_status ln_compat_must(ln_status status)
{
    if (status != LN_OK) {
        fprintf(stderr, "error: %s\n", ln_error_message());
        exit(EXIT_FAILURE);
    }
    return status;
}

static inline void *ln_compat_must_have(void *pointer)
{
    if (!pointer)
        (void)ln_compat_must(ln_error_status() != LN_OK ? ln_error_status() : LN_NO_MEMORY);
    return pointer;
}

static inline ln_option *ln_compat_options(int argc, char **argv)
{
    ln_option *option = (ln_option *)ln_compat_must_have(ln_option_create(argc, argv));
    if (option->help || option->version) {
        char version[20];
        fputs(option->help ? ln_option_usage() : ln_option_sprint_version(version), stderr);
        fputs(option->help ? "" : "\n", stderr);
        exit(EXIT_SUCCESS);
    }
    return option;
}

#define ln_option_create(argc, argv)   ln_compat_options(argc, argv)
#define ln_arch_init()                 ln_compat_must((ln_arch_init)())
#define ln_context_create()            ((ln_context *)ln_compat_must_have((ln_context_create)()))
#define ln_context_init(ctx, source)   ln_compat_must((ln_context_init)(ctx, source))
#define ln_context_compile(...)        ln_compat_must(LN_COMPAT_COMPILE_(__VA_ARGS__, NULL, 0))
#define ln_context_print(ctx, outfile) ln_compat_must((ln_context_print)(ctx, outfile))
#define ln_context_load(ctx, datafile) ln_compat_must((ln_context_load)(ctx, datafile))
#define ln_context_run(ctx)            ln_compat_must((ln_context_run)(ctx))
#define ln_context_set_data(ctx, t, d) ln_compat_must((ln_context_set_data)(ctx, t, d))
#define ln_context_get_data(ctx, t, d) ln_compat_must_have((ln_context_get_data)(ctx, t, d))
#define ln_context_set_param(ctx, o, ...)                                                          \
    ln_compat_must((ln_context_set_param)(ctx, o, __VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#endif
