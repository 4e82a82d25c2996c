// SPDX-License-Identifier: Apache-2.0
// What one IL text may cost. An IL text is hostile until it is parsed: a few lines of macros can
// ask for any amount of work, so each kind of work has a bound. docs/il.md lists them for users.

#ifndef LN_SERIAL_IL_IL_LIMITS_H
#define LN_SERIAL_IL_IL_LIMITS_H

#define LN_IL_MAX_BYTES         (64 << 20) // of all source files of a model together
#define LN_IL_MAX_FILES         1000       // read through #include, repeated ones counted again
#define LN_IL_MAX_INCLUDE_DEPTH 16         // files open at once, besides the main file
#define LN_IL_MAX_CONDITIONS    64         // #if inside #if
#define LN_IL_MAX_PARAMS        127        // of one macro
#define LN_IL_MAX_DEPTH         256        // macro expansions inside each other
#define LN_IL_MAX_EXPANSIONS    500000     // macro expansions in all
#define LN_IL_MAX_TOKENS        4000000    // tokens made by macros in all
#define LN_IL_MAX_LIVE_TOKENS   500000     // tokens made by macros and not yet read
#define LN_IL_MAX_JOINED_BYTES  (16 << 20) // of all names made with ## and ${eval}
#define LN_IL_MAX_NAME          4096       // bytes of one name made so
#define LN_IL_MAX_EVAL_DEPTH    32         // ${eval} inside ${eval}
#define LN_IL_MAX_NESTING       200        // levels of one expression; a parenthesis costs two

#endif
