// SPDX-License-Identifier: Apache-2.0
// Makes the oracle's cases: small models with seeded inputs, and what ONNX Runtime gives for them.
//
//     NODE_PATH=SCRATCH/node_modules node make_cases.js [FOLDER]
//
// Each case is written twice from one description: as ONNX, which ONNX Runtime runs here, and as
// IL, which our engine runs in oracle_test.c. See README.md for the files and for adding a case.
'use strict';

const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');
const { Float, modelBytes } = require('./onnx_writer.js');

const OPSET = 17;
const ARRAYS = { float: Float32Array, int32: Int32Array, int64: BigInt64Array };
const IL_DTYPES = { float: 'TL_FLOAT', int32: 'TL_INT32' };
const FILE_DTYPES = { float: 'F32', int32: 'I32' };

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

// Uniform in [low, high).
function uniform(dims, low = -1, high = 1) {
    return { dtype: 'float', dims, data: Float32Array.from({ length: count(dims) },
        () => low + (high - low) * random()) };
}

function integers(dims, low = -100, high = 100) {
    return { dtype: 'int32', dims, data: Int32Array.from({ length: count(dims) },
        () => Math.floor(low + (high - low) * random())) };
}

function values(dims, data, dtype = 'float') {
    return { dtype, dims, data: ARRAYS[dtype].from(data) };
}

function weight(tensor) {
    return { ...tensor, isWeight: true };
}

// ---- A case under construction ----

const cases = [];
let current = null;

// Runs `build` with a fresh case; with `variants` once more as NAME_static, where the weights are
// not inputs but come from the file, so that the engine may pack and fold them.
function test(name, build, { variants = false } = {}) {
    for (const isStatic of variants ? [false, true] : [false]) {
        seedRandom(name);
        current = { name: isStatic ? `${name}_static` : name, isStatic, inputs: {},
            constants: {}, nodes: [], il: [], outputs: {} };
        build();
        cases.push(current);
    }
}

function input(name, tensor) {
    current.inputs[name] = tensor;
    return name;
}

function shapeConstant(dims) {
    const name = `constant${Object.keys(current.constants).length}`;
    current.constants[name] = values([dims.length], dims.map(BigInt), 'int64');
    return name;
}

function scalesConstant(scales) {
    const name = `constant${Object.keys(current.constants).length}`;
    current.constants[name] = values([scales.length], scales);
    return name;
}

function onnx(type, ins, outs, attrs) {
    current.nodes.push({ type, ins, outs, attrs });
}

function ilValue(value) {
    return Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
}

function ilPairs(object) {
    return Object.entries(object).map(([key, value]) => `${key}=${ilValue(value)}`).join(', ');
}

function il(optype, ins, outs, params = {}) {
    const parts = [ilPairs(ins), ` ${ilPairs(outs)} `, ` ${ilPairs(params)}`.trimEnd()];
    current.il.push(`${optype}(${parts[0]} |${parts[1]}|${parts[2]});`);
}

function output(name, dtype = 'float') {
    current.outputs[name] = { dtype };
}

// ---- Operators: each adds itself in both languages ----

function conv2d(src, w, b, dst, { group = 1, stride = [1, 1], padding = [0, 0, 0, 0],
    dilation = [1, 1], autopad = 'NOTSET' } = {}) {
    const size = current.inputs[w].dims.slice(2);
    il('conv2d', { src, weight: w, bias: b }, { dst },
        { group, size, stride, padding, dilation, autopad });
    onnx('Conv', [src, w, b], [dst], { group, kernel_shape: size, strides: stride,
        dilations: dilation, ...pads(padding, autopad) });
    return dst;
}

function deconv2d(src, w, b, dst, { group = 1, stride = [1, 1], padding = [0, 0, 0, 0],
    output_padding = [0, 0], dilation = [1, 1], autopad = 'NOTSET' } = {}) {
    const size = current.inputs[w].dims.slice(2);
    il('deconv2d', { src, weight: w, bias: b }, { dst }, { group, size, stride,
        output_dims: [0, 0, 0, 0], padding, output_padding, dilation, autopad });
    onnx('ConvTranspose', [src, w, b], [dst], { group, kernel_shape: size, strides: stride,
        dilations: dilation, output_padding, ...pads(padding, autopad) });
    return dst;
}

// ONNX takes either padding or automatic padding.
function pads(padding, autopad) {
    return autopad === 'NOTSET' ? { pads: padding } : { auto_pad: autopad };
}

function pool2d(kind, src, dst, { size, stride = [1, 1], padding = [0, 0, 0, 0],
    autopad = 'NOTSET' }) {
    il(`${kind}pool2d`, { src }, { dst }, { size, stride, padding, autopad });
    const attrs = { kernel_shape: size, strides: stride, ...pads(padding, autopad) };
    if (kind === 'avg')
        onnx('AveragePool', [src], [dst], { ...attrs, count_include_pad: 0 });
    else
        onnx('MaxPool', [src], [dst], attrs);
    return dst;
}

function batchnorm(src, name, dst, epsilon = 1e-5) {
    const [scale, offset, mean, variance] =
        ['scale', 'offset', 'mean', 'var'].map((part) => `${name}_${part}`);
    il('batchnorm', { src, scale, offset, mean, var: variance }, { dst }, { epsilon });
    onnx('BatchNormalization', [src, scale, offset, mean, variance], [dst],
        { epsilon: new Float(epsilon) });
    return dst;
}

function unary(optype, src, dst) {
    il(optype, { src }, { dst });
    onnx({ relu: 'Relu', sigmoid: 'Sigmoid', forward: 'Identity' }[optype], [src], [dst]);
    return dst;
}

function lrelu(src, dst, negslope) {
    il('lrelu', { src }, { dst }, { negslope });
    onnx('LeakyRelu', [src], [dst], { alpha: new Float(negslope) });
    return dst;
}

function softmax(src, dst, axis) {
    il('softmax', { src }, { dst }, { axis });
    onnx('Softmax', [src], [dst], { axis });
    return dst;
}

function elew(elew_op, src1, src2, dst) {
    il('elew', { src1, src2 }, { dst }, { elew_op });
    onnx({ TL_SUM: 'Add', TL_SUB: 'Sub', TL_MUL: 'Mul', TL_DIV: 'Div', TL_MAX: 'Max',
        TL_MIN: 'Min', TL_POW: 'Pow' }[elew_op], [src1, src2], [dst]);
    return dst;
}

function concat(srcs, dst, axis) {
    il('concat', Object.fromEntries(srcs.map((src, i) => [`src${i + 1}`, src])), { dst }, { axis });
    onnx('Concat', srcs, [dst], { axis });
    return dst;
}

function transpose(src, dst, axes) {
    il('transpose', { src }, { dst }, { axes });
    onnx('Transpose', [src], [dst], { perm: axes });
    return dst;
}

function slice(src, dst, axis, start, len) {
    il('slice', { src }, { dst }, { axis, start, len });
    onnx('Slice', [src, shapeConstant([start]), shapeConstant([start + len]),
        shapeConstant([axis])], [dst]);
    return dst;
}

function reshape(src, dst, dims) {
    il('reshape', { src }, { dst }, { dims });
    onnx('Reshape', [src, shapeConstant(dims)], [dst]);
    return dst;
}

function maxreduce(src, dst, axis) {
    il('maxreduce', { src }, { dst }, { axis });
    onnx('ReduceMax', [src], [dst], { axes: [axis], keepdims: 1 });
    return dst;
}

function maxreduceArg(src, dst, arg, axis) {
    il('maxreduce_arg', { src }, { dst, arg }, { axis });
    onnx('ReduceMax', [src], [dst], { axes: [axis], keepdims: 1 });
    onnx('ArgMax', [src], [`${arg}_wide`], { axis, keepdims: 1, select_last_index: 0 });
    onnx('Cast', [`${arg}_wide`], [arg], { to: 6 });
}

// Our nearest is round((i + 0.5) * in / out - 0.5), halves up.
const NEAREST = { mode: 'nearest', coordinate_transformation_mode: 'half_pixel',
    nearest_mode: 'round_prefer_ceil' };

function resize(src, dst, dims) {
    il('resize', { src }, { dst }, { mode: 'TL_NEAREST', dims });
    onnx('Resize', [src, '', '', shapeConstant(dims)], [dst], NEAREST);
    return dst;
}

function upsample(src, dst, scales) {
    il('upsample', { src }, { dst }, { mode: 'TL_NEAREST', scales });
    onnx('Resize', [src, '', scalesConstant(scales)], [dst], NEAREST);
    return dst;
}

function dotProduct(src1, src2, dst) {
    il('dot_product', { src1, src2 }, { dst });
    onnx('Mul', [src1, src2], [`${dst}_each`]);
    onnx('ReduceSum', [`${dst}_each`], [dst], { keepdims: 1 });
}

function sort1d(src, dst, dir) {
    il('sort1d', { src_key: src }, { dst_key: dst }, { dir });
    onnx('TopK', [src, shapeConstant([count(current.inputs[src].dims)])], [dst, `${dst}_index`],
        { axis: 0, largest: dir === 'TL_SORT_DIR_DESCENDING' ? 1 : 0, sorted: 1 });
}

function pick1d(src, index, dst, stride) {
    const len = count(current.inputs[index].dims);
    il('pick1d', { src, src_index: index }, { dst }, { len, stride });
    onnx('Reshape', [src, shapeConstant([-1, stride])], [`${dst}_rows`]);
    onnx('Gather', [`${dst}_rows`, index], [`${dst}_picked`], { axis: 0 });
    onnx('Reshape', [`${dst}_picked`, shapeConstant([-1])], [dst]);
}

// ---- The cases ----

// Weights keep results near 1 whatever the number of products.
function filter(dims) {
    const spread = 1.7 / Math.sqrt(count(dims.slice(1)));
    return weight(uniform(dims, -spread, spread));
}

function normWeights(name, channels) {
    input(`${name}_scale`, weight(uniform([channels], 0.5, 1.5)));
    input(`${name}_offset`, weight(uniform([channels])));
    input(`${name}_mean`, weight(uniform([channels], -0.5, 0.5)));
    input(`${name}_var`, weight(uniform([channels], 0.2, 2)));
    return name;
}

function convCases() {
    const table = [
        // name, src dims, weight dims, params
        ['plain_3x3', [1, 3, 9, 11], [8, 3, 3, 3], {}],
        ['same_3x3', [1, 3, 9, 11], [8, 3, 3, 3], { padding: [1, 1, 1, 1] }],
        ['1x1', [1, 13, 6, 7], [17, 13, 1, 1], {}],
        ['1x1_stride2', [1, 8, 7, 9], [5, 8, 1, 1], { stride: [2, 2] }],
        ['1x1_one_pixel', [1, 37, 1, 1], [19, 37, 1, 1], {}],
        ['one_channel', [1, 1, 5, 5], [1, 1, 3, 3], {}],
        ['one_pixel_of_all', [1, 4, 1, 1], [1, 4, 1, 1], {}],
        ['whole_image', [1, 5, 6, 4], [7, 5, 6, 4], {}],
        ['batch2', [2, 3, 7, 6], [6, 3, 3, 3], { padding: [1, 1, 1, 1] }],
        ['batch3_1x1', [3, 4, 5, 3], [9, 4, 1, 1], {}],
        ['stride2', [1, 4, 10, 9], [6, 4, 3, 3], { stride: [2, 2], padding: [1, 1, 1, 1] }],
        ['stride_2x3', [1, 2, 11, 13], [4, 2, 3, 3], { stride: [2, 3] }],
        ['stride_over_size', [1, 2, 11, 11], [3, 2, 2, 2], { stride: [4, 3] }],
        ['asymmetric_padding', [1, 3, 6, 5], [4, 3, 3, 3], { padding: [0, 1, 2, 0] }],
        ['padding_bottom_right', [1, 3, 8, 8], [4, 3, 3, 3],
            { padding: [0, 0, 1, 1], stride: [2, 2] }],
        ['padding_over_size', [1, 2, 3, 3], [2, 2, 2, 2], { padding: [3, 2, 1, 4] }],
        ['dilation2', [1, 3, 11, 10], [4, 3, 3, 3], { dilation: [2, 2], padding: [2, 2, 2, 2] }],
        ['dilation_3x1', [1, 2, 12, 7], [3, 2, 3, 3], { dilation: [3, 1], padding: [1, 0, 2, 1] }],
        ['dilation_stride', [1, 2, 13, 13], [3, 2, 3, 3], { dilation: [2, 2], stride: [2, 2] }],
        ['1x7', [1, 4, 5, 12], [4, 4, 1, 7], { padding: [0, 3, 0, 3] }],
        ['7x1', [1, 4, 12, 5], [4, 4, 7, 1], { padding: [3, 0, 3, 0] }],
        ['5x5_stride2', [1, 3, 14, 13], [8, 3, 5, 5], { stride: [2, 2], padding: [2, 2, 2, 2] }],
        ['7x7_stride2', [1, 3, 17, 16], [8, 3, 7, 7], { stride: [2, 2], padding: [3, 3, 3, 3] }],
        ['group2', [1, 6, 7, 8], [8, 3, 3, 3], { group: 2, padding: [1, 1, 1, 1] }],
        ['group3_1x1', [1, 9, 5, 5], [6, 3, 1, 1], { group: 3 }],
        ['depthwise', [1, 10, 8, 9], [10, 1, 3, 3], { group: 10, padding: [1, 1, 1, 1] }],
        ['depthwise_batch2_stride2', [2, 5, 9, 8], [5, 1, 3, 3],
            { group: 5, stride: [2, 2], padding: [1, 1, 1, 1] }],
        ['depthwise_multiplier2', [1, 4, 6, 7], [8, 1, 3, 3], { group: 4, padding: [1, 1, 1, 1] }],
        ['depthwise_5x5_dilated', [1, 3, 12, 11], [3, 1, 5, 5],
            { group: 3, dilation: [2, 2], padding: [4, 4, 4, 4] }],
        ['many_channels', [1, 67, 4, 5], [33, 67, 1, 1], {}],
        ['wide_row', [1, 2, 3, 70], [3, 2, 3, 3], { padding: [1, 1, 1, 1] }],
        ['same_upper', [1, 3, 8, 7], [4, 3, 3, 3], { autopad: 'SAME_UPPER' }],
        ['same_upper_stride2', [1, 3, 8, 7], [4, 3, 3, 3],
            { autopad: 'SAME_UPPER', stride: [2, 2] }],
        ['same_upper_4x4', [1, 2, 6, 7], [3, 2, 4, 4], { autopad: 'SAME_UPPER' }],
        ['same_lower_4x4', [1, 2, 6, 7], [3, 2, 4, 4], { autopad: 'SAME_LOWER' }],
        ['same_lower_stride2', [1, 3, 8, 10], [4, 3, 3, 3],
            { autopad: 'SAME_LOWER', stride: [2, 2] }],
        ['valid', [1, 3, 8, 7], [4, 3, 3, 3], { autopad: 'VALID', stride: [2, 2] }],
    ];
    for (const [name, src, w, params] of table) {
        test(`conv2d_${name}`, () => {
            input('src', uniform(src));
            input('weight', filter(w));
            input('bias', weight(uniform([w[0]])));
            output(conv2d('src', 'weight', 'bias', 'dst', params));
        }, { variants: true });
    }
}

function deconvCases() {
    const table = [
        ['plain', [1, 3, 4, 5], [3, 4, 3, 3], {}],
        ['stride2', [1, 3, 4, 5], [3, 4, 3, 3], { stride: [2, 2], padding: [1, 1, 1, 1] }],
        ['output_padding', [2, 3, 4, 5], [3, 4, 3, 3],
            { stride: [2, 2], padding: [1, 1, 1, 1], output_padding: [1, 1] }],
        ['stride_over_size', [1, 2, 3, 4], [2, 3, 2, 2], { stride: [3, 4] }],
        ['asymmetric_padding', [1, 2, 5, 4], [2, 3, 4, 4],
            { stride: [2, 2], padding: [0, 1, 2, 1] }],
        ['dilation2', [1, 2, 4, 4], [2, 3, 3, 3], { dilation: [2, 2] }],
        ['group2', [1, 4, 4, 3], [4, 3, 3, 3], { group: 2, stride: [2, 2] }],
        ['depthwise_4x4', [1, 6, 3, 4], [6, 1, 4, 4],
            { group: 6, stride: [2, 2], padding: [1, 1, 1, 1] }],
        ['same_upper_even', [1, 2, 4, 5], [2, 3, 4, 4], { autopad: 'SAME_UPPER', stride: [2, 2] }],
        ['valid', [1, 2, 4, 5], [2, 3, 3, 3], { autopad: 'VALID', stride: [2, 2] }],
    ];
    for (const [name, src, w, params] of table) {
        test(`deconv2d_${name}`, () => {
            input('src', uniform(src));
            input('weight', filter(w));
            input('bias', weight(uniform([w[1] * (params.group || 1)])));
            output(deconv2d('src', 'weight', 'bias', 'dst', params));
        });
    }
}

function poolCases() {
    const table = [
        ['2x2', [1, 3, 6, 8], { size: [2, 2], stride: [2, 2] }],
        ['2x2_odd', [1, 3, 7, 5], { size: [2, 2], stride: [2, 2] }],
        ['3x3_overlapping', [2, 3, 7, 8], { size: [3, 3], stride: [2, 2], padding: [1, 1, 1, 1] }],
        ['3x3_stride1', [1, 5, 6, 6], { size: [3, 3], padding: [1, 1, 1, 1] }],
        ['1x1', [1, 2, 4, 3], { size: [1, 1] }],
        ['1x1_stride2', [1, 2, 5, 6], { size: [1, 1], stride: [2, 2] }],
        ['whole_image', [2, 7, 5, 4], { size: [5, 4] }],
        ['2x3', [1, 4, 7, 9], { size: [2, 3], stride: [1, 2] }],
        ['asymmetric_padding', [1, 2, 6, 7],
            { size: [3, 3], stride: [2, 2], padding: [0, 1, 2, 0] }],
        ['many_channels', [1, 35, 4, 5], { size: [2, 2] }],
        ['same_upper', [1, 3, 7, 8], { size: [3, 3], stride: [2, 2], autopad: 'SAME_UPPER' }],
        ['same_upper_2x2', [1, 3, 5, 6], { size: [2, 2], autopad: 'SAME_UPPER' }],
        ['same_lower_2x2', [1, 3, 5, 6], { size: [2, 2], autopad: 'SAME_LOWER' }],
        ['same_lower', [2, 3, 8, 10], { size: [3, 3], stride: [2, 2], autopad: 'SAME_LOWER' }],
        ['valid', [1, 3, 7, 8], { size: [3, 3], stride: [2, 2], autopad: 'VALID' }],
    ];
    for (const kind of ['max', 'avg']) {
        for (const [name, dims, params] of table) {
            test(`${kind}pool2d_${name}`, () => {
                // Below zero, so that padding with zeros would show.
                input('src', kind === 'max' ? uniform(dims, -3, -1) : uniform(dims));
                output(pool2d(kind, 'src', 'dst', params));
            });
        }
    }
    test('maxpool2d_infinite', () => {
        input('src', values([1, 1, 3, 4], [Infinity, 1, -Infinity, -Infinity, 0, 2, -Infinity,
            -Infinity, -1, -2, -3, -Infinity]));
        output(pool2d('max', 'src', 'dst', { size: [2, 2] }));
    });
}

function normCases() {
    for (const [name, dims, epsilon] of [['plain', [1, 5, 4, 6], 1e-5],
        ['batch2', [2, 3, 5, 5], 1e-3], ['one_pixel', [3, 19, 1, 1], 1e-5],
        ['one_channel', [1, 1, 3, 7], 0.5], ['many_channels', [1, 33, 2, 3], 1e-5]]) {
        test(`batchnorm_${name}`, () => {
            input('src', uniform(dims, -3, 3));
            output(batchnorm('src', normWeights('bn', dims[1]), 'dst', epsilon));
        });
    }
}

const NUMBERS = [0, -0, 1, -1, 0.5, -0.5, 3.25, -3.25, 1e-30, -1e-30, 1e30, -1e30, 20, -20, 88, -88,
    89, -89, 100, -100, 1e-40, -1e-40, 3.4e38, -3.4e38];
const STRANGE = [NaN, 1, Infinity, -Infinity, -1, NaN, 0, -0];

function activationCases() {
    for (const [optype, add] of [['relu', (s, d) => unary('relu', s, d)],
        ['sigmoid', (s, d) => unary('sigmoid', s, d)], ['lrelu', (s, d) => lrelu(s, d, 0.1)]]) {
        const named = (name, tensor) => test(`${optype}_${name}`, () => {
            input('src', tensor());
            output(add('src', 'dst'));
        });
        named('rank1', () => uniform([37], -4, 4));
        named('rank2', () => uniform([3, 23], -8, 8));
        named('rank4', () => uniform([2, 3, 5, 7], -4, 4));
        named('one', () => values([1], [-0.75]));
        named('numbers', () => values([NUMBERS.length], NUMBERS));
        named('strange', () => values([STRANGE.length], STRANGE));
    }
    test('lrelu_negative_slope', () => {
        input('src', uniform([33], -4, 4));
        output(lrelu('src', 'dst', -0.5));
    });
    test('lrelu_zero_slope', () => {
        input('src', uniform([33], -4, 4));
        output(lrelu('src', 'dst', 0));
    });
}

function softmaxCases() {
    for (const dims of [[11], [3, 10], [2, 5, 7], [2, 3, 4, 5]]) {
        for (let axis = 0; axis < dims.length; axis++) {
            test(`softmax_rank${dims.length}_axis${axis}`, () => {
                input('src', uniform(dims, -5, 5));
                output(softmax('src', 'dst', axis));
            });
        }
    }
    const named = (name, dims, axis, data) => test(`softmax_${name}`, () => {
        input('src', data ? values(dims, data) : uniform(dims, -1e4, 1e4));
        output(softmax('src', 'dst', axis));
    });
    named('large', [4, 9], 1);
    named('large_equal', [2, 3], 1, [3e38, 3e38, 3e38, -3e38, -3e38, -3e38]);
    named('one_class', [5, 1], 1, [-3, 0, 1e30, 7, -1e30]);
    named('long_row', [2, 1000], 1);
    named('minus_infinity', [2, 4], 1, [0, -Infinity, 1, -Infinity, -Infinity, 5, 5, 5]);
    named('all_minus_infinity', [1, 3], 1, [-Infinity, -Infinity, -Infinity]);
    named('infinity', [1, 3], 1, [1, Infinity, 2]);
    named('nan', [2, 3], 1, [1, NaN, 2, 1, 0, 2]);
}

function elewCases() {
    const ops = ['SUM', 'SUB', 'MUL', 'DIV', 'MAX', 'MIN', 'POW'];
    for (const op of ops) {
        const name = `elew_${op.toLowerCase()}`;
        for (const dims of [[1], [37], [2, 3, 4, 5]]) {
            test(`${name}_rank${dims.length}${count(dims) === 1 ? '_one' : ''}`, () => {
                input('src1', op === 'POW' ? uniform(dims, 0.1, 3) : uniform(dims, -5, 5));
                input('src2', uniform(dims, op === 'DIV' ? 0.25 : -3, 3));
                output(elew(`TL_${op}`, 'src1', 'src2', 'dst'));
            });
        }
        test(`${name}_int32`, () => {
            input('src1', op === 'POW' ? integers([29], -9, 10) : integers([29]));
            input('src2', op === 'DIV' ? integers([29], 1, 20) : op === 'POW' ?
                integers([29], 0, 6) : integers([29]));
            output(elew(`TL_${op}`, 'src1', 'src2', 'dst'), 'int32');
        });
        test(`${name}_same_tensor`, () => {
            input('src', uniform([19], 0.5, 2));
            output(elew(`TL_${op}`, 'src', 'src', 'dst'));
        });
    }
    const a = [NaN, 1, NaN, Infinity, -Infinity, Infinity, 1, -1, 0, Infinity, 2];
    const b = [1, NaN, NaN, Infinity, 1, -Infinity, 0, 0, 0, 0, -Infinity];
    for (const op of ops.filter((o) => o !== 'POW')) {
        test(`elew_${op.toLowerCase()}_strange`, () => {
            input('src1', values([a.length], a));
            input('src2', values([b.length], b));
            output(elew(`TL_${op}`, 'src1', 'src2', 'dst'));
        });
    }
    test('elew_pow_strange', () => {
        const pairs = [[0, 0], [0, 1], [2, 0], [-2, 3], [-2, 2], [-2, 0.5], [NaN, 0], [1, NaN],
            [Infinity, 1], [Infinity, -1], [0, -1], [2, 127], [2, -149], [4, 0.5]];
        input('src1', values([pairs.length], pairs.map((pair) => pair[0])));
        input('src2', values([pairs.length], pairs.map((pair) => pair[1])));
        output(elew('TL_POW', 'src1', 'src2', 'dst'));
    });
}

// ---- Operators that move data; float and int32 ----

function movingCases() {
    const makers = { float: uniform, int32: integers };
    const both = (name, build) => {
        for (const dtype of ['float', 'int32'])
            test(dtype === 'float' ? name : `${name}_int32`, () => build(makers[dtype], dtype));
    };

    for (const axes of [[1, 0], [0, 1], [2, 0, 1], [1, 0, 2], [0, 2, 1], [0, 2, 3, 1], [0, 3, 1, 2],
        [3, 2, 1, 0], [1, 0, 2, 3], [0, 2, 1, 3], [4, 2, 0, 3, 1], [0, 1, 3, 4, 2]]) {
        both(`transpose_${axes.join('')}`, (make, dtype) => {
            input('src', make([2, 5, 3, 4, 6].slice(0, axes.length)));
            output(transpose('src', 'dst', axes), dtype);
        });
    }
    both('transpose_ones', (make, dtype) => {
        input('src', make([1, 7, 1, 3]));
        output(transpose('src', 'dst', [2, 3, 0, 1]), dtype);
    });
    test('transpose_tiles', () => {
        input('src', uniform([19, 35]));
        output(transpose('src', 'dst', [1, 0]));
    });

    const dims = [3, 4, 5, 6];
    for (let axis = 0; axis < 4; axis++) {
        both(`slice_axis${axis}`, (make, dtype) => {
            input('src', make(dims));
            output(slice('src', 'dst', axis, 1, 2), dtype);
        });
    }
    both('slice_whole', (make, dtype) => {
        input('src', make([4, 3]));
        output(slice('src', 'dst', 0, 0, 4), dtype);
    });
    both('slice_last', (make, dtype) => {
        input('src', make([9]));
        output(slice('src', 'dst', 0, 8, 1), dtype);
    });

    for (let axis = 0; axis < 4; axis++) {
        for (const inputCount of [2, 3]) {
            both(`concat_${inputCount}_axis${axis}`, (make, dtype) => {
                const srcs = [];
                for (let i = 0; i < inputCount; i++) {
                    const shape = [2, 3, 2, 4];
                    shape[axis] = i + 1;
                    srcs.push(input(`src${i + 1}`, make(shape)));
                }
                output(concat(srcs, 'dst', axis), dtype);
            });
        }
    }
    both('concat_5_rank1', (make, dtype) => {
        const srcs = [4, 1, 7, 2, 3].map((len, i) => input(`src${i + 1}`, make([len])));
        output(concat(srcs, 'dst', 0), dtype);
    });
    test('concat_same_tensor', () => {
        input('src', uniform([2, 3]));
        output(concat(['src', 'src'], 'dst', 1));
    });

    both('reshape_flat', (make, dtype) => {
        input('src', make([2, 3, 4]));
        output(reshape('src', 'dst', [24]), dtype);
    });
    both('reshape_rank5', (make, dtype) => {
        input('src', make([6, 4]));
        output(reshape('src', 'dst', [1, 2, 3, 2, 2]), dtype);
    });
    test('forward', () => {
        input('src', uniform([2, 3]));
        output(unary('forward', 'src', 'dst'));
    });

    for (let axis = 0; axis < 4; axis++) {
        both(`maxreduce_axis${axis}`, (make, dtype) => {
            input('src', make(dims));
            output(maxreduce('src', 'dst', axis), dtype);
        });
        both(`maxreduce_arg_axis${axis}`, (make, dtype) => {
            input('src', make(dims));
            maxreduceArg('src', 'dst', 'arg', axis);
            output('dst', dtype);
            output('arg', 'int32');
        });
    }
    both('maxreduce_arg_first_of_equal', (make, dtype) => {
        input('src', values([2, 6], [1, 5, 2, 5, 5, 0, -1, -1, -3, -1, -2, -1], dtype));
        maxreduceArg('src', 'dst', 'arg', 1);
        output('dst', dtype);
        output('arg', 'int32');
    });
    test('maxreduce_one', () => {
        input('src', uniform([3, 1, 2]));
        output(maxreduce('src', 'dst', 1));
    });
    test('maxreduce_infinite', () => {
        input('src', values([2, 3], [-Infinity, -Infinity, -Infinity, 1, Infinity, -1]));
        output(maxreduce('src', 'dst', 1));
    });

    for (const [name, from, to] of [['twice', [1, 2, 3, 4], [1, 2, 6, 8]],
        ['half', [1, 2, 6, 8], [1, 2, 3, 4]], ['3_to_5', [1, 2, 3, 3], [1, 2, 5, 5]],
        ['10_to_4', [1, 1, 10, 10], [1, 1, 4, 4]], ['same', [1, 2, 3, 4], [1, 2, 3, 4]],
        ['to_one', [2, 1, 4, 3], [2, 1, 1, 1]], ['rank2', [3, 4], [6, 2]],
        ['channels', [1, 2, 3, 3], [1, 4, 3, 6]]]) {
        test(`resize_${name}`, () => {
            input('src', uniform(from));
            output(resize('src', 'dst', to));
        });
    }
    for (const [name, from, scales] of [['twice', [1, 3, 4, 5], [1, 1, 2, 2]],
        ['2x3', [2, 2, 3, 4], [1, 1, 2, 3]], ['half', [1, 2, 4, 6], [1, 1, 0.5, 0.5]],
        ['one_and_a_half', [1, 2, 4, 6], [1, 1, 1.5, 1.5]]]) {
        test(`upsample_${name}`, () => {
            input('src', uniform(from));
            output(upsample('src', 'dst', scales));
        });
    }
}

function vectorCases() {
    test('dot_product', () => {
        input('src1', uniform([97]));
        input('src2', uniform([97]));
        dotProduct('src1', 'src2', 'dst');
        output('dst');
    });
    test('dot_product_int32', () => {
        input('src1', integers([41]));
        input('src2', integers([41]));
        dotProduct('src1', 'src2', 'dst');
        output('dst', 'int32');
    });
    for (const dir of ['ASCENDING', 'DESCENDING']) {
        test(`sort1d_${dir.toLowerCase()}`, () => {
            input('src', uniform([45]));
            sort1d('src', 'dst', `TL_SORT_DIR_${dir}`);
            output('dst');
        });
        test(`sort1d_${dir.toLowerCase()}_int32`, () => {
            input('src', integers([45], -20, 20));
            sort1d('src', 'dst', `TL_SORT_DIR_${dir}`);
            output('dst', 'int32');
        });
    }
    for (const stride of [1, 4]) {
        test(`pick1d_stride${stride}`, () => {
            input('src', uniform([24]));
            input('index', values([5], [3, 0, 5, 5, 1], 'int32'));
            pick1d('src', 'index', 'dst', stride);
            output('dst');
        });
    }
}

// ---- Small networks, where the engine may fuse ----

function conv3x3(name, src, channels, filters, params = { padding: [1, 1, 1, 1] }) {
    input(`${name}_w`, filter([filters, channels / (params.group || 1), 3, 3]));
    input(`${name}_b`, weight(uniform([filters])));
    return conv2d(src, `${name}_w`, `${name}_b`, name, params);
}

function conv1x1(name, src, channels, filters) {
    input(`${name}_w`, filter([filters, channels, 1, 1]));
    input(`${name}_b`, weight(uniform([filters])));
    return conv2d(src, `${name}_w`, `${name}_b`, name);
}

function norm(name, src, channels) {
    return batchnorm(src, normWeights(name, channels), name);
}

function networkCases() {
    const network = (name, build) => test(`net_${name}`, build, { variants: true });

    network('conv_relu', () => {
        conv3x3('c', input('x', uniform([1, 3, 6, 7])), 3, 6);
        output(unary('relu', 'c', 'y'));
    });
    network('conv_lrelu', () => {
        conv3x3('c', input('x', uniform([1, 3, 6, 7])), 3, 6);
        output(lrelu('c', 'y', 0.2));
    });
    network('conv_norm', () => {
        conv3x3('c', input('x', uniform([1, 3, 6, 7])), 3, 6);
        output(norm('y', 'c', 6));
    });
    network('conv_norm_relu', () => {
        conv3x3('c', input('x', uniform([2, 3, 6, 7])), 3, 6);
        norm('n', 'c', 6);
        output(unary('relu', 'n', 'y'));
    });
    network('conv_norm_two_readers', () => {  // the convolution itself is an output too
        conv3x3('c', input('x', uniform([1, 3, 6, 7])), 3, 6);
        output(norm('y', 'c', 6));
        output(unary('relu', 'c', 'z'));
    });
    network('norm_conv', () => {
        norm('n', input('x', uniform([1, 4, 6, 5])), 4);
        output(conv3x3('y', 'n', 4, 5));
    });
    network('residual', () => {
        conv3x3('c1', input('x', uniform([1, 8, 6, 6])), 8, 8);
        norm('n1', 'c1', 8);
        unary('relu', 'n1', 'r1');
        conv3x3('c2', 'r1', 8, 8);
        norm('n2', 'c2', 8);
        elew('TL_SUM', 'n2', 'x', 's');
        output(unary('relu', 's', 'y'));
    });
    network('depthwise_separable', () => {
        conv3x3('d', input('x', uniform([1, 6, 7, 7])), 6, 6,
            { group: 6, padding: [1, 1, 1, 1], stride: [2, 2] });
        norm('n1', 'd', 6);
        unary('relu', 'n1', 'r');
        conv1x1('p', 'r', 6, 10);
        output(norm('y', 'p', 10));
    });
    network('branches', () => {
        input('x', uniform([1, 5, 6, 6]));
        unary('relu', conv1x1('a', 'x', 5, 4), 'ra');
        unary('relu', conv3x3('b', 'x', 5, 3), 'rb');
        pool2d('max', 'x', 'p', { size: [3, 3], padding: [1, 1, 1, 1] });
        output(concat(['ra', 'rb', 'p'], 'y', 1));
    });
    network('channel_shuffle', () => {
        unary('relu', conv1x1('c', input('x', uniform([1, 4, 3, 5])), 4, 6), 'r');
        reshape('r', 'a', [1, 2, 3, 3, 5]);
        transpose('a', 'b', [0, 2, 1, 3, 4]);
        output(reshape('b', 'y', [1, 6, 3, 5]));
    });
    network('split_and_join', () => {
        conv1x1('c', input('x', uniform([1, 4, 5, 4])), 4, 8);
        slice('c', 'a', 1, 0, 4);
        slice('c', 'b', 1, 4, 4);
        unary('sigmoid', 'b', 's');
        elew('TL_MUL', 'a', 's', 'm');
        output(concat(['m', 'a'], 'y', 1));
    });
    network('classifier', () => {
        unary('relu', conv3x3('c', input('x', uniform([2, 3, 8, 8])), 3, 12), 'r');
        pool2d('avg', 'r', 'p', { size: [8, 8] });
        conv1x1('f', 'p', 12, 7);
        reshape('f', 'v', [2, 7]);
        output(softmax('v', 'y', 1));
    });
    network('encoder_decoder', () => {
        unary('relu', conv3x3('c1', input('x', uniform([1, 2, 8, 8])), 2, 6), 'r1');
        pool2d('max', 'r1', 'p', { size: [2, 2], stride: [2, 2] });
        unary('relu', conv3x3('c2', 'p', 6, 6), 'r2');
        upsample('r2', 'u', [1, 1, 2, 2]);
        concat(['u', 'r1'], 'j', 1);
        output(conv3x3('y', 'j', 12, 3));
    });
}

// ---- Running and writing ----

async function run(c) {
    const bytes = modelBytes({ ...c, opset: OPSET });
    const session = await ort.InferenceSession.create(bytes,
        { graphOptimizationLevel: 'disabled', intraOpNumThreads: 1, logSeverityLevel: 3 });
    const feeds = {};
    for (const [name, t] of Object.entries(c.inputs))
        feeds[name] = new ort.Tensor(t.dtype === 'float' ? 'float32' : t.dtype, t.data, t.dims);
    const results = await session.run(feeds);
    for (const [name, t] of Object.entries(c.outputs)) {
        t.dims = [...results[name].dims];
        t.data = results[name].data;
    }
}

function safetensorsBytes(tensors) {
    const header = {};
    const parts = [];
    let offset = 0;
    for (const [name, { dtype, dims, data }] of Object.entries(tensors)) {
        header[name] = { dtype: FILE_DTYPES[dtype], shape: dims,
            data_offsets: [offset, offset + data.byteLength] };
        parts.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
        offset += data.byteLength;
    }
    let text = JSON.stringify(header);
    text += ' '.repeat((64 - ((8 + text.length) % 64)) % 64);
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(text.length));
    return Buffer.concat([length, Buffer.from(text), ...parts]);
}

function ilText(c) {
    const tensors = Object.entries(c.inputs).map(([name, t]) => {
        const shape = `dtype=${IL_DTYPES[t.dtype]}, dims=${ilValue(t.dims)}`;
        return c.isStatic && t.isWeight ?
            `create(| dst=${name} | ${shape}, ran=[0, 0], data=[0], from_file=true);` :
            `input(| dst=${name} | ${shape});`;
    });
    return [...tensors, ...c.il, ''].join('\n');
}

async function main() {
    const folder = process.argv[2] || path.join(__dirname, 'cases');
    for (const add of [convCases, deconvCases, poolCases, normCases, activationCases, softmaxCases,
        elewCases, movingCases, vectorCases, networkCases])
        add();

    fs.mkdirSync(folder, { recursive: true });
    for (const name of fs.readdirSync(folder)) // of cases that are no more
        if (/\.(net|safetensors)$/.test(name))
            fs.unlinkSync(path.join(folder, name));

    for (const c of cases) {
        try {
            await run(c);
        } catch (error) {
            console.error(`${c.name}: ${error.message}`);
            process.exitCode = 1;
            continue;
        }
        fs.writeFileSync(path.join(folder, `${c.name}.net`), ilText(c));
        if (!c.isStatic) // the other variant takes the same values
            fs.writeFileSync(path.join(folder, `${c.name}.safetensors`),
                safetensorsBytes({ ...c.inputs, ...c.outputs }));
    }
    console.log(`${cases.length} cases by ONNX Runtime ${ort.env.versions.node}, opset ${OPSET}`);
}

main();
