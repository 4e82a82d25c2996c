#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package lightnetrt against numbers of NumPy: values, types, errors, threads, processes, leaks.

Usage: lightnetrt_test.py BUILD-FOLDER. Exits with 77 where the package was not built.
"""
import array
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
if not list((BUILD / "python").glob("lightnetrt/_core*.so")):
    print("skipped: lightnetrt is not built; it needs the headers of Python 3.11 or newer (python3-dev)")
    sys.exit(77)
sys.path.insert(0, str(BUILD / "python"))
import lightnetrt  # noqa: E402

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

ROOT = Path(__file__).resolve().parent.parent.parent
DIGITS = dict(source=ROOT / "models/digits/digits.net", weights=ROOT / "models/digits/digits.safetensors")


def model_of(nodes, inputs, outputs, initializers=(), opset=15, metadata=None):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(*i) for i in inputs],
                              [helper.make_tensor_value_info(*o) for o in outputs], list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="test")
    model.ir_version = 8
    if metadata:
        helper.set_model_props(model, metadata)
    return model.SerializeToString()


def gemm(batch="batch"):
    w = np.arange(6, dtype="float32").reshape(3, 2)
    return model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", TensorProto.FLOAT, [batch, 3])],
                    [("y", TensorProto.FLOAT, [batch, 2])], [numpy_helper.from_array(w, "w")],
                    metadata={"language": "en", "rate": "16000"}), w


def one_node(op, kind, rank=1, out=None, **attributes):
    return model_of([helper.make_node(op, ["x"], ["y"], **attributes)], [("x", kind, ["n"] * rank)],
                    [("y", out or kind, ["n"] * rank)])


def long_model():
    """Some seconds of matrix products."""
    nodes = [helper.make_node("MatMul", [f"t{i}" if i else "x", "w"], [f"t{i + 1}"]) for i in range(300)]
    w = numpy_helper.from_array(np.eye(700, dtype="float32") + 0.001, "w")
    return model_of(nodes, [("x", TensorProto.FLOAT, [700, 700])], [("t300", TensorProto.FLOAT, [700, 700])], [w])


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Loading(unittest.TestCase):
    def test_takes_a_path_bytes_and_pathlike(self):
        with lightnetrt.load(**DIGITS) as model, lightnetrt.load(str(DIGITS["source"]), weights=str(DIGITS["weights"])) as two:
            x = np.random.default_rng(1).random(model.inputs[0].shape, dtype="float32")
            self.assertTrue(np.array_equal(model(x), two(x)))
        data, w = gemm()
        for source in (data, bytearray(data), memoryview(data)):
            x = np.ones((2, 3), "float32")
            np.testing.assert_allclose(lightnetrt.load(source)(x), x @ w)

    def test_states_inputs_outputs_and_metadata(self):
        model = lightnetrt.load(gemm()[0])
        self.assertEqual(model.inputs, [("x", "float32", ("batch", 3))])
        self.assertEqual(model.outputs, [("y", "float32", ("batch", 2))])
        self.assertEqual(model.metadata.properties, {"language": "en", "rate": "16000"})
        self.assertEqual((model.metadata.producer, model.metadata.graph), ("test", "g"))

    def test_symbols_are_bound(self):
        self.assertEqual(lightnetrt.load(gemm()[0], symbols={"batch": 4}).inputs[0].shape, (4, 3))

    def test_missing_file_is_a_file_not_found_error(self):
        with self.assertRaises(FileNotFoundError) as caught:
            lightnetrt.load("/nowhere/model.onnx")
        self.assertIsInstance(caught.exception, lightnetrt.Error)
        self.assertIn("/nowhere/model.onnx", str(caught.exception))

    def test_limits(self):
        data = gemm(100000)[0]
        with self.assertRaises(MemoryError) as caught:
            lightnetrt.load(data, memory_limit=100000)
        self.assertEqual(caught.exception.status, "LN_LIMIT")
        with self.assertRaises(TimeoutError):
            lightnetrt.load(long_model(), time_limit=1e-9)

    def test_hostile_bytes_are_value_errors(self):
        data = gemm()[0]
        for n in range(0, len(data), 7):
            try:
                lightnetrt.load(data[:n])
            except lightnetrt.Error:
                pass
        with self.assertRaises((ValueError, NotImplementedError)):
            lightnetrt.load(b"\xff" * 100)

    def test_an_empty_model_is_a_format_error(self):
        for call in lightnetrt.load, lightnetrt.inspect, lightnetrt.preflight, lightnetrt.plan:
            for model in b"", bytearray(), memoryview(b""):
                with self.assertRaisesRegex(lightnetrt.FormatError, "the model is empty"):
                    call(model)
        with self.assertRaisesRegex(lightnetrt.UnsupportedError, "no reader knows this format"):
            lightnetrt.load(b"neither of them")

    def test_changed_bytes_give_results_or_errors(self):
        """Bytes of models that are changed, cut, doubled or moved: a result or an Error, never anything else."""
        import random
        draw = random.Random(7)
        models = [gemm()[0], gemm(4)[0], one_node("Identity", TensorProto.STRING), long_model()]
        for round in range(400):
            data = bytearray(draw.choice(models))
            for _ in range(draw.randrange(1, 6)):
                at = draw.randrange(len(data))
                how = draw.randrange(5)
                if how == 0:
                    data[at] = draw.choice((0, 1, 0x7f, 0x80, 0xff, draw.randrange(256)))
                elif how == 1:
                    data[at] ^= 1 << draw.randrange(8)
                elif how == 2:
                    del data[at:at + draw.randrange(1, 9)]
                elif how == 3:
                    data[at:at] = data[at:at + draw.randrange(1, 40)]
                else:
                    data[at:at + 5] = b"\xff\xff\xff\xff\x7f"
                data = data or bytearray(b"x")
            try:
                lightnetrt.preflight(bytes(data))
                with lightnetrt.load(bytes(data), memory_limit=1 << 28, work_limit=1e8, time_limit=5) as model:
                    feeds = {i.name: np.ones([d if isinstance(d, int) else 2 for d in i.shape or ()][:4], i.dtype)
                             for i in model.inputs if i.dtype in ("float32", "int64")}
                    model.run(feeds, time_limit=2)
            except lightnetrt.Error:
                pass

    def test_hostile_arguments_are_exceptions(self):
        class Lies:
            def __init__(self, value):
                self.value = value

            def __dlpack__(self, **unused):
                if isinstance(self.value, Exception):
                    raise self.value
                return self.value

            def __dlpack_device__(self):
                return (1, 0)

        model = lightnetrt.load(gemm()[0])
        wide = np.ones((4, 6), "float32")[:, ::2]
        self.assertEqual(model(wide).tolist(), model(wide.copy()).tolist())
        self.assertEqual(model(np.ones((4, 3), "float32")[::-1]).shape, (4, 2))
        for value in (Lies(None), Lies(7), Lies(KeyError("own")), Lies(b"capsule"), b"", bytes(11), object(), np.ones((4, 3), ">f4"),
                      np.ones((4, 3), object), np.ones((0, 3, 1), "float32"), [[1, 2, 3], [4]], {"x": 1}, None, "text",
                      memoryview(b"abc")[::2]):
            with self.assertRaises(Exception) as caught:
                model(x=value)
            self.assertNotIsInstance(caught.exception, (SystemError, lightnetrt.InternalError), repr(value))
        for call in (lambda: lightnetrt.Array("float32", (1 << 40, 1 << 40)), lambda: lightnetrt.Array("float32", (-1,)),
                     lambda: lightnetrt.Array("no type", (1,)), lambda: lightnetrt.Array("float32", (2,), b"123"),
                     lambda: lightnetrt.Array("float32", (1,) * 99), lambda: lightnetrt.load("a\0b"),
                     lambda: lightnetrt.load("\udc80.onnx"), lambda: lightnetrt.load(b""), lambda: lightnetrt.load(7),
                     lambda: lightnetrt.load(gemm()[0], symbols={"batch": -1}), lambda: lightnetrt.load(gemm()[0], threads=-1),
                     lambda: lightnetrt.load(gemm()[0], files={"a": 7}), lambda: lightnetrt.load(gemm()[0], threads=1 << 70),
                     lambda: model.run({"x\0": wide}), lambda: model.run({"x": wide}, ["y\0"]), lambda: model.run(7),
                     lambda: model.run({7: wide}), lambda: model.run({"x": wide}, time_limit=float("nan"), cancel=7),
                     lambda: lightnetrt.from_dlpack(Lies(7)), lambda: lightnetrt.plan(b"x" * 9), lambda: lightnetrt.preflight(7)):
            with self.assertRaises((ValueError, TypeError, OSError, MemoryError, LookupError, NotImplementedError,
                                    OverflowError, lightnetrt.Error)):
                call()

    def test_options_name_themselves_and_what_they_take(self):
        """A wrong type is a TypeError, a wrong number a ValueError; both have the option, what it takes and what it was given."""
        for error, options, words in (
                (ValueError, {"sessions": -1}, "sessions takes an integer from 0 on, not -1"),
                (ValueError, {"threads": -1}, "threads takes an integer from 0 on, not -1"),
                (ValueError, {"memory_limit": 2**63}, "memory_limit takes a number of bytes, an integer from 0 on, below 2.63"),
                (ValueError, {"memory_limit": 2**70}, "memory_limit takes a number of bytes, an integer from 0 on, below 2.63, not 1180591620717411303424"),
                (TypeError, {"threads": 1.5}, "threads takes an integer from 0 on, not 1.5"),
                (TypeError, {"memory_limit": "1G"}, "memory_limit takes a number of bytes, an integer from 0 on, not '1G'"),
                (ValueError, {"work_limit": -1}, "work_limit takes a number from 0 on, not -1"),
                (ValueError, {"time_limit": float("nan")}, "time_limit takes a number from 0 on, not nan"),
                (TypeError, {"time_limit": "1s"}, "time_limit takes a number from 0 on, not '1s'"),
                (TypeError, {"symbols": {"batch": "3"}}, r"symbols takes a dict such as \{'batch': 4\} .*, not \{'batch': '3'\}"),
                (TypeError, {"symbols": {"batch": 2.5}}, "symbols takes a dict"), (TypeError, {"symbols": 3}, "symbols takes a dict"),
                (TypeError, {"symbols": {"batch": (1, 2, 3)}}, "symbols takes a dict"),
                (TypeError, {"overridable": "b"}, "overridable takes a list of names, not 'b'"),
                (TypeError, {"files": {"w.bin": "text"}}, "files takes a dict of bytes by name"),
                (TypeError, {"devices": ["gpu"]}, "devices takes a dict"), (TypeError, {"target": 3}, "target takes archs"),
                (TypeError, {"strict": "no"}, "strict takes True or False, not 'no'"), (TypeError, {"folder": 3}, "folder takes a path, not 3")):
            for call in (lightnetrt.load, lightnetrt.plan, lightnetrt.inspect):
                with self.subTest(options=options), self.assertRaisesRegex(error, words):
                    call(gemm()[0], **options)
        model = lightnetrt.load(gemm()[0], symbols={"batch": np.int64(4)}, threads=np.int32(1), memory_limit=10**9, strict=np.True_)
        for limit, error in ((-1, ValueError), ("1", TypeError)):
            with self.assertRaisesRegex(error, "time_limit takes a number from 0 on"):
                model.run({"x": np.ones((4, 3), "float32")}, time_limit=limit)
        for run in model.run, model.run_async:
            with self.assertRaisesRegex(TypeError, "priority takes an integer from -100 to 100, not 'high'"):
                run({"x": np.ones((4, 3), "float32")}, priority="high")
        for outputs in "y", [1]:
            with self.assertRaisesRegex(TypeError, "outputs takes a list of names"):
                model.run({"x": np.ones((4, 3), "float32")}, outputs)

    def test_messages_have_the_words_of_python(self):
        """What the library says of C functions and of options of the command."""
        for error, call, words, not_words in (
                (lightnetrt.LimitError, lambda: lightnetrt.load(gemm()[0], memory_limit=100), "memory_limit", "ln_limits|budget"),
                (lightnetrt.LimitError, lambda: lightnetrt.load(gemm()[0], symbols={"batch": 4}, work_limit=1), r"\(work_limit\)", "ln_|--"),
                (lightnetrt.TimeLimitError, lambda: lightnetrt.load(gemm()[0], time_limit=1e-9), r"\(time_limit\)", "ln_|--"),
                (lightnetrt.NotFoundError, lambda: lightnetrt.load(gemm()[0], devices={"gpu": {}}), "load_plugin", "register"),
                (lightnetrt.FileError, lambda: lightnetrt.convert(gemm()[0], "/no/such/folder/q.onnx"), "create '/no/such/folder/q.onnx'", "tmp")):
            with self.assertRaisesRegex(error, words) as caught:
                call()
            self.assertNotRegex(str(caught.exception), not_words)

    def test_an_input_with_a_default_says_how_it_is_given(self):
        node = helper.make_node("Add", ["x", "b"], ["y"])
        data = model_of([node], [("x", TensorProto.FLOAT, ["n", 2]), ("b", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, ["n", 2])],
                        [numpy_helper.from_array(np.ones(2, "float32"), "b")])
        with self.assertRaisesRegex(lightnetrt.NotFoundError, r"no input 'b' unless it is loaded with overridable=\['b'\]; it takes x"):
            lightnetrt.load(data)(x=np.ones((1, 2), "float32"), b=np.ones(2, "float32"))

    def test_unknown_option_is_a_type_error(self):
        with self.assertRaisesRegex(TypeError, "unknown option 'thread'"):
            lightnetrt.load(gemm()[0], thread=1)


class Running(unittest.TestCase):
    def setUp(self):
        data, self.w = gemm()
        self.model = lightnetrt.load(data)
        self.x = np.random.default_rng(0).random((4, 3), dtype="float32")

    def test_forms_of_a_call(self):
        wanted = self.x @ self.w
        for got in (self.model(self.x), self.model(x=self.x), self.model({"x": self.x}), self.model.run({"x": self.x})["y"],
                    self.model.run_async({"x": self.x}).result()["y"], self.model(self.x.tolist()),
                    self.model(np.asfortranarray(self.x)), self.model(self.x[::-1][::-1])):
            self.assertEqual((got.dtype, got.shape), (np.float32, (4, 2)))
            np.testing.assert_allclose(got, wanted, rtol=1e-5)

    def test_shapes_change_from_run_to_run(self):
        for n in (1, 5, 2, 0):
            self.assertEqual(self.model(np.ones((n, 3), "float32")).shape, (n, 2))

    def test_priorities_have_bounds(self):
        for priority in -101, 101:
            self.assertRaisesRegex(lightnetrt.InvalidError, "priority", self.model.run, {"x": self.x}, priority=priority)
        np.testing.assert_array_equal(self.model.run({"x": self.x}, priority=7)["y"], self.model(self.x))
        with lightnetrt.load(long_model()) as model:
            self.assertRaises(TimeoutError, model.run_async({"x": np.ones((700, 700), "float32")}, time_limit=0.001).result)
        self.assertRaises(RuntimeError, model.run_async, {})

    def test_results_are_the_callers(self):
        first = self.model(self.x)
        kept = first.copy()
        self.model(self.x * 0)
        self.assertTrue(np.array_equal(first, kept))
        first[:] = 7

    def test_other_types_are_type_errors(self):
        with self.assertRaisesRegex(TypeError, "input 'x' takes float32, the array has float64.*astype") as caught:
            self.model(self.x.astype("float64"))
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaises(TypeError):
            self.model(object())
        with self.assertRaises(TypeError):
            self.model(self.x.astype(">f4"))

    def test_other_shapes_and_names(self):
        with self.assertRaisesRegex(ValueError, "x"):
            self.model(np.ones((4, 5), "float32"))
        with self.assertRaises(LookupError):
            self.model.run({"x": self.x, "z": self.x})
        with self.assertRaisesRegex(LookupError, "no output 'q'"):
            self.model.run({"x": self.x}, ["q"])
        with self.assertRaisesRegex(ValueError, "input 'x' is missing"):
            self.model()
        with self.assertRaisesRegex(LookupError, "no input 'X'; it takes x"):
            self.model.run({"X": self.x})
        with self.assertRaisesRegex(TypeError, "a dict of arrays by name, not ndarray"):
            self.model.run(self.x)

    def test_closed_model_is_a_state_error(self):
        with self.model:
            pass
        with self.assertRaisesRegex(RuntimeError, "closed"):
            self.model(self.x)

    def test_element_types(self):
        kinds = {"float64": TensorProto.DOUBLE, "float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16,
                 "int64": TensorProto.INT64, "int32": TensorProto.INT32, "int16": TensorProto.INT16,
                 "int8": TensorProto.INT8, "uint64": TensorProto.UINT64, "uint32": TensorProto.UINT32,
                 "uint16": TensorProto.UINT16, "uint8": TensorProto.UINT8, "bool": TensorProto.BOOL,
                 "complex64": TensorProto.COMPLEX64}
        for name, kind in kinds.items():
            model = lightnetrt.load(one_node("Identity", kind))
            x = np.array([0, 1, 3]).astype(name)
            y = model(x)
            self.assertEqual((model.inputs[0].dtype, y.dtype), (name, x.dtype))
            self.assertTrue(np.array_equal(x, y), name)

    def test_strings(self):
        model = lightnetrt.load(one_node("Identity", TensorProto.STRING, 2))
        words = [["a", "grün", ""], ["d", "e", "f"]]
        for x in (words, np.array(words), np.array(words, dtype=object)):
            self.assertEqual(model(x).tolist(), words)
        self.assertEqual(model(np.zeros((0, 3), dtype=object)).shape, (0, 3))
        with self.assertRaisesRegex(TypeError, "takes strings"):
            model([[1, 2]])
        with self.assertRaisesRegex(ValueError, "as long as the first"):
            model([["a", "b"], ["c"]])

    def test_scalars(self):
        model = lightnetrt.load(model_of([helper.make_node("Neg", ["x"], ["y"])], [("x", TensorProto.FLOAT, [])],
                                         [("y", TensorProto.FLOAT, [])]))
        self.assertEqual(model(2.5).shape, ())
        self.assertEqual(float(model(2.5)), -2.5)

    def test_initializers_that_become_inputs(self):
        graph = helper.make_graph([helper.make_node("Add", ["x", "b"], ["y"])], "g",
                                  [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "xb"],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
                                  [numpy_helper.from_array(np.float32([10, 20]), "b")])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
        model.ir_version = 8
        data, x = model.SerializeToString(), np.float32([1, 2])
        self.assertEqual(lightnetrt.load(data)(x).tolist(), [11, 22])
        both = lightnetrt.load(data, overridable=["b"])
        self.assertEqual(both(x).tolist(), [11, 22])
        self.assertEqual(both(x, np.float32([0, 1])).tolist(), [1, 3])
        self.assertEqual(both(x).tolist(), [11, 22])  # the default again, not what the run before had

    def test_initializers_of_any_size_that_the_graph_does_not_list(self):
        for count in (1, 16, 17, 1000):
            first, x = np.arange(count, dtype="f4") + 1, np.zeros(count, "f4")
            data = model_of([helper.make_node("Add", ["x", "b"], ["y"])], [("x", TensorProto.FLOAT, [count])],
                            [("y", TensorProto.FLOAT, [count])], [numpy_helper.from_array(first, "b")])
            both = lightnetrt.load(data, overridable=["b"])
            self.assertEqual(both(x).tolist(), first.tolist())
            self.assertEqual(both(x=x, b=first * 2).tolist(), (first * 2).tolist())
            self.assertEqual(both(x).tolist(), first.tolist())

    def test_defaults_come_again_at_every_shape(self):
        graph = helper.make_graph([helper.make_node("Add", ["x", "b"], ["y"])], "g",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2]),
                                   helper.make_tensor_value_info("b", TensorProto.FLOAT, [2])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])],
                                  [numpy_helper.from_array(np.float32([10, 20]), "b")])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
        model.ir_version = 8
        for symbols in (None, {"n": 1}, {"n": (1, 4)}):
            both = lightnetrt.load(model.SerializeToString(), overridable=["b"], symbols=symbols, sessions=1)
            for rows in (1,) if symbols == {"n": 1} else (1, 3, 2, 1, 3):
                x = np.ones((rows, 2), "f4")
                self.assertEqual(both(x).tolist(), [[11, 21]] * rows)
                self.assertEqual(both(x, np.float32([0, 1])).tolist(), [[1, 2]] * rows)
                self.assertEqual(both(x).tolist(), [[11, 21]] * rows)


class Arrays(unittest.TestCase):
    def test_buffer_and_dlpack_share_memory(self):
        a = lightnetrt.Array("float32", (2, 3), np.arange(6, dtype="float32"))
        n = np.asarray(a)
        n[1, 2] = 50
        self.assertEqual(a.tolist(), [[0, 1, 2], [3, 4, 50]])
        d = np.from_dlpack(a)
        self.assertEqual(d.__array_interface__["data"][0], n.__array_interface__["data"][0])
        b = lightnetrt.from_dlpack(n)
        self.assertEqual((b.shape, b.dtype, b.tolist()), ((2, 3), "float32", a.tolist()))
        del a, n, d
        self.assertEqual(b.tolist()[1][2], 50)

    def test_dlpack_alone_is_an_input(self):
        class Only:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **kwargs):
                return self.array.__dlpack__(**kwargs)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()
        data, w = gemm()
        model = lightnetrt.load(data)
        x = np.ones((2, 3), "float32")
        np.testing.assert_allclose(model(Only(lightnetrt.Array("float32", (2, 3), x))), x @ w)
        np.testing.assert_allclose(model(Only(x)), x @ w)
        with self.assertRaisesRegex(TypeError, "takes float32"):
            model(Only(x.astype("int32")))

    def test_versioned_capsules_and_devices(self):
        a = lightnetrt.Array("int64", (2,))
        self.assertIn("dltensor_versioned", repr(a.__dlpack__(max_version=(1, 1))))
        self.assertIn('"dltensor"', repr(a.__dlpack__()))
        with self.assertRaises(BufferError):
            a.__dlpack__(dl_device=(2, 0))
        with self.assertRaises(BufferError):
            a.__dlpack__(stream=1)

    def test_buffers_without_numpy(self):
        data, w = gemm()
        y = lightnetrt.load(data)(memoryview(array.array("f", [1] * 6)).cast("B").cast("f", (2, 3)))
        np.testing.assert_allclose(y, np.ones((2, 3)) @ w)

    def test_bfloat16_is_an_array_of_its_bits(self):
        model = lightnetrt.load(one_node("Identity", TensorProto.BFLOAT16))
        y = model(np.uint16([0x3F80, 0x4000]))
        self.assertEqual((y.dtype, y.tolist()), ("bfloat16", [0x3F80, 0x4000]))

    def test_pickle(self):
        a = pickle.loads(pickle.dumps(lightnetrt.Array("bfloat16", (2,), np.uint16([1, 2]))))
        self.assertEqual((a.dtype, a.shape, a.tolist()), ("bfloat16", (2,), [1, 2]))

    def test_works_where_numpy_is_not(self):
        program = ("import sys; sys.modules['numpy'] = None; sys.path.insert(0, sys.argv[1]); import lightnetrt\n"
                   "m = lightnetrt.load(sys.stdin.buffer.read()); y = m([[1, 2, 3], [0, 0, 1]])\n"
                   "print(type(y).__name__, y.tolist())")
        out = subprocess.run([sys.executable, "-c", program, str(BUILD / "python")], input=gemm()[0],
                             capture_output=True, check=True).stdout.decode()
        self.assertEqual(out.strip(), "Array [[16.0, 22.0], [4.0, 5.0]]")


FORKED = None


def run_forked(x):
    return FORKED(x).tolist()


class Together(unittest.TestCase):
    def test_threads_share_a_model(self):
        for batch in (4, "batch"):
            data, w = gemm(batch)
            model, wrong = lightnetrt.load(data, sessions=3), []

            def work(seed):
                for i in range(50):
                    x = np.random.default_rng(seed * 100 + i).random((4, 3), dtype="float32")
                    if not np.allclose(model(x), x @ w, rtol=1e-5):
                        wrong.append(seed)
            threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            self.assertEqual(wrong, [])

    def test_the_gil_is_released_and_cancel_ends_a_run(self):
        model, cancel = lightnetrt.load(long_model()), lightnetrt.Cancel()
        x = np.ones((700, 700), "float32")
        future = model.run_async({"x": x}, cancel=cancel)
        cancel.request()  # reached only if the other thread has let go of the GIL
        with self.assertRaises(lightnetrt.CancelledError):
            future.result()
        with self.assertRaises(TimeoutError):
            model.run({"x": x}, time_limit=0.001)

    def test_urgent_runs_begin_first(self):
        with lightnetrt.load(long_model(), sessions=1) as model, ThreadPoolExecutor(1) as executor:
            x, cancel, begun = {"x": np.ones((700, 700), "float32")}, lightnetrt.Cancel(), []
            model._executor, model._executor_pid = executor, os.getpid()
            first = model.run_async(x, cancel=cancel)
            priorities = [0, 5, -100, 5, 0, 100]
            rest = [model.run_async(x, time_limit=0.001, priority=priority) for priority in priorities]
            for number, future in enumerate(rest):
                future.add_done_callback(lambda done, number=number: begun.append(number))
            self.assertTrue(model.run_async(x, priority=50).cancel())
            cancel.request()
            self.assertRaises(lightnetrt.CancelledError, first.result)
            self.assertRaises(TimeoutError, rest[2].result)
            self.assertEqual(begun, [5, 1, 3, 0, 4, 2])

    def test_urgent_runs_get_a_session_first(self):
        # Threads have to be waiting, which nothing shows from outside.
        self.assertTrue(any(self.check_sessions_of_priorities(seconds) for seconds in (0.2, 0.5, 2)))

    def check_sessions_of_priorities(self, seconds):
        with lightnetrt.load(long_model(), sessions=1) as model, ThreadPoolExecutor(8) as executor:
            x, cancel, begun = {"x": np.ones((700, 700), "float32")}, lightnetrt.Cancel(), []
            first = executor.submit(model.run, x, cancel=cancel)
            time.sleep(seconds)
            def work(priority):
                self.assertRaises(TimeoutError, model.run, x, time_limit=0.05, priority=priority)
                begun.append(priority)
            rest = [executor.submit(work, priority) for priority in (0, 5, -100, 100)]
            time.sleep(seconds)
            cancel.request()
            self.assertRaises(lightnetrt.CancelledError, first.result)
            [future.result() for future in rest]
            return begun == [100, 5, 0, -100]

    def test_interpreters_of_a_process(self):
        try:
            import _xxsubinterpreters  # noqa: F401
        except ImportError:
            self.skipTest("this Python has no module _xxsubinterpreters")
        data, w = gemm()
        work = ("import sys; sys.modules['numpy'] = None\n"  # which may be in one interpreter only
                f"sys.path.insert(0, {str(BUILD / 'python')!r})\n"
                f"import array, lightnetrt\nmodel = lightnetrt.load({data!r})\n"
                "x = lightnetrt.Array('float32', (1, 3), array.array('f', [1, 2, 3]))\n"
                "print(memoryview(model(x)).tolist(), flush=True)")
        program = (f"import _xxsubinterpreters as sub\nwork = {work!r}\nexec(work)\n"
                   "for _ in range(3):\n    other = sub.create()\n    sub.run_string(other, work)\n    sub.destroy(other)\n"
                   "exec(work)")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        expected = str((np.float32([[1, 2, 3]]) @ w).tolist())
        self.assertEqual((done.stdout.split("\n"), done.returncode), ([expected] * 5 + [""], 0), done.stderr)

    def test_fork_and_pickle(self):
        global FORKED
        data, w = gemm()
        x = np.ones((1, 3), "float32")
        FORKED = lightnetrt.load(data)
        FORKED(x)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(run_forked, [x] * 4), [(x @ w).tolist()] * 4)
        self.assertEqual(FORKED.run_async({"x": x}).result(60)["y"].tolist(), (x @ w).tolist())
        child = os.fork()  # where the threads of run_async are not
        if child == 0:
            try:
                os._exit(FORKED.run_async({"x": x}).result(30)["y"].tolist() != (x @ w).tolist())
            finally:
                os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        program = ("import sys, pickle; sys.path.insert(0, sys.argv[1]); model, x = pickle.load(sys.stdin.buffer)\n"
                   "print(model(x).tolist())")
        out = subprocess.run([sys.executable, "-c", program, str(BUILD / "python")], input=pickle.dumps((FORKED, x)),
                             capture_output=True, check=True).stdout.decode()
        self.assertEqual(out.strip(), str((x @ w).tolist()))
        again = pickle.loads(pickle.dumps(lightnetrt.load(**DIGITS)))
        self.assertEqual(again.inputs, lightnetrt.load(**DIGITS).inputs)

    @unittest.skipIf("LN_SANITIZED" in os.environ, "a sanitizer keeps memory that was freed")
    def test_500_calls_and_loads_do_not_grow(self):
        data, _ = gemm()
        model, x = lightnetrt.load(data), np.ones((2000, 3), "float32")
        words = lightnetrt.load(one_node("Identity", TensorProto.STRING))

        def some(count):
            for _ in range(count):
                model(x)
                words(["a" * 1000] * 50)
                try:
                    model(x.astype("float64"))
                except TypeError:
                    pass
                try:
                    model(np.ones((2, 7), "float32"))
                except ValueError:
                    pass
                lightnetrt.from_dlpack(np.ones(100)).__dlpack__()
            for _ in range(count // 10):
                lightnetrt.load(data).close()
        some(100)
        before = resident()
        some(500)
        self.assertLess(resident() - before, 3 << 20)


class Data(unittest.TestCase):
    def test_plan_inspect_preflight_verify(self):
        plan = lightnetrt.plan(gemm(4)[0])
        self.assertEqual({v["bytes"] for v in plan["values"] if v["is_input"]}, {48})
        self.assertGreaterEqual(plan["memory"]["peak"], 48 + 32)
        self.assertTrue(plan["steps"])
        found = lightnetrt.inspect(gemm(4)[0])
        self.assertEqual((found["macs"], found["inputs"][0].shape), (24, (4, 3)))
        report = lightnetrt.preflight(model_of([helper.make_node("Convv", ["x"], ["y"])], [("x", TensorProto.FLOAT, [1])],
                                               [("y", TensorProto.FLOAT, [1])]))
        self.assertEqual((report["nodes"], report["bad_nodes"]), (1, 1))
        self.assertEqual(report["inputs"], [("x", "FLOAT[1]")])
        self.assertIn("Convv", report["problems"][0]["reason"])
        x = np.ones((4, 3), "float32")
        self.assertLess(lightnetrt.verify(gemm(4)[0], {"x": x})["y"][0], 1e-5)
        self.assertEqual(lightnetrt.verify(gemm(4)[0], {"x": x}, {"y": np.zeros((4, 2))})["y"][0], 9)

    def test_plugin(self):
        plugin = BUILD / "tests" / "plugins" / "echo.so"
        if not plugin.is_file():
            self.skipTest("the plug-in of the tests was not built")
        data, x = gemm(4)[0], np.arange(12, dtype="float32").reshape(4, 3)
        with lightnetrt.load(data, target="ref") as model:
            expected = model.run({"x": x})["y"]
        self.assertRaises(lightnetrt.Error, lightnetrt.load, data, target="echo,ref")
        self.assertEqual(lightnetrt.load_plugin(plugin), "echo")
        self.assertRaises(lightnetrt.ExistsError, lightnetrt.load_plugin, str(plugin))
        with lightnetrt.load(data, target="echo,ref") as model:
            self.assertRaisesRegex(lightnetrt.StateError, "in use", lightnetrt.unload_plugin, "echo")
            self.assertEqual(model.run({"x": x})["y"].tobytes(), expected.tobytes())
        lightnetrt.unload_plugin("echo")
        self.assertRaises(lightnetrt.NotFoundError, lightnetrt.unload_plugin, "echo")
        self.assertRaises(lightnetrt.FileError, lightnetrt.load_plugin, plugin.parent / "none.so")
        self.assertRaises(lightnetrt.InvalidError, lightnetrt.load_plugin, Path(__file__).resolve())
        for wrong in 7, None, b"a\0b":
            self.assertRaises((TypeError, ValueError), lightnetrt.load_plugin, wrong)
            self.assertRaises((TypeError, ValueError, lightnetrt.Error), lightnetrt.unload_plugin, wrong)

    def test_devices(self):
        plugin = BUILD / "tests" / "plugins" / "echo.so"
        if not plugin.is_file():
            self.skipTest("the plug-in of the tests was not built")
        data, x = gemm(4)[0], np.arange(12, dtype="float32").reshape(4, 3)
        with lightnetrt.load(data, target="ref") as model:
            expected = model.run({"x": x})["y"]
        os.environ["LN_ECHO"] = "devices=2 fail_run=0"
        try:
            lightnetrt.load_plugin(plugin)
        finally:
            del os.environ["LN_ECHO"]
        options = {"delay": 0.5, "depth": 2, "loud": True, "mood": "cross"}
        with lightnetrt.load(data, target="echo:1,ref", devices={"echo:1": options}, failover=True) as model:
            for _ in range(2):  # the device fails in the first
                self.assertEqual(model.run({"x": x})["y"].tobytes(), expected.tobytes())
        with lightnetrt.load(data, devices={"echo:1": None, "echo": "depth=3"}) as model:
            np.testing.assert_allclose(model.run({"x": x})["y"], expected, rtol=1e-6)
        self.assertEqual(lightnetrt.inspect(data, devices={"echo:1": None, "echo": "depth=3"})["target"], "echo:1,echo,cpu")
        self.assertEqual(lightnetrt.inspect(data, target="echo,cpu", devices={"echo:1": ""})["target"], "echo,cpu")
        for wrong, message in (({"echo:7": None}, "no device 7"), ({"echo": {"dept": 1}}, "dept"), ({"cpu": "a=b"}, "cpu"),
                               ({"echo": {"mood": "calm,cross"}}, "comma")):
            self.assertRaisesRegex(lightnetrt.Error, message, lightnetrt.load, data, devices=wrong)
        for wrong in 7, [("echo",)], {"echo": 7}, {7: ""}:
            self.assertRaises((TypeError, ValueError), lightnetrt.load, data, devices=wrong)
        lightnetrt.unload_plugin("echo")

    def test_convert(self):
        import tempfile
        data = gemm()[0]
        x = np.ones((4, 3), "float32")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            lightnetrt.convert(data, path)
            with lightnetrt.load(path) as model:
                self.assertEqual(model.inputs[0].shape, ("batch", 3))
                self.assertEqual(model(x).tolist(), lightnetrt.load(data)(x).tolist())
            lightnetrt.convert(data, Path(folder) / "model.net")
            self.assertIn("input(", (Path(folder) / "model.net").read_text())
            for outfile, error in ((Path(folder) / "none/model.onnx", OSError), (7, TypeError),
                                   (Path(folder) / "model.il", lightnetrt.UnsupportedError)):
                with self.assertRaises(error):
                    lightnetrt.convert(data, outfile)
            with self.assertRaisesRegex(lightnetrt.InvalidError, "holds its weights"):
                lightnetrt.convert(data, path, weights_outfile=Path(folder) / "w.safetensors")

    def test_a_failing_run_has_its_message(self):
        data = model_of([helper.make_node("Gather", ["x", "i"], ["y"])],
                        [("x", TensorProto.FLOAT, [3]), ("i", TensorProto.INT64, ["n"])], [("y", TensorProto.FLOAT, ["n"])])
        with lightnetrt.load(data) as model:
            with self.assertRaisesRegex(lightnetrt.InvalidError, "index 9 .*outside 3 rows"):
                model(np.zeros(3, "float32"), np.array([9]))
            self.assertEqual(model(np.ones(3, "float32"), np.array([2])).tolist(), [1])

    def test_long_sums_of_bytes_are_exact(self):
        for length in 33025, 33026, 40000: # the sum of the last one is beyond 32 bits
            a, b = np.full((2, length), 255, "uint8"), np.full((length, 3), 255, "uint8")
            numbers = ("u", np.float32(1)), ("i", np.uint8(0)), ("t", np.float32(2e7)), ("z", np.uint8(10))
            data = model_of([helper.make_node("QLinearMatMul", ["a", "u", "i", "b", "u", "i", "t", "z"], ["y"])],
                            [("a", TensorProto.UINT8, [2, length])], [("y", TensorProto.UINT8, [2, 3])],
                            [numpy_helper.from_array(b, "b")] + [numpy_helper.from_array(np.asarray(x), n) for n, x in numbers])
            wanted = round(length * 255 * 255 / 2e7) + 10
            for options in {}, {"target": "ref"}, {"as_read": True}:
                self.assertEqual(lightnetrt.load(data, **options)(a).tolist(), [[wanted] * 3] * 2, (length, options))

    def test_convert_keeps_weights(self):
        import tempfile
        w = numpy_helper.from_array(np.arange(60, dtype="float32").reshape(3, 20), "w") # short ones are in the text
        data = model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", TensorProto.FLOAT, ["batch", 3])],
                        [("y", TensorProto.FLOAT, ["batch", 20])], [w])
        x = np.ones((4, 3), "float32")
        expected = lightnetrt.load(data)(x).tolist()
        with tempfile.TemporaryDirectory() as folder:
            net, beside, named = (Path(folder) / name for name in ("a.net", "a.safetensors", "w.safetensors"))
            self.assertEqual(lightnetrt.convert(data, net), str(beside))
            self.assertEqual(lightnetrt.convert(data, Path(folder) / "b.json", weights_outfile=named), named)
            for model, weights in (net, beside), (Path(folder) / "b.json", named):
                self.assertEqual(lightnetrt.load(model, weights=weights)(x).tolist(), expected)
            onnx = Path(folder) / "c.onnx"
            self.assertIsNone(lightnetrt.convert(net, onnx, weights=beside))
            self.assertEqual(lightnetrt.load(onnx)(x).tolist(), expected)
            with self.assertWarnsRegex(RuntimeWarning, "should come from a data file.*they are zero"):
                lightnetrt.load(net)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.assertRaises(RuntimeWarning, lightnetrt.load, net)
                lightnetrt.load(net, weights=beside)
            without = Path(folder) / "without.net"
            without.write_text('input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nrelu(src=x | dst=y |);\n')
            self.assertIsNone(lightnetrt.convert(without, Path(folder) / "d.net"))
            self.assertFalse((Path(folder) / "d.safetensors").exists())

    def test_command(self):
        env = {**os.environ, "PYTHONPATH": str(BUILD / "python"), "LIGHTNET_COMMAND": str(BUILD / "lightnet")}
        out = subprocess.run([sys.executable, "-m", "lightnetrt", "help"], env=env, capture_output=True, text=True)
        self.assertEqual((out.returncode, "verify" in out.stdout), (0, True))
        env = {**env, "LIGHTNET_COMMAND": "", "PATH": "/nowhere"}
        out = subprocess.run([sys.executable, "-m", "lightnetrt", "help"], env=env, capture_output=True, text=True)
        self.assertEqual((out.returncode, "not on the PATH" in out.stderr), (1, True))

    def test_example(self):
        env = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
        out = subprocess.run([sys.executable, ROOT / "examples/digits.py", ROOT / "models/digits"], env=env,
                             capture_output=True, text=True, check=True).stdout
        self.assertIn("This is a 3", out)

    def test_stubs_say_what_there_is(self):
        """Names, bases, members and parameters of the .pyi file are those of the package."""
        import ast
        import inspect
        tree = ast.parse(Path(lightnetrt.__file__).with_suffix(".pyi").read_text())
        named = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        self.assertEqual(set(named), set(lightnetrt.__all__))

        def parameters(node):
            return [arg.arg for arg in node.args.posonlyargs + node.args.args + node.args.kwonlyargs if arg.arg != "self"]

        def check_function(node, there, where):
            try:
                found = inspect.signature(there)
            except ValueError:
                return  # of C, without a text signature
            names = [p.name for p in found.parameters.values()
                     if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and p.name != "self"]
            takes_any = any(p.kind == p.VAR_KEYWORD for p in found.parameters.values())
            if takes_any and not node.args.kwarg:  # the options of `load`, which the stub lists
                self.assertEqual(set(parameters(node)) - set(names), set(lightnetrt._LOAD_OPTIONS), where)
            else:
                self.assertEqual(parameters(node), names, where)

        samples = {"Array": lightnetrt.Array("float32", (2,)), "Cancel": lightnetrt.Cancel(),
                   "Model": lightnetrt.load(gemm()[0])}
        for name, node in named.items():
            there = getattr(lightnetrt, name)
            if isinstance(node, ast.FunctionDef):
                check_function(node, there, name)
                continue
            bases = [ast.unparse(base) for base in node.bases]
            if "NamedTuple" in bases:
                self.assertEqual([item.target.id for item in node.body], list(there._fields), name)
                continue
            self.assertEqual([base.__name__ for base in there.__bases__], bases or ["object"], name)
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name != "__buffer__":  # a slot before 3.12
                    found = there if item.name == "__init__" else getattr(there, item.name)
                    check_function(item, found, f"{name}.{item.name}")
                elif isinstance(item, ast.AnnAssign) and name in samples:
                    self.assertTrue(hasattr(samples[name], item.target.id), f"{name}.{item.target.id}")
        listed = {item.target.id if isinstance(item, ast.AnnAssign) else item.name
                  for item in named["Array"].body if isinstance(item, (ast.AnnAssign, ast.FunctionDef))}
        self.assertEqual({n for n in dir(lightnetrt.Array) if not n.startswith("_")} - listed, set())
        listed = {item.name for item in named["Model"].body if isinstance(item, ast.FunctionDef)}
        self.assertEqual({n for n, v in vars(lightnetrt.Model).items() if inspect.isfunction(v) and n[0] != "_"} - listed,
                         set())


if __name__ == "__main__":
    unittest.main()
