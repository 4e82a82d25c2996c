// SPDX-License-Identifier: Apache-2.0
// onnxruntime-node with the library swapped: 10,000 runs of one process, then 8 workers at once.
// Usage: node --expose-gc ort_node_load.js FOLDER-OF-NODE_MODULES MODEL
'use strict';
const path = require('path');
const {Worker, isMainThread, workerData, parentPort} = require('worker_threads');
const [modules, model] = isMainThread ? process.argv.slice(2) : workerData;
const ort = require(path.join(path.resolve(modules), 'onnxruntime-node'));

// Results that are not those of the first run are counted.
async function run(session, count) {
  const meta = session.inputMetadata[0];
  const dims = meta.shape.map((dim) => (typeof dim === 'number' && dim > 0 ? dim : 1));
  const data = Float32Array.from({length: dims.reduce((a, b) => a * b, 1)}, (_, i) => (i % 17) / 17);
  let first = null, wrong = 0;
  for (let i = 0; i < count; i++) {
    const results = await session.run({[meta.name]: new ort.Tensor('float32', data, dims)});
    const numbers = results[session.outputNames[0]].data.join();
    first = first === null ? numbers : first;
    wrong += numbers !== first;
    if (i % 500 === 499 && global.gc) global.gc();
  }
  return {first, wrong};
}

const open = () => ort.InferenceSession.create(model, {intraOpNumThreads: 1});

async function main() {
  const session = await open();
  const before = await run(session, 1000);
  const rss = process.memoryUsage().rss;
  const after = await run(session, 10000);
  const growth = (process.memoryUsage().rss - rss) / 1048576;
  const workers = Array.from({length: 8}, () => new Promise((resolve, reject) => {
    new Worker(__filename, {workerData: [modules, model]}).on('message', resolve).on('error', reject);
  }));
  const answers = await Promise.all(workers);
  const wrong = before.wrong + after.wrong + answers.reduce((sum, a) => sum + a.wrong + (a.first !== before.first), 0);
  console.log(`load: 10000 runs, ${growth.toFixed(1)} MiB more; 8 workers of 200 runs; ${wrong} results differ`);
  process.exit(wrong > 0 || growth > 16 ? 1 : 0); // V8 keeps some MiB of its own
}

if (isMainThread) main();
else open().then((session) => run(session, 200)).then((answer) => parentPort.postMessage(answer));
