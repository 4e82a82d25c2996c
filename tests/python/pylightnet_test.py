#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of the first LightNet's Python package with one import changed. Usage: pylightnet_test.py BUILD-FOLDER."""
import ctypes
import os
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(BUILD / "python"))
if not (BUILD / "python/lightnetrt/_core.abi3.so").exists():
    print("skipped: lightnetrt is not built (python3-dev)")
    sys.exit(77)
os.environ["LIGHTNET_LIBRARY"] = str(BUILD / "liblightnet.so.0")
import lightnetrt.compat.pylightnet as ln  # noqa: E402

MODEL = """create(| dst=image | dtype=TL_FLOAT, dims=[2], ran=[0, 255], data=[0], from_file=true);
lrelu(src=image | dst=y | negslope=0.5);
"""


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.net = os.path.join(self.folder.name, "model.net")
        self.out = os.path.join(self.folder.name, "out.json")
        Path(self.net).write_text(MODEL)

    def tearDown(self):
        self.folder.cleanup()

    def test_a_handler_compiles_loads_and_runs(self):
        model = ln.handler(self.net, target="ref", outfile=self.out)
        model.compile()
        model.load()
        data = model.create_data_dict(["image", "y"])
        self.assertEqual({name: len(buffer) for name, buffer in data.items()}, {"image": 8, "y": 8})
        ctypes.memmove(data["image"], (ctypes.c_float * 2)(3, -4), 8)
        model.set_data({"image": data["image"]})
        model.run()
        model.get_data({"y": data["y"]})
        self.assertEqual(list((ctypes.c_float * 2).from_buffer(data["y"])), [3, -2])
        del model
        again = ln.handler(self.out, run_only=True)
        again.load()
        again.set_data({"image": (ctypes.c_float * 2)(1, -1)})
        again.run()
        answer = (ctypes.c_float * 2)()
        again.get_data({"y": answer})
        self.assertEqual(list(answer), [1, -0.5])

    def test_functions_take_handles(self):
        ctx = ln.context.create()
        ln.context.init(ctx, self.net.encode())
        ln.context.set_param(ctx, "lrelu0", "negslope", ctypes.c_double(0.25))
        ln.context.compile(ctx, b"ref", None)
        ln.context.Print(ctx, self.out)
        ln.context.load(ctx)
        ln.context.set_data(ctx, b"image", ctypes.cast((ctypes.c_float * 2)(1, -8), ctypes.c_void_p))
        ln.context.run(ctx)
        answer = bytearray(ln.context.data_size(ctx, "y"))
        ln.context.get_data(ctx, "y", answer)
        self.assertEqual(memoryview(answer).cast("f").tolist(), [1, -2])
        for end in (ln.context.unload, ln.context.cleanup, ln.context.free):
            end(ctx)

    def test_failures_are_exceptions(self):
        with self.assertRaises(OSError):
            ln.handler(os.path.join(self.folder.name, "none.net"))
        model = ln.handler(self.net, target="ref", outfile="!")
        with self.assertRaises(LookupError):
            model.set_param({"lrelu0": {"slope": 1.0}})
        with self.assertRaises(LookupError):
            ln.context.data_size(model._ctx, "none")
        self.assertFalse(os.path.exists("out.json"))

    def test_parameters_of_every_kind(self):
        for value, setter in ((2, "numbers"), ([1, 2], "numbers"), ((ctypes.c_double * 2)(1, 2), "numbers"), ("a", "strings"),
                              ([b"a", "b"], "strings"), (True, "bools"), (ctypes.c_bool(True), "bools")):
            self.assertEqual(ln._as_values(value)[0].__name__, "ln_context_set_param_" + setter)

    def test_options_and_small_things(self):
        option = ln.option.create(["pylightnet", "-t", "ref", "-o", "!", "old.net"])
        self.assertEqual((ln.option.get_target(option), ln.option.get_outfile(option), ln.option.get_source(option),
                          ln.option.get_run(option)), ("ref", "!", "old.net", False))
        self.assertTrue(ln.util.streq("a", b"a"))
        self.assertEqual(ln.util.sprint_version(), ln.__version__)
        picture, out = bytes([10, 20, 30, 40, 50, 60]), (ctypes.c_float * 6)()  # 1 x 2 of 3 channels
        ln.util.img_submean(picture, [1, 2, 3], out, 1, 2, 3)
        self.assertEqual(list(out), [9, 39, 18, 48, 27, 57])


if __name__ == "__main__":
    unittest.main()
