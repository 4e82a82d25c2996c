// SPDX-License-Identifier: Apache-2.0
// Makes the cases in onnx/: one operator each of com.microsoft or ai.onnx.ml, for which there are no
// official cases, as ONNX with seeded inputs and what ONNX Runtime gives for them.
//
//     NODE_PATH=SCRATCH/node_modules node make_onnx_cases.js [FOLDER]
'use strict';

const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');
const { Float, modelBytes, tensorBytes } = require('./onnx_writer.js');

const ARRAYS = { float: Float32Array, uint8: Uint8Array, int8: Int8Array, bool: Uint8Array,
    int32: Int32Array, int64: BigInt64Array };
const FOLDER = process.argv[2] || path.join(__dirname, 'onnx');
const MS = 'com.microsoft', ML = 'ai.onnx.ml';

// ---- Data ----

// The seed is the case's name, so a new case changes no other.
let random = null;

function seedRandom(name) {
    let state = 0x9e3779b9;
    for (const byte of Buffer.from(name))
        state = Math.imul(state ^ byte, 0x01000193) >>> 0;
    random = () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let z = Math.imul(state ^ (state >>> 15), state | 1);
        z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
        return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
    };
}

function count(dims) {
    return dims.reduce((product, dim) => product * dim, 1);
}

function tensor(dtype, dims, data) {
    return { dtype, dims, data: dtype === 'string' ? data : ARRAYS[dtype].from(data) };
}

function some(dtype, dims, low, high) {
    return tensor(dtype, dims, Array.from({ length: count(dims) },
        () => dtype === 'float' ? low + (high - low) * random()
            : Math.floor(low + (high - low) * random())));
}

const floats = (...dims) => some('float', dims, -1, 1);
const scale = (value) => tensor('float', [], [value]);
const bytes = (dtype, ...dims) =>
    dtype === 'int8' ? some(dtype, dims, -128, 128) : some(dtype, dims, 0, 256);
const zero = (dtype, value) => tensor(dtype, [], [value]);
const ints = (...values) => tensor('int32', [values.length], values);
const real = (...values) => values.map((value) => new Float(value));

// ---- Cases ----

// Each: [name, domain, type, inputs by name (null: left out), outputs ('': not wanted), attributes].
// Inputs are functions, called once the case's seed is set.
const cases = [];

function ms(name, type, inputs, outputs = ['y'], attrs = {}) {
    cases.push({ name, domain: MS, type, inputs, outputs, attrs });
}

function ml(name, type, inputs, outputs, attrs) {
    cases.push({ name, domain: ML, type, inputs, outputs, attrs });
}

for (const [dtype, a, b, c] of [['uint8', 120, 130, 90], ['int8', 3, -5, 10]]) {
    const q = (...dims) => bytes(dtype, ...dims);
    const pair = (aDims, bDims, ys) => () => ({ a: q(...aDims), as: scale(0.02), az: zero(dtype, a),
        b: q(...bDims), bs: scale(0.03), bz: zero(dtype, b), ys: scale(ys), yz: zero(dtype, c) });
    ms(`qlinear_add_${dtype}`, 'QLinearAdd', pair([2, 1, 4], [3, 1], 0.05));
    ms(`qlinear_mul_${dtype}`, 'QLinearMul', pair([2, 3, 4], [4], 0.03));
    ms(`qlinear_concat_${dtype}`, 'QLinearConcat', () => ({ ys: scale(0.04), yz: zero(dtype, a),
        x: q(2, 3), xs: scale(0.02), xz: zero(dtype, b), w: q(2, 4), ws: scale(0.07),
        wz: zero(dtype, c) }), ['y'], { axis: 1 });
    ms(`qlinear_where_${dtype}`, 'QLinearWhere', () => ({ when: tensor('bool', [4, 1], [1, 0, 0, 1]),
        x: q(4, 3), xs: scale(0.05), xz: zero(dtype, a), w: q(4, 3), ws: scale(0.02),
        wz: zero(dtype, b), ys: scale(0.06), yz: zero(dtype, c) }));
    const one = (dims, xs, ys, yz) => () => ({ x: q(...dims), xs: scale(xs), xz: zero(dtype, a),
        ys: scale(ys), yz: zero(dtype, yz) });
    ms(`qlinear_average_pool_${dtype}`, 'QLinearAveragePool', one([1, 2, 6, 5], 0.02, 0.015, b),
        ['y'], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] });
    ms(`qlinear_global_average_pool_${dtype}`, 'QLinearGlobalAveragePool',
        one([2, 5, 4, 3], 0.02, 0.015, b), ['y'], { channels_last: 1 });
    const least = dtype === 'int8' ? -128 : 0;
    ms(`qlinear_sigmoid_${dtype}`, 'QLinearSigmoid', one([4, 16], 0.05, 1 / 256, least));
    ms(`qlinear_leaky_relu_${dtype}`, 'QLinearLeakyRelu', one([4, 16], 0.05, 0.05, c), ['y'],
        { alpha: new Float(0.1) });
    ms(`qlinear_softmax_${dtype}`, 'QLinearSoftmax', one([2, 3, 5], 0.05, 1 / 256, least), ['y'],
        { axis: -1, opset: 13 });
    const gemm = () => ({ a: q(5, 7), as: scale(0.02), az: zero(dtype, a), b: q(4, 7),
        bs: scale(0.03), bz: zero(dtype, b), c: some('int32', [4], -999, 999) });
    ms(`qgemm_${dtype}`, 'QGemm', () => ({ ...gemm(), ys: scale(0.2), yz: zero(dtype, c) }), ['y'],
        { transB: 1, alpha: new Float(0.5) });
    ms(`qgemm_float_${dtype}`, 'QGemm', gemm, ['y'], { transB: 1 });
    ms(`matmul_integer_to_float_${dtype}`, 'MatMulIntegerToFloat', () => ({ a: q(2, 3, 7), b: q(7, 4),
        as: scale(0.02), bs: some('float', [4], 0.01, 0.1), az: zero(dtype, a), bz: q(4),
        bias: floats(4) }));
    ms(`dynamic_quantize_matmul_${dtype}`, 'DynamicQuantizeMatMul', () => ({ a: floats(2, 3, 7),
        b: q(7, 4), bs: scale(0.03), bz: zero(dtype, b), bias: floats(4) }));
}

for (const bits of [4, 8])
    ms(`matmul_${bits}_bits`, 'MatMulNBits', () => ({ a: floats(2, 50),
        b: bytes('uint8', 6, 2, 4 * bits), scales: floats(12),
        zeros: bytes('uint8', 6, bits / 4) }), ['y'],
    { K: 50, N: 6, bits, block_size: 32 });
ms('fused_conv', 'FusedConv', () => ({ x: floats(1, 4, 5, 6), w: floats(3, 4, 3, 3), b: floats(3),
    z: floats(1, 3, 5, 6) }), ['y'], { activation: 'Relu', pads: [1, 1, 1, 1] });
ms('fused_gemm', 'FusedGemm', () => ({ a: floats(3, 4), b: floats(5, 4), c: floats(5) }), ['y'],
    { activation: 'LeakyRelu', activation_alpha: new Float(0.1), transB: 1 });
ms('fused_matmul', 'FusedMatMul', () => ({ a: floats(4, 2, 3), b: floats(5, 2, 4) }), ['y'],
    { transBatchA: 1, transA: 1, transBatchB: 1, transB: 1, alpha: new Float(0.5) });
ms('gelu', 'Gelu', () => ({ x: some('float', [4, 8], -4, 4) }));
ms('bias_gelu', 'BiasGelu', () => ({ x: some('float', [2, 3, 8], -4, 4), b: floats(8) }));
ms('fast_gelu', 'FastGelu', () => ({ x: some('float', [2, 3, 8], -4, 4), b: floats(8) }));
ms('quick_gelu', 'QuickGelu', () => ({ x: some('float', [4, 8], -4, 4) }), ['y'],
    { alpha: new Float(1.702) });
ms('skip_layer_normalization', 'SkipLayerNormalization', () => ({ x: floats(2, 3, 8),
    skip: floats(3, 8), gamma: floats(8), beta: floats(8), bias: floats(8) }), ['y', '', '', 'sum'],
{ epsilon: new Float(1e-5) });
ms('skip_simplified_layer_normalization', 'SkipSimplifiedLayerNormalization',
    () => ({ x: floats(2, 3, 8), skip: floats(2, 3, 8), gamma: floats(8) }));
ms('embed_layer_normalization', 'EmbedLayerNormalization', () => ({
    ids: some('int32', [2, 5], 0, 10), segments: some('int32', [2, 5], 0, 2), words: floats(10, 8),
    places: floats(7, 8), kinds: floats(2, 8), gamma: floats(8), beta: floats(8),
    mask: tensor('int32', [2, 5], [1, 1, 1, 0, 0, 1, 1, 1, 1, 1]) }), ['y', 'mask_index']);
const projected = () => ({ x: floats(2, 5, 8), w: floats(8, 24), b: floats(24) });
ms('attention_mask', 'Attention', () => ({ ...projected(), m: ints(3, 5) }), ['y'], { num_heads: 2 });
ms('attention_mask_of_one_key', 'Attention',
    () => ({ ...projected(), m: tensor('int32', [2, 1], [1, 1]) }), ['y'], { num_heads: 2 });
ms('attention_past', 'Attention', () => ({ ...projected(), m: null, past: floats(2, 2, 2, 3, 4) }),
    ['y', 'present'], { num_heads: 2, unidirectional: 1 });
ms('multi_head_attention', 'MultiHeadAttention', () => ({ q: floats(2, 3, 8), k: floats(2, 5, 8),
    v: floats(2, 5, 12), b: floats(28), m: ints(4, 5) }), ['y'], { num_heads: 2 });
ms('group_query_attention', 'GroupQueryAttention', () => ({ q: floats(2, 1, 64), k: floats(2, 1, 32),
    v: floats(2, 1, 32), pk: floats(2, 2, 4, 16), pv: floats(2, 2, 4, 16), lens: ints(4, 2),
    total: tensor('int32', [], [5]), cos: floats(8, 8), sin: floats(8, 8) }), ['y', 'ok', 'ov'],
{ num_heads: 4, kv_num_heads: 2, do_rotary: 1 });
ms('rotary_embedding', 'RotaryEmbedding', () => ({ x: floats(2, 3, 16),
    at: tensor('int64', [2, 3], [0n, 1n, 2n, 3n, 4n, 5n]), cos: floats(8, 4), sin: floats(8, 4) }),
['y'], { interleaved: 1 });
ms('nhwc_max_pool', 'NhwcMaxPool', () => ({ x: bytes('uint8', 1, 5, 6, 3) }), ['y'],
    { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] });
ms('qattention', 'QAttention', () => ({ x: bytes('uint8', 2, 5, 8), w: bytes('int8', 8, 24),
    b: floats(24), xs: scale(0.02), ws: some('float', [24], 0.001, 0.01), m: ints(3, 5),
    xz: zero('uint8', 120), wz: bytes('int8', 24) }), ['y'], { num_heads: 2 });
ms('inverse', 'Inverse', () => ({ x: floats(2, 4, 4) }));
ms('trilu', 'Trilu', () => ({ x: floats(3, 4, 5) }), ['y'], { upper: 0 });

const tree = { nodes_treeids: [0, 0, 0], nodes_nodeids: [0, 1, 2], nodes_featureids: [1, 0, 0],
    nodes_values: real(0.1, 0, 0), nodes_modes: ['BRANCH_LEQ', 'LEAF', 'LEAF'],
    nodes_truenodeids: [1, 0, 0], nodes_falsenodeids: [2, 0, 0], class_treeids: [0, 0],
    class_nodeids: [1, 2] };
const rows = () => ({ x: floats(5, 3) });
for (const [name, weights, id] of [['first', [0.2, 0.7], 0], ['second', [0.2, 0.7], 1],
    ['mixed', [-0.3, 0.7], 0]])
    for (const transform of ['NONE', 'LOGISTIC'])
        ml(`tree_votes_${name}_${transform.toLowerCase()}`, 'TreeEnsembleClassifier', rows, ['l', 'p'],
            { ...tree, class_ids: [id, id], class_weights: real(...weights),
                classlabels_strings: ['no', 'yes'], post_transform: transform });
for (const transform of ['LOGISTIC', 'SOFTMAX']) {
    ml(`linear_pair_${transform.toLowerCase()}`, 'LinearClassifier', rows, ['l', 'p'],
        { coefficients: real(0.8, -0.4, 0.3), intercepts: real(0.1), classlabels_ints: [5, 9],
            post_transform: transform });
    ml(`svm_pair_${transform.toLowerCase()}`, 'SVMClassifier', rows, ['l', 'p'],
        { kernel_type: 'RBF', kernel_params: real(0.5, 0, 0), vectors_per_class: [1, 1],
            coefficients: real(0.5, -0.7), support_vectors: real(1, 0.5, -1, 0.2, 0.1, 0.9),
            rho: real(0.3), classlabels_strings: ['a', 'b'], post_transform: transform });
}

// ---- Files ----

function fromOrt(value) {
    return { dtype: value.type === 'float32' ? 'float' : value.type, dims: value.dims,
        data: value.data };
}

async function make({ name, domain, type, inputs, outputs, attrs }) {
    seedRandom(name);
    const tensors = inputs();
    const given = Object.fromEntries(Object.entries(tensors).filter(([, t]) => t));
    const build = (results) => modelBytes({
        nodes: [{ type, ins: Object.entries(tensors).map(([n, t]) => (t ? n : '')), outs: outputs,
            attrs, domain }],
        inputs: given, outputs: results, constants: {}, opset: 17,
        domains: { [domain]: domain === ML ? 3 : 1 } });
    const wanted = outputs.filter((n) => n);
    // Of an output, only that it is one matters to ONNX Runtime; its type is known behind the run.
    const guess = Object.fromEntries(wanted.map((n) => [n, null]));
    const session = await ort.InferenceSession.create(build(guess), { graphOptimizationLevel:
        'disabled', intraOpNumThreads: 1, logSeverityLevel: 3 });
    const feeds = Object.fromEntries(Object.entries(given).map(([n, t]) =>
        [n, new ort.Tensor(t.dtype === 'float' ? 'float32' : t.dtype, t.data, t.dims)]));
    const found = await session.run(feeds);
    const results = Object.fromEntries(wanted.map((n) => [n, fromOrt(found[n])]));
    const data = path.join(FOLDER, name, 'test_data_set_0');
    fs.mkdirSync(data, { recursive: true });
    fs.writeFileSync(path.join(FOLDER, name, 'model.onnx'), build(results));
    Object.entries(given).forEach(([n, t], i) =>
        fs.writeFileSync(path.join(data, `input_${i}.pb`), tensorBytes(n, t)));
    wanted.forEach((n, i) =>
        fs.writeFileSync(path.join(data, `output_${i}.pb`), tensorBytes(n, results[n])));
}

(async () => {
    for (const each of cases)
        await make(each).catch((error) => {
            throw new Error(`${each.name}: ${error.message}`);
        });
})();
