// SPDX-License-Identifier: Apache-2.0
// Computes exported models with onnxruntime-node, its optimization off.
// Usage: node ort.js FOLDER-OF-NODE_MODULES ANSWERS MODEL.onnx...
// ANSWERS gets one line of JSON for each model, before the next one is read.
'use strict';
const fs = require('fs');
const path = require('path');
const ort = require(path.join(path.resolve(process.argv[2]), 'onnxruntime-node'));

const types = {
  TL_FLOAT: ['float32', Float32Array], TL_DOUBLE: ['float64', Float64Array], TL_INT64: ['int64', BigInt64Array],
  TL_UINT64: ['uint64', BigUint64Array], TL_INT32: ['int32', Int32Array], TL_UINT32: ['uint32', Uint32Array],
  TL_INT16: ['int16', Int16Array], TL_UINT16: ['uint16', Uint16Array], TL_INT8: ['int8', Int8Array],
  TL_UINT8: ['uint8', Uint8Array], TL_BOOL: ['bool', Uint8Array],
};

function tensor(input) {
  if (!types[input.type]) throw new Error('no type of npm for ' + input.type);
  const [name, array] = types[input.type];
  const big = array === BigInt64Array || array === BigUint64Array;
  return new ort.Tensor(name, array.from(input.data, (x) => (big ? BigInt(x) : Number(x.replace ? x.replace('inf', 'Infinity') : x))), input.dims);
}

const number = (x) => (Number.isFinite(Number(x)) ? Number(x) : String(x));

async function compute(model) {
  const stated = JSON.parse(fs.readFileSync(model.replace('.onnx', '.json')));
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: 1, logSeverityLevel: 4, graphOptimizationLevel: 'disabled', extra: {session: {x64quantprecision: '1'}},
  });
  const feeds = {};
  for (const input of stated.inputs)
    if (session.inputNames.includes(input.name)) feeds[input.name] = tensor(input);
  const results = await session.run(feeds), outputs = {};
  for (const name in results)
    outputs[name] = {dims: results[name].dims, data: Array.from(results[name].data, number)};
  return {outputs};
}

(async () => {
  for (const model of process.argv.slice(4)) {
    fs.appendFileSync(process.argv[3], JSON.stringify({model, begun: true}) + '\n');
    const answer = await compute(model).catch((error) => ({error: String(error.message || error).slice(0, 300)}));
    fs.appendFileSync(process.argv[3], JSON.stringify({model, ...answer}) + '\n');
  }
})();
