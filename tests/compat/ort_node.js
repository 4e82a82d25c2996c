// SPDX-License-Identifier: Apache-2.0
// What onnxruntime-node says of models and computes with them, as JSON: a list in their order. All sessions stay open.
// Usage: node ort_node.js FOLDER-OF-NODE_MODULES ANSWER MODEL...
'use strict';
const fs = require('fs');
const path = require('path');
const ort = require(path.join(path.resolve(process.argv[2]), 'onnxruntime-node'));

const arrays = {
  float32: Float32Array, float64: Float64Array, int64: BigInt64Array, uint64: BigUint64Array, int32: Int32Array,
  uint32: Uint32Array, int16: Int16Array, uint16: Uint16Array, int8: Int8Array, uint8: Uint8Array, bool: Uint8Array,
  float16: typeof Float16Array === 'undefined' ? Uint16Array : Float16Array,
};

// The same numbers in both processes, and `size` for dimensions that the model leaves open.
function makeInput(meta, size) {
  let state = 12345;
  const next = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) / 4294967296;
  const dims = meta.shape.map((dim) => (typeof dim === 'number' && dim > 0 ? dim : size));
  const count = dims.reduce((a, b) => a * b, 1);
  const data = new arrays[meta.type](count);
  for (let i = 0; i < count; i++) {
    if (meta.type === 'int64' || meta.type === 'uint64') data[i] = BigInt(Math.floor(next() * 2));
    else if (meta.type === 'float16' && data instanceof Uint16Array) data[i] = 0x3000 + Math.floor(next() * 0xc00);
    else data[i] = meta.type.startsWith('float') ? next() : Math.floor(next() * (meta.type === 'bool' ? 2 : 120));
  }
  return new ort.Tensor(meta.type, data, dims);
}

const describe = (metas) => metas.map((m) => ({name: m.name, type: m.type, shape: m.shape, isTensor: m.isTensor}));

async function run(session, size) {
  const feeds = {};
  for (const meta of session.inputMetadata) feeds[meta.name] = makeInput(meta, size);
  return session.run(feeds);
}

const open = [];

async function report(model) {
  const session = await ort.InferenceSession.create(model, {intraOpNumThreads: 1, logSeverityLevel: 4});
  open.push(session);
  const results = await run(session, 1).catch(() => run(session, 512));
  const outputs = {};
  for (const name in results)
    outputs[name] = {
      type: results[name].type, dims: results[name].dims,
      data: Array.from(results[name].data, (x) => (typeof x === 'string' ? x : Number.isFinite(Number(x)) ? Number(x) : String(x))),
    };
  return {inputs: describe(session.inputMetadata), outputs: describe(session.outputMetadata), results: outputs};
}

async function reportAll(models) {
  const answers = [];
  for (const model of models)
    answers.push(await report(model).catch((error) => ({error: String(error.message || error).slice(0, 300)})));
  return answers;
}

reportAll(process.argv.slice(4)).then((answers) => fs.writeFileSync(process.argv[3], JSON.stringify(answers)));
