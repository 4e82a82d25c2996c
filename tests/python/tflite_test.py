#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lightnetrt.compat.tflite: details, values, variables, signatures and mistakes of an Interpreter.

Usage: tflite_test.py BUILD-FOLDER. Exits with 77 where the package or NumPy is missing. The models beside the checkout,
with results that others stored, are skipped with a reason where they are not there.
"""
import enum
import json
import pickle
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
ROOT = Path(__file__).resolve().parents[2]
CONFORMANCE = ROOT.parent / "shared/conformance"
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests/tflite")]
try:
    import numpy as np
    import lightnetrt
    import make_seeds
    import tflite_file as tf
    from lightnetrt.compat import tflite
    from lightnetrt.compat.tflite import Interpreter
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)


def opened(data, **options):
    interpreter = Interpreter(model_content=data, **options)
    interpreter.allocate_tensors()
    return interpreter


def double(dtype="float32", shape=(1, 3), **more):
    """y = x + x."""
    t = [tf.tensor("x", dtype, shape, **more), tf.tensor("y", dtype, shape, **more)]
    return tf.model(t, [("ADD", ["x", "x"], ["y"], {"act": 0})], ["x"], ["y"])


def bytes_of(scale=0.5):
    t = [tf.tensor("x", "float32", (1, 5)), tf.tensor("y", "int8", (1, 5), scale=scale, zero=0)]
    return tf.model(t, [("QUANTIZE", ["x"], ["y"], None)], ["x"], ["y"])


def bytes_in():
    t = [tf.tensor(name, "int8", (1, 2), scale=0.5, zero=1) for name in "xy"]
    return tf.model(t, [("ABS", ["x"], ["y"], None)], ["x"], ["y"])


class Details(unittest.TestCase):
    def test_of_floats(self):
        i = opened(double())
        x, y = i.get_input_details()[0], i.get_output_details()[0]
        self.assertEqual((x["name"], x["index"], x["dtype"], x["quantization"]), ("x", 0, np.float32, (0.0, 0)))
        self.assertEqual((y["name"], y["index"]), ("y", 1))
        self.assertEqual((x["shape"].tolist(), x["shape"].dtype, x["shape_signature"].tolist()), ([1, 3], np.int32, [1, 3]))
        self.assertEqual([len(x["quantization_parameters"][key]) for key in ("scales", "zero_points")], [0, 0])
        self.assertEqual([d["name"] for d in i.get_tensor_details()], ["x", "y"])

    def test_scales_are_those_of_the_file_to_the_last_bit(self):
        for scale, zero, dtype in ((0.1, -128, "int8"), (1 / 3, 7, "uint8"), (1e-30, 0, "int16"), (np.float32(3.4e38), 3, "int8")):
            x = opened(double(dtype, scale=scale, zero=zero)).get_input_details()[0]
            self.assertEqual(x["quantization"], (float(np.float32(scale)), zero))
            found = x["quantization_parameters"]
            self.assertEqual((found["scales"].tolist(), found["zero_points"].tolist()), ([np.float32(scale)], [zero]))
            self.assertEqual((found["scales"].dtype, found["zero_points"].dtype), (np.float32, np.int32))

    def test_of_several_scales(self):
        t = [tf.tensor("x", "float32", (3, 2)), tf.tensor("y", "float32", (3, 2)),
             tf.constant("w", np.int8([[1, 2], [3, 4], [5, 6]]), scale=[0.5, 0.25, 0.125], zero=[0, 0, 0], axis=0),
             tf.tensor("v", "float32", (3, 2))]
        data = tf.model(t, [("DEQUANTIZE", ["w"], ["v"], None), ("ADD", ["x", "v"], ["y"], {"act": 0})], ["x"], ["y", "w"])
        w = opened(data).get_output_details()[1]
        self.assertEqual(w["quantization"], (0.0, 0))
        self.assertEqual((w["quantization_parameters"]["scales"].tolist(), w["quantization_parameters"]["quantized_dimension"]),
                         ([0.5, 0.25, 0.125], 0))

    def test_of_an_open_dimension(self):
        i = opened(make_seeds.half())
        x = i.get_input_details()[0]
        self.assertEqual((x["shape"].tolist(), x["shape_signature"].tolist()), ([1, 3], [-1, 3]))
        model = lightnetrt.load(make_seeds.half())
        self.assertEqual([(end.name, end.shape) for end in model.inputs + model.outputs], [("x", (None, 3)), ("y", (None, 2))])
        for batch in (3, 1, 5):
            self.assertEqual(model(np.zeros((batch, 3), "f4")).shape, (batch, 2))
        self.assertRaises(lightnetrt.InvalidError, model, np.zeros((1, 4), "f4"))


class Resolvers(unittest.TestCase):
    def rounded(self, **options):
        i = opened(bytes_of(), **options)
        i.set_tensor(0, np.float32([[0.25, 0.75, 1.25, -0.25, -1.25]]))
        i.invoke()
        return i.get_tensor(1).tolist()

    def test_ties_are_those_of_the_resolver(self):
        Own = enum.Enum("OpResolverType", {"AUTO": 0, "BUILTIN_REF": 2})  # as a program has it that changed one import
        even, away = [[0, 2, 2, 0, -2]], [[1, 2, 3, -1, -3]]
        for resolver in tflite.OpResolverType:
            want = away if resolver.name == "BUILTIN_REF" else even
            self.assertEqual(self.rounded(experimental_op_resolver_type=resolver), want, resolver)
        self.assertEqual(self.rounded(), even)
        self.assertEqual(self.rounded(experimental_op_resolver_type=Own.BUILTIN_REF), away)
        self.assertEqual(self.rounded(experimental_op_resolver_type=Own.AUTO), even)

    def test_a_model_is_loaded_with_a_rounding(self):
        x = np.float32([[0.25, 0.75, 1.25, -0.25, -1.25]])
        for rounding, want in (("reference", [[1, 2, 3, -1, -3]]), ("float", [[0, 2, 2, 0, -2]]), (None, [[0, 2, 2, 0, -2]])):
            model = lightnetrt.load(bytes_of(), rounding=rounding)
            self.assertEqual(np.asarray(model(x=x)).tolist(), want)
            again = pickle.loads(pickle.dumps(model))
            self.assertEqual(np.asarray(again(x=x)).tolist(), want)
        self.assertRaisesRegex(TypeError, "rounding takes 'float' or 'reference', not 'nearest'", lightnetrt.load, bytes_of(), rounding="nearest")

    def test_a_model_is_loaded_by_its_signature(self):
        t = [[tf.tensor("x", "float32", (1, 2)), tf.tensor("y", "float32", (1, 2))] for _ in range(2)]
        ops = [[(name, ["x"], ["y"], None)] for name in ("NEG", "ABS")]

        def of(key, graph):
            return {0: [{0: "in", 1: tf.Number("I", 0)}], 1: [{0: "out", 1: tf.Number("I", 1)}], 2: key, 4: tf.Number("I", graph) if graph else None}

        data = tf.model(t[0], ops[0], ["x"], ["y"], [(t[1], ops[1], ["x"], ["y"])], **{"7": [of("minus", 0), of("size", 1)]})
        for signature, want in (("minus", [[3, -4]]), ("size", [[3, 4]]), (None, [[3, -4]])):
            model = lightnetrt.load(data, signature=signature)
            for copy in model, pickle.loads(pickle.dumps(model)):
                self.assertEqual(np.asarray(copy(np.float32([[-3, 4]]))).tolist(), want)
        self.assertRaisesRegex(lightnetrt.NotFoundError, "no signature 'length'.*'minus', 'size'", lightnetrt.load, data, signature="length")
        self.assertRaisesRegex(TypeError, "signature takes the name of a signature, not 1", lightnetrt.load, data, signature=1)

    def test_names_of_signatures_are_any(self):
        names = ["a, b=1", "x -> y (subgraph 1)", "\\x2c"]
        t = [tf.tensor(name, "float32", (2,)) for name in names]
        ends = {0: [{0: names[1 - i], 1: tf.Number("I", i)} for i in (0, 1)], 1: [{0: names[2], 1: tf.Number("I", 2)}], 2: "serve"}
        i = opened(tf.model(t, [("SUB", names[:2], names[2:], {"act": 0})], names[:2], names[2:], **{"7": [ends]}))
        self.assertEqual(i.get_signature_list(), {"serve": {"inputs": sorted(names[:2]), "outputs": [names[2]]}})
        got = i.get_signature_runner("serve")(**{names[1]: np.float32([5, 7]), names[0]: np.float32([1, 2])})
        self.assertEqual(got[names[2]].tolist(), [4, 5])

    def test_numbers_for_bytes_are_to_be_quantized(self):
        model = lightnetrt.load(bytes_in())
        with self.assertRaisesRegex(lightnetrt.DTypeError, r"input 'x' takes int8, the array has float32; .*x.astype\('int8'\); real numbers are quantized first: round\(x / scale\) \+ zero$"):
            model(np.float32([[0.5, 1]]))
        for other in ("int32", "uint8", "bool"):
            with self.assertRaisesRegex(lightnetrt.DTypeError, r"x.astype\('int8'\)$"):
                model(np.zeros((1, 2), other))
        for wanted, given in (("float32", "float64"), ("int32", "float32")):
            copied = lightnetrt.load(tf.model([tf.tensor("x", wanted, (1, 2)), tf.tensor("y", wanted, (1, 2))], [("ABS", ["x"], ["y"], None)], ["x"], ["y"]))
            with self.assertRaisesRegex(lightnetrt.DTypeError, rf"x.astype\('{wanted}'\)$"):
                copied(np.zeros((1, 2), given))

    def test_other_signatures_are_rounded_so(self):
        t = [[tf.tensor("x", "float32", (1, 5)), tf.tensor("y", "int8", (1, 5), scale=0.5, zero=0)] for _ in range(2)]
        op = [("QUANTIZE", ["x"], ["y"], None)]

        def of(key, graph):
            return {0: [{0: "in", 1: tf.Number("I", 0)}], 1: [{0: "out", 1: tf.Number("I", 1)}], 2: key, 4: tf.Number("I", graph) if graph else None}

        data = tf.model(t[0], op, ["x"], ["y"], [(t[1], op, ["x"], ["y"])], **{"7": [of("a", 0), of("b", 1)]})
        i = opened(data, experimental_op_resolver_type=tflite.OpResolverType.BUILTIN_REF)
        for key in ("a", "b"):
            got = i.get_signature_runner(key)(**{"in": np.float32([[0.25, 0.75, 1.25, -0.25, -1.25]])})
            self.assertEqual(got["out"].tolist(), [[1, 2, 3, -1, -3]])


class Values(unittest.TestCase):
    def test_a_run(self):
        i = opened(double())
        x = np.float32([[1, -2, 3]])
        i.set_tensor(0, x)
        x[:] = 9  # a copy was taken
        i.invoke()
        self.assertEqual(i.get_tensor(1).tolist(), [[2, -4, 6]])
        self.assertEqual(i.get_tensor(0).tolist(), [[1, -2, 3]])
        i.get_tensor(1)[:] = 0
        self.assertEqual(i.get_tensor(1).tolist(), [[2, -4, 6]])

    def test_values_are_written_in_place(self):
        i = opened(double())
        i.tensor(0)()[0, 1] = 5
        i.invoke()
        self.assertEqual(i.tensor(1)().tolist(), [[0, 10, 0]])

    def test_integers_in_and_out(self):
        i = opened(double("int8", scale=0.5, zero=-1))
        i.set_tensor(0, np.int8([[1, -3, 100]]))
        i.invoke()
        self.assertEqual((i.get_tensor(1).tolist(), i.get_tensor(1).dtype), ([[3, -5, 127]], np.int8))

    def test_a_resized_input(self):
        i = opened(make_seeds.half())
        w = make_seeds.ramp("f2", 2, 3).astype("f4")
        for batch in (4, 1, 7):
            i.resize_tensor_input(0, [batch, 3], strict=True)
            self.assertRaisesRegex(RuntimeError, "allocate_tensors", i.invoke)
            i.allocate_tensors()
            x = np.random.default_rng(batch).normal(size=(batch, 3)).astype("f4")
            i.set_tensor(0, x)
            i.invoke()
            np.testing.assert_allclose(i.get_tensor(i.get_output_details()[0]["index"]), np.maximum(x @ w.T, 0), rtol=1e-5)
            self.assertEqual(i.get_output_details()[0]["shape"].tolist(), [batch, 2])

    def test_outputs_have_their_shape_once_tensors_are_allocated(self):
        i = Interpreter(model_content=make_seeds.half())
        self.assertEqual(i.get_output_details()[0]["shape"].tolist(), [1, 2])
        # Programs of others resize outputs as well.
        i.resize_tensor_input(0, (5, 3))
        i.resize_tensor_input(1, (9, 2))
        i.allocate_tensors()
        self.assertEqual([d["shape"].tolist() for d in i.get_tensor_details()], [[5, 3], [5, 2]])
        self.assertRaisesRegex(ValueError, "invoke", i.get_tensor, 1)
        x = np.random.default_rng(5).normal(size=(5, 3)).astype("f4")
        i.set_tensor(0, x)
        i.allocate_tensors()
        self.assertEqual(i.get_tensor(0).tolist(), x.tolist())
        i.invoke()
        self.assertEqual(i.get_tensor(1).shape, (5, 2))
        i.allocate_tensors()
        self.assertEqual(i.get_tensor(1).shape, (5, 2))
        i.resize_tensor_input(0, (6, 3))
        i.allocate_tensors()
        self.assertRaisesRegex(ValueError, "invoke", i.get_tensor, 1)

    def test_a_size_that_no_operator_takes_is_there_until_another_is_given(self):
        w = np.random.default_rng(1).normal(size=(2, 1, 8, 1)).astype("f4")
        t = [tf.tensor("x", "float32", (1, 1, 1, 1), signature=(1, 1, -1, 1)), tf.constant("w", w),
             tf.tensor("y", "float32", (1, 1, 1, 2), signature=(1, 1, -1, 2))]
        data = tf.model(t, [("CONV_2D", ["x", "w", None], ["y"], {"padding": 1, "stride_h": 1, "stride_w": 4})], ["x"], ["y"])
        i = Interpreter(model_content=data)
        self.assertEqual(i.get_input_details()[0]["shape"].tolist(), [1, 1, 1, 1])
        for count in (8, 21):
            i.resize_tensor_input(0, [1, 1, count, 1])
            i.allocate_tensors()
            x = np.random.default_rng(count).normal(size=(1, 1, count, 1)).astype("f4")
            want = np.float32([[x[0, 0, at:at + 8, 0] @ w[c, 0, :, 0] for c in (0, 1)] for at in range(0, count - 7, 4)])
            self.assertEqual(i.get_output_details()[0]["shape"].tolist(), [1, 1, len(want), 2])
            i.set_tensor(0, x)
            i.invoke()
            np.testing.assert_allclose(i.get_tensor(1)[0, 0], want, rtol=1e-5, atol=1e-5)
        i.resize_tensor_input(0, [1, 1, 1, 1])
        self.assertRaisesRegex(ValueError, "size 8.*does not fit", i.allocate_tensors)

    def test_sizes_that_the_file_states_are_replaced(self):
        w, v = (np.random.default_rng(k).normal(size=shape).astype("f4") for k, shape in ((1, (3, 3, 3, 2)), (2, (4, 3))))

        def model(batch, height, width):
            out_h, out_w = -(-height // 2), -(-width // 2)
            t = [tf.tensor("x", "float32", (batch, height, width, 2)), tf.constant("w", w), tf.constant("v", v),
                 tf.tensor("c", "float32", (batch, out_h, out_w, 3)), tf.tensor("p", "float32", (batch, 3)),
                 tf.constant("axes", np.int32([1, 2])), tf.tensor("y", "float32", (batch, 4))]
            return tf.model(t, [("CONV_2D", ["x", "w", None], ["c"], {"padding": 0, "stride_h": 2, "stride_w": 2, "act": 1}),
                                ("MEAN", ["c", "axes"], ["p"], {"keep_dims": 0}), ("FULLY_CONNECTED", ["p", "v", None], ["y"], {})],
                            ["x"], ["y", "c"])
        i = opened(model(1, 4, 4))
        for shape in ((3, 5, 6, 2), (1, 9, 3, 2), (1, 4, 4, 2)):
            i.resize_tensor_input(0, shape)
            i.allocate_tensors()
            stated = opened(model(*shape[:3]))
            x = np.random.default_rng(shape[1]).normal(size=shape).astype("f4")
            for each in (i, stated):
                each.set_tensor(0, x)
            self.assertEqual([d["shape"].tolist() for d in i.get_tensor_details()],
                             [d["shape"].tolist() for d in stated.get_tensor_details()])
            for each in (i, stated):
                each.invoke()
            for index in (1, 2):
                np.testing.assert_allclose(i.get_tensor(index), stated.get_tensor(index), rtol=1e-5, atol=1e-6)
        self.assertEqual(i.get_input_details()[0]["shape_signature"].tolist(), [1, 4, 4, 2])
        self.assertRaisesRegex(ValueError, "dimension 0 of tensor 'x' is 1 in the model", i.resize_tensor_input, 0, (2, 4, 4, 2), True)
        self.assertRaisesRegex(ValueError, "dimension 3 of tensor 'x' is 2 in the model", i.resize_tensor_input, 0, (1, 4, 4, 3))

    def test_sizes_that_operators_need_are_not_replaced(self):
        t = [tf.constant("s", np.int32([1, 4, 4, 2])), tf.constant("w", np.ones((2, 2, 2, 3), "f4")), tf.tensor("x", "float32", (1, 2, 2, 3)),
             tf.tensor("y", "float32", (1, 4, 4, 2))]
        data = tf.model(t, [("TRANSPOSE_CONV", ["s", "w", "x"], ["y"], {"padding": 1, "stride_h": 2, "stride_w": 2})], ["x"], ["y"])
        i = opened(data)
        self.assertRaisesRegex(ValueError, "dimension 1 of tensor 'x' is 2 in the model, and has to be: .*TRANSPOSE_CONV",
                               i.resize_tensor_input, 0, (1, 3, 2, 3))
        i.resize_tensor_input(1, (1, 8, 4, 2))
        i.allocate_tensors()
        i.invoke()
        self.assertEqual(i.get_tensor(1).shape, (1, 4, 4, 2))

    def check_a_variable_of_one(self, shape, signature):
        handle = ("VAR_HANDLE", [], ["h"], {"name": "count"})
        t = [tf.tensor("x", "float32", shape, signature=signature), tf.tensor("y", "float32", shape, signature=signature),
             tf.tensor("h", "resource"), tf.tensor("old", "float32", (1,)), tf.tensor("new", "float32", (1,)),
             tf.constant("one", np.float32([1]))]
        ops = [("CALL_ONCE", [], [], {"subgraph": 1}), handle, ("READ_VARIABLE", ["h"], ["old"], None),
               ("ADD", ["old", "one"], ["new"], {"act": 0}), ("ADD", ["x", "new"], ["y"], {"act": 0}), ("ASSIGN_VARIABLE", ["h", "new"], [], None)]
        once = [tf.tensor("h", "resource"), tf.constant("first", np.float32([0]))]
        i = opened(tf.model(t, ops, ["x"], ["y"], [(once, [handle, ("ASSIGN_VARIABLE", ["h", "first"], [], None)], [], [])]))
        for step, count in enumerate((1, 3, 3, 2), 1):
            sizes = [count, *shape[1:]]
            i.resize_tensor_input(0, sizes)
            i.allocate_tensors()
            self.assertEqual(i.get_output_details()[0]["shape"].tolist(), sizes)
            i.invoke()
            self.assertEqual(i.get_tensor(1).tolist(), np.full(sizes, step).tolist())

    def test_finding_shapes_is_no_step_of_a_variable(self):
        self.check_a_variable_of_one((1,), (-1,))
        self.check_a_variable_of_one((1, 1), None)

    def test_variables_go_on_and_start_afresh(self):
        i = opened(make_seeds.variables())
        self.assertEqual([[d["name"] for d in side()] for side in (i.get_input_details, i.get_output_details)], [["x"], ["y"]])
        i.set_tensor(0, np.float32([10, 20]))
        for want in ([11, 22], [21, 42], [31, 62]):
            i.invoke()
            self.assertEqual(i.get_tensor(1).tolist(), want)
        i.reset_all_variables()
        i.invoke()
        self.assertEqual(i.get_tensor(1).tolist(), [11, 22])

    def test_a_file_and_threads(self):
        with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
            file.write(double())
            file.flush()
            for path in (file.name, Path(file.name)):
                for threads in (None, -1, 1, 2):
                    i = Interpreter(model_path=path, num_threads=threads)
                    i.allocate_tensors()
                    i.invoke()
                    self.assertEqual(i.get_tensor(1).tolist(), [[0, 0, 0]])


class Signatures(unittest.TestCase):
    def test_a_runner(self):
        i = Interpreter(model_content=make_seeds.described())
        self.assertEqual(i.get_signature_list(), {"serve": {"inputs": ["in"], "outputs": ["out"]}})
        for run in (i.get_signature_runner("serve"), i.get_signature_runner()):
            self.assertEqual(list(run.get_input_details()), ["in"])
            self.assertEqual(run.get_output_details()["out"]["name"], "y")
            shape = run.get_input_details()["in"]["shape"]
            got = run(**{"in": -np.ones(shape, np.float32)})
            self.assertEqual(list(got), ["out"])
            self.assertFalse(got["out"].any())
            self.assertRaisesRegex(ValueError, "Invalid Input name", run, x=1)
            self.assertRaisesRegex(ValueError, "expected 1 vs provided 0", run)
        self.assertRaisesRegex(ValueError, "serve", i.get_signature_runner, "other")

    def test_runners_of_several_subgraphs(self):
        x = np.float32([[1, 3], [5, -7]])
        with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
            file.write(make_seeds.entries())
            file.flush()
            for i in (Interpreter(model_content=make_seeds.entries()), Interpreter(file.name), Interpreter(model_content=bytearray(make_seeds.entries()))):
                self.assertEqual(i.get_signature_list(), {key: {"inputs": ["in"], "outputs": ["out"]} for key in ("encode", "decode")})
                encode, decode = i.get_signature_runner("encode"), i.get_signature_runner("decode")
                self.assertEqual(decode.get_output_details()["out"]["name"], "whole")
                self.assertEqual(decode.get_input_details()["in"]["shape_signature"].tolist(), [-1, 2])
                for _ in range(2):
                    self.assertEqual(encode(**{"in": x})["out"].tolist(), (x * np.float32([2, 4])).tolist())
                    self.assertEqual(decode(**{"in": x})["out"].tolist(), (-x / np.float32([2, 4])).tolist())
                self.assertRaisesRegex(ValueError, "2 Signatures", i.get_signature_runner)

    def test_runners_of_subgraphs_that_are_refused(self):
        t = [tf.tensor("x", "float32", (2,)), tf.tensor("y", "float32", (2,))]
        graph = (t, [("NEG", ["x"], ["y"], None)], ["x"], ["y"])
        signature = {0: [{0: "in", 1: tf.Number("I", 0)}], 1: [{0: "out", 1: tf.Number("I", 1)}], 2: "far", 4: tf.Number("I", 5)}
        i = Interpreter(model_content=tf.model(*graph, **{"7": [signature]}))
        self.assertRaisesRegex(ValueError, "subgraph 5 of 1", i.get_signature_runner, "far")
        kept = [tf.tensor("x", "float32", (2,)), tf.tensor("h", "resource"), tf.tensor("old", "float32", (2,)), tf.tensor("y", "float32", (2,))]
        handle = ("VAR_HANDLE", [], ["h"], {"name": "total"})
        ops = [("CALL_ONCE", [], [], {"subgraph": 2}), handle, ("READ_VARIABLE", ["h"], ["old"], None), ("ADD", ["old", "x"], ["y"], {"act": 0}),
               ("ASSIGN_VARIABLE", ["h", "y"], [], None)]
        once = [tf.tensor("h", "resource"), tf.constant("first", np.float32([1, 2]))]
        signature[4] = tf.Number("I", 1)
        data = tf.model(kept, ops, ["x"], ["y"], [graph, (once, [handle, ("ASSIGN_VARIABLE", ["h", "first"], [], None)], [], [])], **{"7": [signature]})
        self.assertRaisesRegex(ValueError, "model with variables", Interpreter(model_content=data).get_signature_runner, "far")

    def test_none(self):
        self.assertRaisesRegex(ValueError, "0 Signatures", Interpreter(model_content=double()).get_signature_runner)


class Mistakes(unittest.TestCase):
    def test_of_models(self):
        self.assertRaisesRegex(ValueError, "nowhere.tflite", Interpreter, "nowhere.tflite")
        self.assertRaisesRegex(ValueError, "must be specified", Interpreter)
        self.assertRaises(ValueError, Interpreter, "a", b"b")
        self.assertRaises(ValueError, Interpreter, model_content=b"no model")
        self.assertRaisesRegex(ValueError, "TFL3|byte", Interpreter, model_content=double()[:40])
        self.assertRaisesRegex(ValueError, "libedgetpu", tflite.load_delegate, "libedgetpu.so.1")
        self.assertRaises(ValueError, Interpreter, model_content=double(), num_threads=-2)
        self.assertRaises(ValueError, Interpreter, model_content=double(), experimental_delegates=[1])
        self.assertRaises(ValueError, Interpreter, model_content=double(), experimental_preserve_all_tensors=True)
        Interpreter(model_content=double(), experimental_delegates=[])
        for resolver in ("BUILTIN_REF", 2, None):
            self.assertRaisesRegex(ValueError, f"op resolver type: {resolver}", Interpreter, model_content=double(), experimental_op_resolver_type=resolver)

    def test_of_values(self):
        i = Interpreter(model_content=double("int8", scale=0.5, zero=0))
        self.assertRaisesRegex(RuntimeError, "allocate_tensors", i.invoke)
        self.assertRaisesRegex(ValueError, "allocate_tensors", i.get_tensor, 0)
        self.assertRaisesRegex(ValueError, "invoke", i.get_tensor, 1)
        self.assertRaisesRegex(RuntimeError, "allocate_tensors", i.tensor(0))
        self.assertRaisesRegex(ValueError, "Got value of type FLOAT32 but expected type INT8 for input 0, name: x", i.set_tensor, 0,
                               np.zeros((1, 3), "f4"))
        self.assertRaisesRegex(ValueError, "Got 2 but expected 3 for dimension 1 of input 0", i.set_tensor, 0, np.zeros((1, 2), "i1"))
        self.assertRaisesRegex(ValueError, "Got 1 but expected 2 for input 0", i.set_tensor, 0, np.zeros(3, "i1"))
        for index in (-1, 2):
            self.assertRaisesRegex(ValueError, str(index), i.get_tensor, index)
        self.assertRaisesRegex(ValueError, "no input", i.set_tensor, 1, np.zeros((1, 3), "i1"))
        self.assertRaisesRegex(ValueError, "dimension 1 of tensor 'x' is 3", i.resize_tensor_input, 0, [1, 4])
        self.assertRaisesRegex(ValueError, "2 dimensions, not 1", i.resize_tensor_input, 0, [3])
        j = Interpreter(model_content=make_seeds.half())
        self.assertRaisesRegex(ValueError, "cannot be -4", j.resize_tensor_input, 0, [-4, 3])


class Stored(unittest.TestCase):
    def test_models_compute_what_others_stored(self):
        index = CONFORMANCE / "INDEX.json"
        if not index.exists():
            self.skipTest(f"there is no test data in {CONFORMANCE}")
        try:
            import onnx
            from onnx import numpy_helper
        except ImportError as reason:
            self.skipTest(str(reason))

        def arrays(folder, side):
            paths = sorted(folder.glob(f"{side}_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
            return [numpy_helper.to_array(onnx.load_tensor(str(p))) for p in paths]

        misses = {line.split()[0] for line in (ROOT / "tests/conformance/misses.txt").read_text().splitlines() if line.strip()}
        cases = [case for case in json.loads(index.read_text())["cases"]
                 if case["kind"] == "tflite" and f"tflite/{case['name']}" not in misses]
        count = 0
        for case in cases:
            folder = CONFORMANCE / case["path"]
            i = opened((folder / case["model"]).read_bytes(), num_threads=1)
            for stored in sorted(folder.glob("test_data_set_*")):
                values, want = arrays(stored, "input"), arrays(stored, "output")
                for details, value in zip(i.get_input_details(), values):
                    i.set_tensor(details["index"], value)
                i.reset_all_variables()
                i.invoke()
                got = [i.get_tensor(details["index"]) for details in i.get_output_details()]
                self.assertEqual(len(got), len(want), case["name"])
                for a, b in zip(got, want):
                    self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape), case["name"])
                    np.testing.assert_allclose(a.astype("f8"), b.astype("f8"), rtol=case["rtol"], atol=case["atol"],
                                               err_msg=case["name"])
                    count += 1
        self.assertGreater(count, 100)


if __name__ == "__main__":
    unittest.main()
