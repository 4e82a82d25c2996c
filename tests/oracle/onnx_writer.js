// SPDX-License-Identifier: Apache-2.0
// Writes the bytes of an ONNX model: just enough protocol buffers for the scripts beside it.
//
// A message is an array of fields [number, value]; a value is
//     a BigInt or integer (varint), a Float (32-bit), a string or Buffer, or a nested message.
'use strict';

const DTYPES = { float: 1, uint8: 2, int8: 3, int32: 6, int64: 7, string: 8, bool: 9 };

class Float {
    constructor(value) {
        this.value = value;
    }
}

function varint(number) {
    let rest = BigInt.asUintN(64, BigInt(number));
    const bytes = [];
    while (rest >= 0x80n) {
        bytes.push(Number(rest & 0x7fn) | 0x80);
        rest >>= 7n;
    }
    bytes.push(Number(rest));
    return Buffer.from(bytes);
}

function field([number, value]) {
    if (value instanceof Float) {
        const bytes = Buffer.alloc(4);
        bytes.writeFloatLE(value.value);
        return Buffer.concat([varint((number << 3) | 5), bytes]);
    }
    if (typeof value === 'number' || typeof value === 'bigint')
        return Buffer.concat([varint(number << 3), varint(value)]);
    const bytes = Array.isArray(value) ? message(value) : Buffer.from(value);
    return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function message(fields) {
    return Buffer.concat(fields.map(field));
}

function arrayAttribute(name, values) {
    if (values[0] instanceof Float)
        return [[1, name], ...values.map((v) => [7, v]), [20, 6]];
    if (typeof values[0] === 'string')
        return [[1, name], ...values.map((v) => [9, v]), [20, 8]];
    return [[1, name], ...values.map((v) => [8, v]), [20, 7]];
}

// An integer attribute is a number, a string a string; floats are Float. Or an array of one of them.
function attribute(name, value) {
    if (value instanceof Float)
        return [[1, name], [2, value], [20, 1]];
    if (typeof value === 'string')
        return [[1, name], [4, value], [20, 3]];
    if (Array.isArray(value))
        return arrayAttribute(name, value);
    return [[1, name], [3, value], [20, 2]];
}

function node({ type, ins, outs, attrs = {}, domain = '' }) {
    return [...ins.map((name) => [1, name]), ...outs.map((name) => [2, name]), [4, type],
        ...Object.entries(attrs).map(([name, value]) => [5, attribute(name, value)]),
        ...(domain ? [[7, domain]] : [])];
}

// Without a dtype it is left to be found.
function valueInfo(name, dtype, dims) {
    if (!dtype)
        return [[1, name]];
    const tensor = [[1, DTYPES[dtype]]];
    if (dims)
        tensor.push([2, dims.map((dim) => [1, [[1, dim]]])]);
    return [[1, name], [2, [[1, tensor]]]];
}

// A tensor with its data; those of strings are an array.
function constant(name, { dtype, dims, data }) {
    if (dtype === 'string')
        return [...dims.map((dim) => [1, dim]), [2, DTYPES[dtype]],
            ...data.map((text) => [6, text]), [8, name]];
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    return [...dims.map((dim) => [1, dim]), [2, DTYPES[dtype]], [8, name], [9, bytes]];
}

function tensorBytes(name, tensor) {
    return message(constant(name, tensor));
}

// nodes: [{type, ins, outs, attrs, domain}]; inputs, outputs, constants: name -> {dtype, dims, data};
// domains: name -> version, beside `opset` of ai.onnx.
function modelBytes({ nodes, inputs, outputs, constants, opset, domains = {} }) {
    const graph = [...nodes.map((n) => [1, node(n)]), [2, 'case'],
        ...Object.entries(constants).map(([name, c]) => [5, constant(name, c)]),
        ...Object.entries(inputs).map(([name, t]) => [11, valueInfo(name, t.dtype, t.dims)]),
        ...Object.entries(outputs).map(([name, t]) => [12, valueInfo(name, t && t.dtype)])];
    return message([[1, 8], [7, graph], [8, [[1, ''], [2, opset]]],
        ...Object.entries(domains).map(([name, version]) => [8, [[1, name], [2, version]]])]);
}

module.exports = { Float, modelBytes, tensorBytes };
