# SPDX-License-Identifier: Apache-2.0
"""The backend interface of ONNX: prepare, run_model, supports_device, is_compatible."""
import numpy
from onnx.backend.base import Backend, BackendRep

import lightnetrt


class Rep(BackendRep):
    def __init__(self, model):
        self._model = model

    def run(self, inputs, **unused):
        """The outputs, in order, for inputs in order or by name."""
        feeds = inputs if isinstance(inputs, dict) else dict(zip((i.name for i in self._model.inputs), inputs))
        results = self._model.run(feeds)
        # Types that NumPy does not have are their bits, as in ONNX's own arrays.
        return tuple(numpy.asarray(value) if isinstance(value, lightnetrt.Array) else value
                     for value in (results[item.name] for item in self._model.outputs))


class LightNetBackend(Backend):
    @classmethod
    def is_compatible(cls, model, device="CPU", **unused):
        return not lightnetrt.preflight(model.SerializeToString())["problems"]

    @classmethod
    def prepare(cls, model, device="CPU", **options):
        if not cls.supports_device(device):
            raise lightnetrt.UnsupportedError(f"no device '{device}'; there is CPU")
        return Rep(lightnetrt.load(model if isinstance(model, (bytes, str)) else model.SerializeToString(), **options))

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **options):
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def supports_device(cls, device):
        return device.split(":")[0] == "CPU"


is_compatible = LightNetBackend.is_compatible
prepare = LightNetBackend.prepare
run_model = LightNetBackend.run_model
supports_device = LightNetBackend.supports_device
__all__ = ["LightNetBackend", "is_compatible", "prepare", "run_model", "supports_device"]
