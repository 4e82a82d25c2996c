# SPDX-License-Identifier: Apache-2.0
"""The names of the first LightNet's Python package, over the shared library:

    import lightnetrt.compat.pylightnet as ln

Handles are pointers of their full width, texts may be `str` or `bytes`, and what fails raises lightnetrt.Error, where the
first one ended the interpreter. New programs use `lightnetrt`. The library is the one that LIGHTNET_LIBRARY names, or
liblightnet.so.0 where the system finds it (the package liblightnet0, or `make install`).
"""
import argparse
import ctypes
import os
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int, c_size_t, c_void_p
from types import SimpleNamespace

import lightnetrt


def _library():
    path = os.environ.get("LIGHTNET_LIBRARY") or "liblightnet.so.0"
    try:
        library = ctypes.CDLL(path)
    except OSError as reason:
        raise ImportError(f"lightnetrt.compat.pylightnet needs the shared library of LightNet ({reason}); install it "
                          "(the package liblightnet0, or `make install`), or name it in LIGHTNET_LIBRARY") from None
    numbers, texts, bools = [POINTER(kind) for kind in (c_double, c_char_p, c_bool)]
    for name, result, args in (
            ("ln_arch_init", c_int, []), ("ln_arch_cleanup", None, []), ("ln_version", c_char_p, []),
            ("ln_error_status", c_int, []), ("ln_error_message", c_char_p, []), ("ln_status_name", c_char_p, [c_int]),
            ("ln_context_create", c_void_p, []), ("ln_context_free", None, [c_void_p]),
            ("ln_context_init", c_int, [c_void_p, c_char_p]), ("ln_context_compile", c_int, [c_void_p, c_char_p]),
            ("ln_context_print", c_int, [c_void_p, c_char_p]), ("ln_context_load", c_int, [c_void_p, c_char_p]),
            ("ln_context_set_data", c_int, [c_void_p, c_char_p, c_void_p]),
            ("ln_context_get_data", c_void_p, [c_void_p, c_char_p, c_void_p]),
            ("ln_context_data_size", c_size_t, [c_void_p, c_char_p]), ("ln_context_run", c_int, [c_void_p]),
            ("ln_context_unload", None, [c_void_p]), ("ln_context_cleanup", None, [c_void_p]),
            ("ln_context_set_param_numbers", c_int, [c_void_p, c_char_p, c_char_p, c_size_t, numbers]),
            ("ln_context_set_param_strings", c_int, [c_void_p, c_char_p, c_char_p, c_size_t, texts]),
            ("ln_context_set_param_bools", c_int, [c_void_p, c_char_p, c_char_p, c_size_t, bools]),
            ("ln_img_submean", c_int, [c_void_p, POINTER(ctypes.c_float), c_void_p, c_int, c_int, c_int])):
        function = getattr(library, name)
        function.restype, function.argtypes = result, args
    return library


_lib = _library()
__version__ = _lib.ln_version().decode()
_ERRORS = {kind.status: kind for kind in vars(lightnetrt).values()
           if isinstance(kind, type) and issubclass(kind, lightnetrt.Error) and hasattr(kind, "status")
           and kind not in (lightnetrt.DTypeError, lightnetrt.FileMissingError)}


def _check(status):
    if status != 0:
        kind = _ERRORS.get(_lib.ln_status_name(status).decode(), lightnetrt.Error)
        raise kind(_lib.ln_error_message().decode(errors="replace"))


def _bytes(text):
    return None if text is None else os.fsencode(text)


# ---- Modules of functions, as they were ----

def _context_create():
    ctx = _lib.ln_context_create()
    if not ctx:
        _check(_lib.ln_error_status())
    return ctx


def _data_size(ctx, name):
    size = _lib.ln_context_data_size(ctx, _bytes(name))
    if size == 0 and _lib.ln_error_status() != 0:
        _check(_lib.ln_error_status())
    return size


def _get_data(ctx, name, data):
    if not _lib.ln_context_get_data(ctx, _bytes(name), _address(data)):
        _check(_lib.ln_error_status())


def _compile(ctx, target, datafile=None):
    _check(_lib.ln_context_compile(ctx, _bytes(target)))


def _as_values(value):
    """The setter for a Python or ctypes value, or an array of such, and an array of ctypes."""
    items = list(value) if isinstance(value, (ctypes.Array, list, tuple)) else [getattr(value, "value", value)]
    if items and all(isinstance(item, bool) for item in items):
        return _lib.ln_context_set_param_bools, (c_bool * len(items))(*items)
    if items and all(isinstance(item, (str, bytes)) for item in items):
        return _lib.ln_context_set_param_strings, (c_char_p * len(items))(*map(_bytes, items))
    return _lib.ln_context_set_param_numbers, (c_double * len(items))(*items)


def _set_param(ctx, opname, pname, value):
    setter, values = _as_values(value)
    _check(setter(ctx, _bytes(opname), _bytes(pname), len(values), values))


context = SimpleNamespace(
    create=_context_create,
    init=lambda ctx, source: _check(_lib.ln_context_init(ctx, _bytes(source))),
    compile=_compile,
    Print=lambda ctx, outfile: _check(_lib.ln_context_print(ctx, _bytes(outfile))),
    load=lambda ctx, datafile=None: _check(_lib.ln_context_load(ctx, _bytes(datafile))),
    set_data=lambda ctx, name, data: _check(_lib.ln_context_set_data(ctx, _bytes(name), _address(data))),
    get_data=_get_data,
    data_size=_data_size,
    set_param=_set_param,
    run=lambda ctx: _check(_lib.ln_context_run(ctx)),
    unload=_lib.ln_context_unload, cleanup=_lib.ln_context_cleanup, free=_lib.ln_context_free)
arch = SimpleNamespace(init=lambda: _check(_lib.ln_arch_init()), cleanup=_lib.ln_arch_cleanup)
msg = SimpleNamespace(init=lambda option=None: None, cleanup=lambda: None)  # messages are exceptions


def _address(data):
    """Memory of a ctypes object, or of anything with a writable buffer."""
    if isinstance(data, (ctypes._SimpleCData, ctypes._Pointer)):
        return ctypes.cast(data, c_void_p)
    if isinstance(data, (ctypes.Array, ctypes.Structure)):
        return ctypes.addressof(data)
    view = memoryview(data)
    if not view.c_contiguous:
        raise lightnetrt.InvalidError("the elements do not lie one after the other")
    if view.readonly:
        return ctypes.cast(ctypes.c_char_p(view.tobytes()), c_void_p)
    return ctypes.addressof(ctypes.c_char.from_buffer(view.cast("B"))) if view.nbytes else None


def _option_create(argv):
    parser = argparse.ArgumentParser(prog="pylightnet", add_help=False)
    parser.add_argument("-t", "--target", default="cpu")
    parser.add_argument("-o", "--outfile", default="out.json")
    parser.add_argument("-f", "--datafile")
    parser.add_argument("-c", "--compile", action="store_true")
    parser.add_argument("-r", "--run", action="store_true")
    parser.add_argument("source", nargs="?")
    return parser.parse_known_args([os.fsdecode(word) for word in argv[1:]])[0]


option = SimpleNamespace(
    create=_option_create, free=lambda option: None, version=lambda: __version__,
    get_source=lambda option: option.source, get_target=lambda option: option.target,
    get_outfile=lambda option: option.outfile, get_datafile=lambda option: option.datafile,
    get_compile=lambda option: option.compile, get_run=lambda option: option.run)


def _img_submean(data, mean, out, height, width, channels):
    _check(_lib.ln_img_submean(_address(data), (ctypes.c_float * channels)(*mean), _address(out), height, width,
                               channels))


util = SimpleNamespace(sprint_version=lambda: __version__, streq=lambda a, b: _bytes(a) == _bytes(b),
                       img_submean=_img_submean)
lib = SimpleNamespace(init=arch.init, cleanup=arch.cleanup, str2bytes=_bytes, alloc=ctypes.create_string_buffer,
                      str_array=lambda texts: (c_char_p * len(texts))(*map(_bytes, texts)),
                      cast_buf=lambda buffer, kind: ctypes.cast(buffer, POINTER(kind)))


class handler:
    """A model, from its file to results. What was not called before is done by what needs it."""

    def __init__(self, net, target="cpu", outfile="out.json", datafile=None, compile_only=False, run_only=False,
                 options=()):
        self._ctx = None
        self._ctx = context.create()
        self._target, self._outfile, self._datafile = target, outfile, datafile
        self._compiles, self._loads = not run_only, not compile_only
        context.init(self._ctx, net)

    def compile(self):
        """Rewrites the model, and writes it to `outfile` unless that is "!"."""
        if self._compiles:
            context.compile(self._ctx, self._target)
            self._compiles = False
            if os.fsdecode(self._outfile) != "!":
                context.Print(self._ctx, self._outfile)

    def load(self):
        self.compile()
        if self._loads:
            context.load(self._ctx, self._datafile)
            self._loads = False

    def run(self):
        self.load()
        context.run(self._ctx)

    def create_data_dict(self, names):
        """{name: buffer of the tensor's size}."""
        return {name: ctypes.create_string_buffer(context.data_size(self._ctx, name)) for name in names}

    def set_data(self, data):
        for name, values in data.items():
            context.set_data(self._ctx, name, values)

    def get_data(self, data):
        for name, values in data.items():
            context.get_data(self._ctx, name, values)

    def set_param(self, params):
        for opname, values in params.items():
            for pname, value in values.items():
                context.set_param(self._ctx, opname, pname, value)

    def close(self):
        ctx, self._ctx = self._ctx, None
        if ctx:
            context.free(ctx)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __del__(self):
        self.close()


arch.init()
