// SPDX-License-Identifier: Apache-2.0
// The command line of the first LightNet, as a structure.

#define LN_COMPAT_RETURNS
#include <lightnet/compat.h>

#include <getopt.h>
#include <string.h>

static const char usage[] =
    "Usage: lightnet [OPTION...] SOURCE\n"
    "\n"
    "  -h, --help           show this help\n"
    "  -v, --version        show the version\n"
    "  -o, --outfile=FILE   the compiled form (default out.json); \"-\" is standard output, \"!\" is none\n"
    "  -t, --target=TARGET  the arch to compile for (default cpu)\n"
    "  -f, --datafile=FILE  data of tensors\n"
    "  -c, --compile        compile only\n"
    "  -r, --run            run only: SOURCE is compiled\n"
    "  -d, --debug          show debug messages\n"
    "  -Wwarn               show warnings (default)\n"
    "  -w, -Wno-warn        hide them\n"
    "  -Winter              show internal warnings (default)\n"
    "  -Wno-inter           hide them\n";

enum { WWARN = 256, WINTER, WNO_INTER };

static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'v'},
                                             {"outfile", required_argument, NULL, 'o'},
                                             {"target", required_argument, NULL, 't'},
                                             {"datafile", required_argument, NULL, 'f'},
                                             {"compile", no_argument, NULL, 'c'},
                                             {"run", no_argument, NULL, 'r'},
                                             {"debug", no_argument, NULL, 'd'},
                                             {"Wwarn", no_argument, NULL, WWARN},
                                             {"Wno-warn", no_argument, NULL, 'w'},
                                             {"Winter", no_argument, NULL, WINTER},
                                             {"Wno-inter", no_argument, NULL, WNO_INTER},
                                             {NULL, 0, NULL, 0}};

static ln_status take(ln_option *option, int c, const char *word)
{
    switch (c) {
    case 'h': option->help = LN_TRUE; break;
    case 'v': option->version = LN_TRUE; break;
    case 'o': option->outfile = optarg; break;
    case 't': option->target = optarg; break;
    case 'f': option->datafile = optarg; break;
    case 'c': option->compile = LN_TRUE; break;
    case 'r': option->run = LN_TRUE; break;
    case 'd': option->debug = LN_TRUE; break;
    case 'w': option->Wwarn = LN_FALSE; break;
    case WWARN: option->Wwarn = LN_TRUE; break;
    case WINTER: option->Winter = LN_TRUE; break;
    case WNO_INTER: option->Winter = LN_FALSE; break;
    case ':': return LN_FAIL(LN_INVALID, "option %s needs a value", word);
    default: return LN_FAIL(LN_INVALID, "unknown option %s", word);
    }
    return LN_OK;
}

// getopt rearranges what it walks, so `words` is a copy.
static ln_status parse(ln_option *option, int argc, char **words)
{
    *option =
        (ln_option){.outfile = "out.json", .target = "cpu", .Wwarn = LN_TRUE, .Winter = LN_TRUE};
    int old_opterr = opterr, c;
    ln_status status = LN_OK;
    opterr = 0;
    optind = 0; // begins anew
    while (status == LN_OK &&
           (c = getopt_long_only(argc, words, ":hvo:t:f:crdw", long_options, NULL)) != -1)
        status = take(option, c, words[optind - 1]);
    opterr = old_opterr;
    if (status != LN_OK || option->help || option->version)
        return status;
    if (optind >= argc)
        return LN_FAIL(LN_INVALID, "no input file");
    option->source = words[optind];
    if (!option->compile && !option->run)
        option->compile = option->run = LN_TRUE;
    return LN_OK;
}

ln_option *ln_option_create(int argc, char **argv)
{
    if (argc < 1 || !argv) {
        ln_fail(LN_INVALID, "options need an argv with a program's name first");
        return NULL;
    }
    ln_option *option = ln_alloc(sizeof *option);
    char **words = ln_alloc_array((size_t)argc + 1, sizeof *words);
    ln_status status = option && words ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK) {
        memcpy(words, argv, (size_t)argc * sizeof *words);
        status = parse(option, argc, words);
    }
    ln_free(words);
    if (status == LN_OK)
        return option;
    ln_free(option);
    return NULL;
}

void ln_option_free(ln_option *option)
{
    ln_free(option);
}

const char *ln_option_usage(void)
{
    return usage;
}

char *ln_option_sprint_version(char *buf)
{
    snprintf(buf, 20, "lightnet %s", ln_version());
    return buf;
}

// ---- Getters ----

const char *ln_option_get_source(const ln_option *option)
{
    return option->source;
}

const char *ln_option_get_outfile(const ln_option *option)
{
    return option->outfile;
}

const char *ln_option_get_target(const ln_option *option)
{
    return option->target;
}

const char *ln_option_get_datafile(const ln_option *option)
{
    return option->datafile;
}

ln_bool ln_option_get_compile(const ln_option *option)
{
    return option->compile;
}

ln_bool ln_option_get_run(const ln_option *option)
{
    return option->run;
}

ln_bool ln_option_get_Winter(const ln_option *option)
{
    return option->Winter;
}

ln_bool ln_option_get_Wwarn(const ln_option *option)
{
    return option->Wwarn;
}

ln_bool ln_option_get_debug(const ln_option *option)
{
    return option->debug;
}
