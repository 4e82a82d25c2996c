#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scripts as they are written for ONNX Runtime, with nothing changed but the import. Usage: scripts_test.py BUILD-FOLDER.

Each is the text of a program that finds `model.onnx` in its folder; it runs in a process of its own and has to print
what stands below it.
"""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
if not (BUILD / "python/lightnetrt/_core.abi3.so").exists():
    print("skipped: lightnetrt is not built (python3-dev)")
    sys.exit(77)
try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
except ImportError as reason:
    print("skipped:", reason)
    sys.exit(77)

F, I = TensorProto.FLOAT, TensorProto.INT64


def save(path, nodes, inputs, outputs, weights=(), metadata=None):
    value = helper.make_tensor_value_info
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 2)]
    graph = helper.make_graph(nodes, "graph", [value(*item) for item in inputs],
                              [value(*item) if isinstance(item, tuple) else item for item in outputs],
                              [numpy_helper.from_array(array, name) for name, array in weights])
    model = helper.make_model(graph, opset_imports=opsets, producer_name="test")
    model.ir_version = 8
    if metadata:
        helper.set_model_props(model, metadata)
    path.write_bytes(model.SerializeToString())


def classifier(path):
    weights = np.zeros((3, 5), "float32")
    weights[:, 2] = 1
    save(path, [helper.make_node("GlobalAveragePool", ["image"], ["means"]), helper.make_node("Flatten", ["means"], ["flat"]),
                helper.make_node("MatMul", ["flat", "w"], ["logits"])],
         [("image", F, ["batch", 3, 8, 8])], [("logits", F, ["batch", 5])], [("w", weights)])


def two_heads(path):
    save(path, [helper.make_node("Split", ["x", "at"], ["boxes", "scores"], axis=2)], [("x", F, [1, "n", 6])],
         [("boxes", F, [1, "n", 4]), ("scores", F, [1, "n", 2])], [("at", np.array([4, 2]))])


def state(path):
    save(path, [helper.make_node("Add", ["input", "h"], ["hn"]), helper.make_node("ReduceMax", ["hn"], ["output"], keepdims=0),
                helper.make_node("Cast", ["sr"], ["rate"], to=F), helper.make_node("Identity", ["rate"], ["used"])],
         [("input", F, [1, 4]), ("h", F, [1, 4]), ("sr", I, [])],
         [("output", F, []), ("hn", F, [1, 4]), ("used", F, [])])


def text(path):
    table = np.arange(40, dtype="float32").reshape(10, 4)
    save(path, [helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
                helper.make_node("Cast", ["attention_mask"], ["mask"], to=F),
                helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
                helper.make_node("Mul", ["rows", "wide"], ["last_hidden_state"])],
         [("input_ids", I, ["batch", "sequence"]), ("attention_mask", I, ["batch", "sequence"])],
         [("last_hidden_state", F, ["batch", "sequence", 4])], [("table", table), ("last", np.array([2]))])


def voice(path):
    save(path, [helper.make_node("Neg", ["x"], ["y"])], [("x", F, ["n"])], [("y", F, ["n"])],
         metadata={"sample_rate": "22050", "language": "en", "symbols": "a b c"})


def forest(path):
    value = helper.make_tensor_value_info
    maps = helper.make_sequence_type_proto(helper.make_tensor_type_proto(F, []))
    item = maps.sequence_type.elem_type
    item.map_type.key_type = I
    item.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(F, []))
    save(path, [helper.make_node("ArgMax", ["x"], ["label"], axis=1, keepdims=0),
                helper.make_node("ZipMap", ["x"], ["probabilities"], domain="ai.onnx.ml", classlabels_int64s=[4, 7])],
         [("x", F, [None, 2])], [value("label", I, [None]), helper.make_value_info("probabilities", maps)])


SCRIPTS = [
    (classifier, """
import numpy as np
import onnxruntime as ort

session = ort.InferenceSession("model.onnx", providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
name = session.get_inputs()[0].name
shape = session.get_inputs()[0].shape
image = np.ones((1, *shape[1:]), dtype=np.float32)
logits = session.run(None, {name: image})[0]
print(shape, int(np.argmax(logits)), session.get_providers())
""", "['batch', 3, 8, 8] 2 ['CPUExecutionProvider']"),
    (classifier, """
import numpy
import onnxruntime as onnxruntime
opts = onnxruntime.SessionOptions()
opts.intra_op_num_threads = 2
opts.inter_op_num_threads = 1
opts.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
opts.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
opts.enable_cpu_mem_arena = False
opts.enable_mem_pattern = False
opts.log_severity_level = 3
opts.add_session_config_entry("session.intra_op.allow_spinning", "0")
with open("model.onnx", "rb") as f:
    sess = onnxruntime.InferenceSession(f.read(), opts, providers=onnxruntime.get_available_providers())
batch = numpy.random.rand(4, 3, 8, 8).astype("float32")
out, = sess.run([o.name for o in sess.get_outputs()], {sess.get_inputs()[0].name: batch})
print(out.shape, out.dtype, sess.get_outputs()[0].type)
""", "(4, 5) float32 tensor(float)"),
    (voice, """
import json
import numpy as np
import onnxruntime as ort

class Voice:
    def __init__(self, path):
        so = ort.SessionOptions()
        so.log_severity_level = 4
        self.model = ort.InferenceSession(path, sess_options=so, providers=["CPUExecutionProvider"])
        meta = self.model.get_modelmeta()
        self.config = meta.custom_metadata_map
        self.rate = int(self.config["sample_rate"])
        self.symbols = self.config["symbols"].split()
        self.producer = meta.producer_name

    def __call__(self, x):
        return self.model.run([self.model.get_outputs()[0].name], {self.model.get_inputs()[0].name: x})[0]

voice = Voice("model.onnx")
print(voice.rate, voice.symbols, voice.producer, voice(np.array([1, 2], np.float32)).tolist())
""", "22050 ['a', 'b', 'c'] test [-1.0, -2.0]"),
    (two_heads, """
import numpy as np
import onnxruntime as ort

sess = ort.InferenceSession("model.onnx", None, providers=[("CUDAExecutionProvider", {"device_id": 0}), "CPUExecutionProvider"])
outputs = [o.name for o in sess.get_outputs()]
x = np.zeros((1, 3, 6), np.float32)
x[0, :, :4] = [[0, 0, 2, 2], [0, 0, 2, 2], [5, 5, 6, 6]]
x[0, :, 4] = [.9, .8, .7]
boxes, scores = sess.run(outputs, {"x": x})
keep = [i for i in scores[0, :, 0].argsort()[::-1] if scores[0, i, 0] > .75]
print(outputs, keep, boxes[0, keep[0]].tolist())
""", "['boxes', 'scores'] [0, 1] [0.0, 0.0, 2.0, 2.0]"),
    (classifier, """
import numpy as np
import onnxruntime as ort

session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
binding = session.io_binding()
x = ort.OrtValue.ortvalue_from_numpy(np.ones((2, 3, 8, 8), np.float32), "cpu", 0)
y = ort.OrtValue.ortvalue_from_shape_and_type([2, 5], np.float32, "cpu", 0)
binding.bind_input(name="image", device_type=x.device_name(), device_id=0, element_type=np.float32, shape=x.shape(),
                   buffer_ptr=x.data_ptr())
binding.bind_output(name="logits", device_type="cpu", device_id=0, element_type=np.float32, shape=y.shape(),
                    buffer_ptr=y.data_ptr())
for _ in range(3):
    session.run_with_iobinding(binding)
binding2 = session.io_binding()
binding2.bind_ortvalue_input("image", x)
binding2.bind_output("logits")
session.run_with_iobinding(binding2)
print(y.numpy()[1].tolist(), (binding2.copy_outputs_to_cpu()[0] == y.numpy()).all(), binding2.get_outputs()[0].shape())
""", "[0.0, 0.0, 3.0, 0.0, 0.0] True [2, 5]"),
    (state, """
import numpy as np
from onnxruntime import InferenceSession, SessionOptions

class Detector:
    def __init__(self):
        options = SessionOptions()
        options.inter_op_num_threads = options.intra_op_num_threads = 1
        self.session = InferenceSession("model.onnx", sess_options=options, providers=["CPUExecutionProvider"])
        self.reset()

    def reset(self):
        self._h = np.zeros((1, 4)).astype("float32")

    def __call__(self, x, sr):
        ort_inputs = {"input": x, "h": self._h, "sr": np.array(sr, dtype="int64")}
        out, self._h, _ = self.session.run(None, ort_inputs)
        return float(out)

detector = Detector()
print([detector(np.full((1, 4), 0.5, np.float32), 16000) for _ in range(3)])
""", "[0.5, 1.0, 1.5]"),
    (text, """
import numpy as np
import onnxruntime as ort

session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
wanted = {i.name for i in session.get_inputs()}
encoded = {"input_ids": [[1, 2, 0], [3, 0, 0]], "attention_mask": [[1, 1, 0], [1, 0, 0]], "token_type_ids": [[0] * 3] * 2}
feeds = {k: np.array(v, dtype=np.int64) for k, v in encoded.items() if k in wanted}
hidden = session.run(None, feeds)[0]
mask = feeds["attention_mask"][..., None].astype(np.float32)
pooled = (hidden * mask).sum(1) / mask.sum(1)
print([i.type for i in session.get_inputs()], pooled[:, 0].tolist())
""", "['tensor(int64)', 'tensor(int64)'] [6.0, 12.0]"),
    (forest, """
import numpy
import onnxruntime as rt

sess = rt.InferenceSession("model.onnx", providers=rt.get_available_providers())
input_name = sess.get_inputs()[0].name
label, probabilities = sess.run(None, {input_name: numpy.array([[0.25, 0.75], [1, 0]]).astype(numpy.float32)})
print(label.tolist(), probabilities, sess.get_outputs()[1].type)
""", "[1, 0] [{4: 0.25, 7: 0.75}, {4: 1.0, 7: 0.0}] seq(map(int64,tensor(float)))"),
    (classifier, """
import numpy as np
import onnxruntime as ort
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument, NoSuchFile

try:
    ort.InferenceSession("none.onnx", providers=["CPUExecutionProvider"])
except NoSuchFile as e:
    print("NO_SUCHFILE" in str(e))
session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
try:
    session.run(None, {"image": np.zeros((1, 3, 8, 8))})
except InvalidArgument as e:
    print("Unexpected input data type" in str(e))
try:
    session.run(["none"], {"image": np.zeros((1, 3, 8, 8), np.float32)})
except Exception as e:
    print("INVALID" in str(e))
print(ort.get_device(), ort.__version__.split(".")[0])
""", "True\nTrue\nTrue\nCPU 1"),
    (classifier, """
import concurrent.futures, threading, time
import numpy as np
import onnxruntime as ort

ort.set_default_logger_severity(3)
session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
run_options = ort.RunOptions()
run_options.log_severity_level = 3
run_options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")

def work(seed):
    x = np.full((1, 3, 8, 8), seed, np.float32)
    return float(session.run(["logits"], {"image": x}, run_options)[0][0, 2])

with concurrent.futures.ThreadPoolExecutor(8) as pool:
    print(list(pool.map(work, range(8))))
done = threading.Event()
session.run_async(["logits"], {"image": np.ones((1, 3, 8, 8), np.float32)}, lambda r, data, err: done.set(), None)
print(done.wait(10), session.get_modelmeta().version >= 0)
""", "[0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0]\nTrue True"),
    (classifier, """
import numpy as np
import onnx
import onnxruntime as ort

so = ort.SessionOptions()
so.optimized_model_filepath = "optimized.onnx"
so.add_free_dimension_override_by_name("batch", 2)
a = ort.InferenceSession("model.onnx", so, providers=["CPUExecutionProvider"])
print([n.op_type for n in onnx.load("optimized.onnx").graph.node])
b = ort.InferenceSession("optimized.onnx", providers=["CPUExecutionProvider"])
x = np.random.default_rng(1).random((2, 3, 8, 8), dtype=np.float32)
print(np.array_equal(a.run(None, {"image": x})[0], b.run(None, {"image": x})[0]), a.get_inputs()[0].shape)
""", "['GlobalAveragePool', 'Flatten', 'MatMul']\nTrue [2, 3, 8, 8]"),
]


def change_import(text):
    return re.sub(r"^(import|from) onnxruntime\b", r"\1 lightnetrt.compat.onnxruntime", text, flags=re.M)


class Scripts(unittest.TestCase):
    def test_scripts_with_the_import_changed(self):
        for number, (make, script, wanted) in enumerate(SCRIPTS):
            script = change_import(script)
            with self.subTest(number), tempfile.TemporaryDirectory() as folder:
                make(Path(folder) / "model.onnx")
                done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], cwd=folder, capture_output=True,
                                      text=True, env={"PYTHONPATH": str(BUILD / "python")})
                self.assertEqual((done.stdout.strip(), done.stderr), (wanted, ""), script)


if __name__ == "__main__":
    unittest.main()
