// SPDX-License-Identifier: Apache-2.0
// Reads a model in IL into the tree that its JSON IR would give.
//
//     {"ops": [{"name", "optype", "tensors_in": [{"arg_name", "name"}], "tensors_out": [...],
//               "params": [{"arg_name", "value"}]}]}
//
// Every node carries its place in the IL text, inside the macro's body when a macro made it. Which
// operators exist is not asked here. docs/il.md describes the language.

#ifndef LN_SERIAL_IL_IL_PARSE_H
#define LN_SERIAL_IL_IL_PARSE_H

#include <stddef.h>

#include <lightnet/status.h>

#include "base/value.h"

LN_CPPSTART

// Parses a text. `file` names it in messages, NULL is "<text>"; `folder` is where #include looks,
// NULL refuses includes. The caller destroys *out_document, which is NULL on failure: LN_SYNTAX,
// LN_INVALID, LN_LIMIT, LN_UNSUPPORTED or LN_IO with file, line, column and the chain of macros
// that led there; LN_NO_MEMORY. Nothing of the text is borrowed.
ln_status ln_il_parse(const char *text, size_t len, const char *file, const char *folder,
                      ln_document **out_document);

// Parses a file, with includes from its folder; "-" is standard input, without includes.
ln_status ln_il_parse_file(const char *path, ln_document **out_document);

LN_CPPEND

#endif
