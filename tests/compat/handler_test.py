#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program of the first LightNet's Python package: all that it calls is found in one library.

Usage: handler_test.py BUILD-FOLDER
"""
import ctypes
import os
import sys
import tempfile

lib = ctypes.CDLL(os.path.join(sys.argv[1], "liblightnet-classic.so"))
OLD_NAMES = """ln_arch_init ln_arch_cleanup ln_context_create ln_context_free ln_context_init ln_context_compile
ln_context_print ln_context_load ln_context_set_data ln_context_get_data ln_context_data_size ln_context_set_param
ln_context_run ln_context_unload ln_context_cleanup ln_option_create ln_option_free ln_option_sprint_version
ln_option_get_source ln_option_get_outfile ln_option_get_target ln_option_get_datafile ln_option_get_compile
ln_option_get_run ln_option_get_Winter ln_option_get_Wwarn ln_option_get_debug ln_msg_init ln_msg_cleanup ln_msg_create
ln_msg_free ln_msg_handle ln_msg_emit ln_alloc ln_realloc ln_strdup ln_clock ln_streq ln_streqn ln_suffixed ln_free
ln_img_submean""".split()
missing = [name for name in OLD_NAMES if not hasattr(lib, name)]
assert not missing, "not there: %s" % missing

lib.ln_context_create.restype = ctypes.c_void_p
lib.ln_option_create.restype = ctypes.c_void_p
lib.ln_option_get_target.restype = ctypes.c_char_p
lib.ln_context_data_size.restype = ctypes.c_size_t

argv = (ctypes.c_char_p * 4)(b"pylightnet", b"-t", b"ref", b"old.net")
option = ctypes.c_void_p(lib.ln_option_create(4, argv))
assert lib.ln_option_get_target(option) == b"ref"
lib.ln_arch_init()
lib.ln_msg_init(option)

with tempfile.NamedTemporaryFile("w", suffix=".net", delete=False) as file:
    file.write("create(| dst=image | dtype=TL_FLOAT, dims=[2], ran=[0, 255], data=[0], from_file=true);"
               "lrelu(src=image | dst=y | negslope=0.5);")
model = file.name.encode()
ctx = ctypes.c_void_p(lib.ln_context_create())
picture, answer = (ctypes.c_float * 2)(3, -4), (ctypes.c_float * 2)()
lib.ln_context_init(ctx, model)
lib.ln_context_compile(ctx, b"cpu", None)
lib.ln_context_load(ctx, None)
lib.ln_context_set_data(ctx, b"image", picture)
lib.ln_context_run(ctx)
lib.ln_context_get_data(ctx, b"y", answer)
os.unlink(file.name)
assert lib.ln_context_data_size(ctx, b"y") == 8
assert list(answer) == [3, -2], list(answer)
lib.ln_context_unload(ctx)
lib.ln_context_cleanup(ctx)
lib.ln_context_free(ctx)
lib.ln_msg_cleanup()
lib.ln_arch_cleanup()
lib.ln_option_free(option)
print("passed")
