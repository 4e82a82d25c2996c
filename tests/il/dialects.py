#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same network compiles to the same operators, whichever list of operators it is written in.

    dialects.py LIGHTNET

Each case is written with LightNet's operators and with ONNX's. After pass `core` both are the same text but for
the operators' names, and so they are when they are lowered.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

X = "input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 6, 8]);\n"
Z = "input(| dst=z | dtype=TL_FLOAT, dims=[1, 4, 6, 8]);\n"
H = "input(| dst=x | dtype=TL_FLOAT16, dims=[3, 5]);\n"
I = "input(| dst=x | dtype=TL_INT32, dims=[3, 5]);\n"
X3 = "input(| dst=x | dtype=TL_FLOAT, dims=[3]);\n"
N = "input(| dst=x | dtype=TL_FLOAT, dims=[3, 5]);\nNonZero(X=x | Y=i |);\nCast(input=i | output=n | to=TL_FLOAT);\n"
LOW = "create(| dst=l | dtype=TL_FLOAT, dims=[], data=[0]);\ncreate(| dst=h | dtype=TL_FLOAT, dims=[], data=[6]);\n"
STARTS = "".join(f"create(| dst={name} | dtype=TL_INT64, dims=[{len(data)}], data={data});\n" for name, data in
                 {"s": [0, 1], "e": [1, 9], "b": [-2], "m": [99], "f": [-1], "o": [1]}.items())
NORM = "".join(f"create(| dst={name} | dtype=TL_FLOAT, dims=[4], ran=[1, 2]);\n" for name in "so")
SCALE = "create(| dst=r | dtype=TL_FLOAT, dims=[8], ran=[1, 2]);\n"
EPSILON = ("create(| dst=e | dtype=TL_FLOAT, dims=[1], data=[0.001]);\n"
           "create(| dst=last | dtype=TL_INT64, dims=[1], data=[-1]);\n")
SLOPE = "create(| dst=p | dtype=TL_FLOAT, dims=[4, 1, 1], ran=[-1, 1]);\n"
PADS = ("create(| dst=c | dtype=TL_INT64, dims=[4], data=[1, 3, 2, 0]);\n"
        "create(| dst=a | dtype=TL_INT64, dims=[2], data=[-2, 3]);\n")
SCALES = "create(| dst=y_scales | dtype=TL_FLOAT, dims=[4], data=[1, 1, 2, 1.5]);\n"
LARGER = "create(| dst=a | dtype=TL_INT64, dims=[2], data=[9, 10]);\n"
GIVEN = "input(| dst=n | dtype=TL_INT64, dims=[8]);\n"
Q = "".join(f"input(| dst={name} | dtype=TL_FLOAT, dims=[2, 5, 8]);\n" for name in "qkv")

# name, what both have, LightNet's words, ONNX's words
ROW = ("input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 9]);\ncreate(| dst=w | dtype=TL_FLOAT, dims=[6, 2, 3], ran=[-1, 1]);\n")
IMAGE = ("create(| dst=w | dtype=TL_FLOAT, dims=[4, 4, 3, 3], ran=[-1, 1]);\n"
         "create(| dst=b | dtype=TL_FLOAT, dims=[4], ran=[-1, 1]);\n")
CHANNELS = "create(| dst=c | dtype=TL_FLOAT, dims=[4, 1, 1], ran=[-1, 1]);\n"
VOLUME = ("input(| dst=x | dtype=TL_FLOAT, dims=[1, 2, 4, 5, 6]);\n"
          "create(| dst=w | dtype=TL_FLOAT, dims=[3, 2, 2, 3, 2], ran=[-1, 1]);\n")

ROWS = ("input(| dst=x | dtype=TL_FLOAT, dims=[3, 5]);\ninput(| dst=z | dtype=TL_FLOAT, dims=[3, 4]);\n"
        "create(| dst=w | dtype=TL_FLOAT, dims=[4, 5], ran=[-1, 1]);\ncreate(| dst=b | dtype=TL_FLOAT, dims=[4], ran=[-1, 1]);\n")

FUNCTIONS = "[1, 2, 3, 4, 5, -1, -2, -3, -4, -5]"

RECURRENT = ("input(| dst=x | dtype=TL_FLOAT, dims=[5, 2, 3]);\n"
             + "".join(f"create(| dst={name} | dtype=TL_FLOAT, dims=[1, {rows}, {columns}], ran=[-1, 1]);\n"
                       for name, rows, columns in (("w", 16, 3), ("r", 16, 4), ("v", 4, 3), ("s", 4, 4))))

CASES = [
    ("relu", X, "relu(src=x | dst=y |);", "Relu(X=x | Y=y |);"),
    ("lrelu", X, "lrelu(src=x | dst=y | negslope=0.25);", "LeakyRelu(X=x | Y=y | alpha=0.25);"),
    ("sigmoid", X, "sigmoid(src=x | dst=y |);", "Sigmoid(X=x | Y=y |);"),
    ("silu", X, "sigmoid(src=x | dst=s |);\nelew(src1=x, src2=s | dst=y | elew_op=TL_MUL);",
     "Sigmoid(X=x | Y=s |);\nMul(A=x, B=s | C=y |);"),
    ("relu6", X + LOW, "act(src=x | dst=y | act=clip, beta=6);",
     "Clip(input=x, min=l, max=h | output=y |);"),
    ("sum and relu", X + Z, "elew(src1=x, src2=z | dst=s | elew_op=TL_SUM);\nrelu(src=s | dst=y |);",
     "Add(A=x, B=z | C=s |);\nRelu(X=s | Y=y |);"),
    ("two transposes around an activation", X,
     "transpose(src=x | dst=a | axes=[0, 2, 3, 1]);\nlrelu(src=a | dst=b | negslope=0.5);\n"
     "transpose(src=b | dst=y | axes=[0, 3, 1, 2]);",
     "Transpose(data=x | transposed=a | perm=[0, 2, 3, 1]);\nLeakyRelu(X=a | Y=b | alpha=0.5);\n"
     "Transpose(data=b | transposed=y | perm=[0, 3, 1, 2]);"),
    ("slopes that multiply", X, "lrelu(src=x | dst=a | negslope=0.5);\nlrelu(src=a | dst=y | negslope=0.5);",
     "LeakyRelu(X=x | Y=a | alpha=0.5);\nLeakyRelu(X=a | Y=y | alpha=0.5);"),
    ("the same activation twice", X + Z,
     "sigmoid(src=x | dst=a |);\nsigmoid(src=x | dst=b |);\nelew(src1=a, src2=z | dst=c | elew_op=TL_SUM);\n"
     "elew(src1=b, src2=c | dst=y | elew_op=TL_SUB);",
     "Sigmoid(X=x | Y=a |);\nSigmoid(X=x | Y=b |);\nAdd(A=a, B=z | C=c |);\nSub(A=b, B=c | C=y |);"),
    ("relu of halves", H, "act(src=x | dst=y | act=relu);", "Relu(X=x | Y=y |);"),
    ("tanh of halves and a sum", H, "act(src=x | dst=a | act=tanh);\nelew(src1=a, src2=x | dst=y | elew_op=TL_SUM);",
     "Tanh(input=x | output=a |);\nAdd(A=a, B=x | C=y |);"),
    ("integers", I, "elew(src1=x, src2=x | dst=a | elew_op=TL_MUL);\nrelu(src=a | dst=b |);\n"
     "elew(src1=b, src2=x | dst=y | elew_op=TL_MAX);",
     "Mul(A=x, B=x | C=a |);\nRelu(X=a | Y=b |);\nMax(data_01=b, data_02=x | max=y |);"),
    ("elu", X, "act(src=x | dst=y | act=elu, alpha=0.5);", "Elu(X=x | Y=y | alpha=0.5);"),
    ("celu", X, "act(src=x | dst=y | act=elu, alpha=1);", "Celu(X=x | Y=y |);"),
    ("relu of a shape that comes in the run", N, "act(src=n | dst=y | act=relu);", "Relu(X=n | Y=y |);"),
    ("sum of a shape that comes in the run", N, "elew(src1=n, src2=n | dst=y | elew_op=TL_SUM);",
     "Add(A=n, B=n | C=y |);"),
    ("rows and columns of a shape that comes in the run", N,
     "transpose(src=n | dst=t | axes=[1, 0]);\nconcat(src1=t, src2=t | dst=y | axis=1);",
     "Transpose(data=n | transposed=t | perm=[1, 0]);\nConcat(inputs1=t, inputs2=t | concat_result=y | axis=1);"),
    ("a constant's activation", "create(| dst=c | dtype=TL_FLOAT, dims=[3], data=[1, -2, 3]);\n" + X3,
     "relu(src=c | dst=a |);\nelew(src1=x, src2=a | dst=y | elew_op=TL_SUM);",
     "Relu(X=c | Y=a |);\nAdd(A=x, B=a | C=y |);"),
    ("halves that change places", X,
     "slice(src=x | dst=a | axis=1, start=0, len=2);\nslice(src=x | dst=b | axis=1, start=2, len=2);\n"
     "concat(src1=b, src2=a | dst=y | axis=1);",
     "Split(input=x | outputs1=a, outputs2=b | axis=1);\nConcat(inputs1=b, inputs2=a | concat_result=y | axis=1);"),
    ("seven parts, one of them empty", X,
     "".join(f"slice(src=x | dst=p{i} | axis=3, start={start}, len={len});\n"
             for i, (start, len) in enumerate([(0, 2), (2, 1), (3, 0), (3, 1), (4, 1), (5, 1), (6, 2)])),
     "create(| dst=n | dtype=TL_INT64, dims=[7], data=[2, 1, 0, 1, 1, 1, 2]);\nSplit(input=x, split=n | "
     + ", ".join(f"outputs{i + 1}=p{i}" for i in range(7)) + " | axis=-1);"),
    ("parts of two axes", X + STARTS, "slice(src=x | dst=a | axis=0, start=0, len=1);\n"
     "slice(src=a | dst=y | axis=1, start=1, len=3);", "Slice(data=x, starts=s, ends=e | output=y |);"),
    ("a part in steps of one", X + STARTS, "slice(src=x | dst=y | axis=3, start=6, len=2);",
     "Slice(data=x, starts=b, ends=m, axes=f, steps=o | output=y |);"),
    ("rows by number", X + STARTS, "take(src=x, index=s | dst=y | axis=2);", "Gather(data=x, indices=s | output=y | axis=2);"),
    ("rows of a shape that comes in the run", N + STARTS, "take(src=n, index=o | dst=y |);", "Gather(data=n, indices=o | output=y |);"),
    ("the same image twice", X + "create(| dst=n | dtype=TL_INT64, dims=[4], data=[2, 1, 1, 1]);\n",
     "expand(src=x, shape=n | dst=y |);", "Expand(input=x, shape=n | output=y |);"),
    ("another type", X, "cast(src=x | dst=i | to=TL_INT32);\ncast(src=i | dst=y | to=TL_FLOAT);",
     "Cast(input=x | output=i | to=TL_INT32);\nCast(input=i | output=y | to=TL_FLOAT);"),
    ("maxima", X, "maxpool2d(src=x | dst=y | size=[2, 3], stride=[2, 1], padding=[1, 0, 0, 2]);",
     "MaxPool(X=x | Y=y | kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 0, 2]);"),
    ("means", X, "avgpool2d(src=x | dst=y | size=[2, 2], stride=[1, 1], autopad=SAME_LOWER);",
     "AveragePool(X=x | Y=y | kernel_shape=[2, 2], auto_pad=SAME_LOWER);"),
    ("the mean of all", X, "pool(src=x | dst=y | kind=average);", "GlobalAveragePool(X=x | Y=y |);"),
    ("windows of one element", X, "maxpool2d(src=x | dst=p | size=[1, 1], stride=[1, 1]);\nrelu(src=p | dst=y |);",
     "MaxPool(X=x | Y=p | kernel_shape=[1, 1]);\nRelu(X=p | Y=y |);"),
    ("batch norm", X + NORM, "batchnorm(src=x, scale=s, offset=o, mean=o, var=s | dst=y | epsilon=0.001);",
     "BatchNormalization(X=x, scale=s, B=o, input_mean=o, input_var=s | Y=y | epsilon=0.001);"),
    ("layer norm", X + SCALE, "layernorm(src=x, scale=r, bias=r | dst=y | epsilon=0.001);",
     "LayerNormalization(X=x, Scale=r, B=r | Y=y | epsilon=0.001);"),
    ("root mean squares", X + SCALE, "layernorm(src=x, scale=r | dst=y | centered=false);",
     "RMSNormalization(X=x, scale=r | Y=y |);"),
    ("groups of channels", X + NORM, "groupnorm(src=x, scale=s, offset=o | dst=y | groups=2);",
     "GroupNormalization(X=x, scale=s, bias=o | Y=y | num_groups=2);"),
    ("neighbouring channels", X, "lrn(src=x | dst=y | size=2, alpha=0.5, beta=0.5, bias=2);",
     "LRN(X=x | Y=y | size=2, alpha=0.5, beta=0.5, bias=2);"),
    ("channels by themselves", X + NORM, "groupnorm(src=x, scale=s, offset=o | dst=y |);",
     "InstanceNormalization(input=x, scale=s, B=o | output=y |);"),
    ("scales that are attributes", X,
     SCALES + "resize(src=x, scales=y_scales | dst=y | mode=linear, coordinate_transformation_mode=asymmetric, nearest_mode=toward_input);",
     "Upsample(X=x | Y=y | mode=linear, scales=[1, 1, 2, 1.5], since=7);"),
    ("scales of height and width", X,
     SCALES + "resize(src=x, scales=y_scales | dst=y | mode=nearest, coordinate_transformation_mode=asymmetric, nearest_mode=toward_input);",
     "Upsample(X=x | Y=y | height_scale=2, width_scale=1.5, since=1);"),
    ("scales before there was a choice", X + SCALES,
     "resize(src=x, scales=y_scales | dst=y | mode=linear, coordinate_transformation_mode=asymmetric, nearest_mode=toward_input);",
     "Resize(X=x, roi=y_scales | Y=y | mode=linear, since=10);"),
    ("sizes of two axes", X + LARGER,
     "resize(src=x, sizes=a | dst=y | mode=cubic, axes=[2, 3], antialias=1, keep_aspect_ratio_policy=not_larger);",
     "Resize(X=x, sizes=a | Y=y | mode=cubic, antialias=1, axes=[2, 3], keep_aspect_ratio_policy=not_larger);"),
    ("blocks of pixels", X,
     "reshape(src=x | dst=y_parts | dims=[1, 2, 2, 1, 6, 8]);\n"
     "transpose(src=y_parts | dst=y_turned | axes=[0, 3, 4, 1, 5, 2]);\nreshape(src=y_turned | dst=y | dims=[1, 1, 12, 16]);",
     "DepthToSpace(input=x | output=y | blocksize=2);"),
    ("pixels as channels", X,
     "reshape(src=x | dst=y_parts | dims=[1, 4, 3, 2, 4, 2]);\n"
     "transpose(src=y_parts | dst=y_turned | axes=[0, 3, 5, 1, 2, 4]);\nreshape(src=y_turned | dst=y | dims=[1, 16, 3, 4]);",
     "SpaceToDepth(input=x | output=y | blocksize=2);"),
    ("slopes of channels", X + SLOPE, "prelu(src=x, slope=p | dst=y |);", "PRelu(X=x, slope=p | Y=y |);"),
    ("slopes of channels, as they were", X + NORM,
     "reshape(src=s | dst=y_slope | dims=[4, 1, 1]);\nprelu(src=x, slope=y_slope | dst=y |);", "PRelu(X=x, slope=s | Y=y | since=6);"),
    ("pads of two axes", X + PADS, "pad(src=x | dst=y | mode=edge, pads=[0, 0, 1, 3, 0, 0, 2, 0]);",
     "Pad(data=x, pads=c, axes=a | output=y | mode=edge);"),
    ("pads of a value", X + PADS + LOW, "pad(src=x, filler=h | dst=y | pads=[0, 0, 1, 3, 0, 0, 2, 0]);",
     "Pad(data=x, pads=c, constant_value=h, axes=a | output=y |);"),
    ("pads that are attributes", X, "pad(src=x | dst=y | pads=[0, 0, 1, 3, 0, 0, -2, 0], value=2.5);",
     "Pad(data=x | output=y | pads=[0, 0, 1, 3, 0, 0, -2, 0], value=2.5, since=2);"),
    ("pads that come in the run", X + GIVEN, "pad(src=x, counts=n | dst=y | mode=wrap);",
     "Pad(data=x, pads=n | output=y | mode=wrap);"),
    ("pads before a convolution", X + IMAGE + PADS,
     "pad(src=x | dst=p | pads=[0, 0, 1, 3, 0, 0, 2, 0]);\nconv(src=p, weight=w, bias=b | dst=y |);",
     "Pad(data=x, pads=c, axes=a | output=p |);\nConv(X=p, W=w, B=b | Y=y |);"),
    ("softmax", X, "softmax(src=x | dst=y | axis=1);", "Softmax(input=x | output=y | axis=1);"),
    ("product of stacks", Q, "transpose(src=k | dst=t | axes=[0, 2, 1]);\nmatmul(src1=q, src2=t | dst=y |);",
     "Transpose(data=k | transposed=t | perm=[0, 2, 1]);\nMatMul(A=q, B=t | Y=y |);"),
    ("product of a transposed stack and a factor", Q, "matmul(src1=q, src2=k | dst=y | alpha=0.5, transB=1);",
     "ms_FusedMatMul(A=q, B=k | Y=y | transB=1, alpha=0.5);"),
    ("product under its older name", Q, "matmul(src1=q, src2=k | dst=y | transA=1);",
     "ms_TransposeMatMul(A=q, B=k | Y=y | transA=1);"),
    ("product with a constant", Q + "create(| dst=w | dtype=TL_FLOAT, dims=[8, 3], ran=[-1, 1]);\n",
     "matmul(src1=q, src2=w | dst=y |);", "MatMul(A=q, B=w | Y=y |);"),
    ("rows times a matrix", ROWS, "linear(src=x, weight=w, bias=b | dst=y | transB=1);", "Gemm(A=x, B=w, C=b | Y=y | transB=1);"),
    ("rows times a matrix, and relu", ROWS, "linear(src=x, weight=w, bias=b | dst=l | transB=1);\nrelu(src=l | dst=y |);",
     "ms_FusedGemm(A=x, B=w, C=b | Y=y | transB=1, activation=Relu);"),
    ("rows times a matrix, and an addend", ROWS, "linear(src=x, weight=w, addend=z | dst=y | transB=1);",
     "Gemm(A=x, B=w, C=z | Y=y | transB=1);"),
    ("columns times a matrix, and a factor", ROWS, "matmul(src1=x, src2=x | dst=y | alpha=0.5, transA=1);",
     "Gemm(A=x, B=x | Y=y | alpha=0.5, transA=1);"),
    ("product of a shape that comes in the run", N, "matmul(src1=n, src2=n | dst=y |);", "MatMul(A=n, B=n | Y=y |);"),
    ("the same product twice", Q,
     "matmul(src1=q, src2=k | dst=a | transB=1);\nmatmul(src1=q, src2=k | dst=b | transB=1);\n"
     "elew(src1=a, src2=b | dst=y | elew_op=TL_SUB);",
     "ms_FusedMatMul(A=q, B=k | Y=a | transB=1);\nms_TransposeMatMul(A=q, B=k | Y=b | transB=1);\nSub(A=a, B=b | C=y |);"),
    ("a batch of attention", Q, "transpose(src=k | dst=t | axes=[0, 2, 1]);\nmatmul(src1=q, src2=t | dst=s |);\n"
     "softmax(src=s | dst=p | axis=2);\nmatmul(src1=p, src2=v | dst=y |);",
     "Transpose(data=k | transposed=t | perm=[0, 2, 1]);\nMatMul(A=q, B=t | Y=s |);\n"
     "Softmax(input=s | output=p | axis=2);\nMatMul(A=p, B=v | Y=y |);"),
    ("attention in a window", Q,
     "attention(q=q, k=k, v=v | dst=y | is_causal=1, left_window_size=2, "
     "heads=2, kv_heads=2, head_size=4, zero_if_hidden=true);",
     "Attention(Q=q, K=k, V=v | Y=y | q_num_heads=2, kv_num_heads=2, is_causal=1, left_window_size=2);"),
    ("the greatest of an axis", X, "maxreduce(src=x | dst=y | axis=1);", "ReduceMax(data=x | reduced=y | since=13, axes=[1]);"),
    ("root mean squares in steps", X + SCALE + EPSILON,
     "elew(src1=x, src2=x | dst=q | elew_op=TL_MUL);\nreduce(src=q | dst=m | kind=mean, axes=[-1]);\n"
     "elew(src1=m, src2=e | dst=v | elew_op=TL_SUM, act=sqrt);\nelew(src1=x, src2=v | dst=n | elew_op=TL_DIV);\n"
     "elew(src1=n, src2=r | dst=y | elew_op=TL_MUL);",
     "Mul(A=x, B=x | C=q |);\nReduceMean(data=q, axes=last | reduced=m |);\nAdd(A=m, B=e | C=v |);\n"
     "Sqrt(X=v | Y=d |);\nDiv(A=x, B=d | C=n |);\nMul(A=n, B=r | C=y |);"),
    ("the same pooling twice", X,
     "maxpool2d(src=x | dst=a | size=[2, 2], stride=[1, 1]);\nmaxpool2d(src=x | dst=b | size=[2, 2], stride=[1, 1]);\n"
     "elew(src1=a, src2=b | dst=y | elew_op=TL_SUM);",
     "MaxPool(X=x | Y=a | kernel_shape=[2, 2], strides=[1, 1]);\nMaxPool(X=x | Y=b | kernel_shape=[2, 2]);\n"
     "Add(A=a, B=b | C=y |);"),
    ("convolution", X + IMAGE, "conv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3], padding=[1, 1, 1, 1]);",
     "Conv(X=x, W=w, B=b | Y=y | pads=[1, 1, 1, 1]);"),
    ("convolution that says what it need not", X + IMAGE,
     "conv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3], stride=[1, 1], dilation=[1, 1], padding=[0, 0, 0, 0]);",
     "Conv(X=x, W=w, B=b | Y=y | group=1, kernel_shape=[3, 3], strides=[1, 1], dilations=[1, 1], pads=[0, 0, 0, 0]);"),
    ("convolution and relu", X + IMAGE,
     "conv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3], autopad=SAME_UPPER, act=relu);",
     "ms_FusedConv(X=x, W=w, B=b | Y=y | auto_pad=SAME_UPPER, activation=Relu);"),
    ("convolution and leaky relu", X + IMAGE,
     "conv2d(src=x, weight=w, bias=b | dst=c | size=[3, 3]);\nlrelu(src=c | dst=y | negslope=0.5);",
     "ms_FusedConv(X=x, W=w, B=b | Y=y | activation=LeakyRelu, activation_params=[0.5]);"),
    ("the same convolution twice", X + IMAGE,
     "conv2d(src=x, weight=w, bias=b | dst=c | size=[3, 3]);\nconv2d(src=x, weight=w, bias=b | dst=d | size=[3, 3]);\n"
     "concat(src1=c, src2=d | dst=y | axis=1);",
     "Conv(X=x, W=w, B=b | Y=c |);\nConv(X=x, W=w, B=b | Y=d |);\nConcat(inputs1=c, inputs2=d | concat_result=y | axis=1);"),
    ("convolution of a row", ROW, "conv(src=x, weight=w | dst=y | group=2, stride=[2], padding=[1, 0]);",
     "Conv(X=x, W=w | Y=y | group=2, strides=[2], pads=[1, 0]);"),
    ("convolution of a volume", VOLUME, "conv(src=x, weight=w | dst=y | autopad=SAME_LOWER);",
     "Conv(X=x, W=w | Y=y | auto_pad=SAME_LOWER);"),
    ("transposed convolution", X + IMAGE,
     "deconv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3], stride=[2, 2], padding=[1, 1, 0, 1], output_padding=[1, 0]);",
     "ConvTranspose(X=x, W=w, B=b | Y=y | strides=[2, 2], pads=[1, 1, 0, 1], output_padding=[1, 0]);"),
    ("transposed convolution of a wanted size, and relu", X + IMAGE,
     "deconv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3], stride=[2, 2], autopad=SAME_UPPER, act=relu);",
     "ConvTranspose(X=x, W=w, B=b | Y=t | strides=[2, 2], auto_pad=SAME_UPPER, output_shape=[12, 16]);\nRelu(X=t | Y=y |);"),
    ("transposed convolution without a bias, and a sum", X + IMAGE + CHANNELS,
     "deconv(src=x, weight=w | dst=t |);\nelew(src1=t, src2=c | dst=y | elew_op=TL_SUM);",
     "ConvTranspose(X=x, W=w | Y=t |);\nAdd(A=t, B=c | C=y |);"),
    ("transposed convolution and batch norm", X + IMAGE + NORM,
     "deconv2d(src=x, weight=w, bias=b | dst=t | size=[3, 3]);\n"
     "batchnorm(src=t, scale=s, offset=o, mean=o, var=s | dst=y | epsilon=0.001);",
     "ConvTranspose(X=x, W=w, B=b | Y=t |);\n"
     "BatchNormalization(X=t, scale=s, B=o, input_mean=o, input_var=s | Y=y | epsilon=0.001);"),
    ("convolution of a volume and batch norm", VOLUME + NORM.replace("[4]", "[3]"),
     "conv(src=x, weight=w | dst=t | stride=[1, 2, 1]);\n"
     "batchnorm(src=t, scale=s, offset=o, mean=o, var=s | dst=y | epsilon=0.001);",
     "Conv(X=x, W=w | Y=t | strides=[1, 2, 1]);\n"
     "BatchNormalization(X=t, scale=s, B=o, input_mean=o, input_var=s | Y=y | epsilon=0.001);"),
    ("addend and activation", X + Z + IMAGE,
     "conv(src=x, weight=w, bias=b, addend=z | dst=y | padding=[1, 1, 1, 1], act=clip, beta=6);",
     "ms_FusedConv(X=x, W=w, B=b, Z=z | Y=y | pads=[1, 1, 1, 1], activation=Clip, activation_params=[0, 6]);"),
    ("any number of operands", X + Z,
     "elew(src1=x, src2=z, src3=x | dst=a | elew_op=TL_SUM);\nelew(src1=a | dst=b | elew_op=TL_MAX);\n"
     "elew(src1=b, src2=z, src3=x | dst=c | elew_op=TL_MIN);\nelew(src1=c, src2=x | dst=y | elew_op=TL_MEAN);",
     "Sum(data_01=x, data_02=z, data_03=x | sum=a |);\nMax(data_01=a | max=b |);\n"
     "Min(data_01=b, data_02=z, data_03=x | min=c |);\nMean(data_01=c, data_02=x | mean=y |);"),
    ("powers and rests", X + Z,
     "elew(src1=x, src2=z | dst=a | elew_op=TL_POWER);\nelew(src1=a, src2=z | dst=b | elew_op=TL_REST);\n"
     "elew(src1=b, src2=z | dst=y | elew_op=TL_MOD);",
     "Pow(X=x, Y=z | Z=a |);\nMod(A=a, B=z | C=b | fmod=1);\nMod(A=b, B=z | C=y |);"),
    ("functions", X,
     "func(src=x | dst=a | func=sin);\nfunc(src=a | dst=b | func=cos);\nfunc(src=b | dst=c | func=log);\n"
     "func(src=c | dst=y | func=reciprocal);",
     "Sin(input=x | output=a |);\nCos(input=a | output=b |);\nLog(input=b | output=c |);\nReciprocal(X=c | Y=y |);"),
    ("comparisons and choices", X + Z,
     "compare(src1=x, src2=z | dst=a | kind=less);\ncompare(src1=x, src2=z | dst=b | kind=greater_equal);\n"
     "compare(src1=x, src2=x | dst=c | kind=not_equal);\ncompare(src1=c | dst=d | kind=equal);\n"
     "elew(src1=a, src2=d | dst=e | elew_op=TL_MIN);\nelew(src1=e, src2=b | dst=f | elew_op=TL_MAX);\n"
     "compare(src1=f, src2=a | dst=g | kind=not_equal);\nselect(condition=g, src1=x, src2=z | dst=y |);",
     "Less(A=x, B=z | C=a |);\nGreaterOrEqual(A=x, B=z | C=b |);\nIsNaN(X=x | Y=c |);\nNot(X=c | Y=d |);\n"
     "And(A=a, B=d | C=e |);\nOr(A=e, B=b | C=f |);\nXor(A=f, B=a | C=g |);\nWhere(condition=g, X=x, Y=z | output=y |);"),
    ("comparisons of integers", I,
     "compare(src1=x, src2=x | dst=a | kind=greater);\nselect(condition=a, src1=x, src2=x | dst=y |);",
     "Greater(A=x, B=x | C=a |);\nWhere(condition=a, X=x, Y=x | output=y |);"),
    ("long short-term memory", RECURRENT, "rnn(src=x, weight=w, recurrence=r | dst=y, last_cell=c | "
     "direction=reverse, kind=lstm);",
     "LSTM(X=x, W=w, R=r | Y=y, Y_c=c | hidden_size=4, direction=reverse);"),
    ("the last state of a recurrent network", RECURRENT, 
     "rnn(src=x, weight=v, recurrence=s | last_hidden=y | kind=rnn);",
     "RNN(X=x, W=v, R=s | Y_h=y |);"),
    ("running sums and triangles", X + "create(| dst=k | dtype=TL_INT64, dims=[1], data=[1]);\n",
     "cumsum(src=x, axis=k | dst=a | reverse=1);\ntrilu(src=a | dst=b | upper=0);\ntrilu(src=b, k=k | dst=y |);",
     "CumSum(x=x, axis=k | y=a | reverse=1);\nTrilu(input=a | output=b | upper=0);\nms_Trilu(X=b, k=k | Y=y |);"),
    ("elements in order", X3 + "create(| dst=k | dtype=TL_INT64, dims=[1], data=[2]);\n",
     "topk(src=x, k=k | dst=y, index=i | axis=0);", "TopK(X=x, K=k | Values=y, Indices=i | axis=0);"),
    ("linear regression", ROWS,
     f"create(| dst=y_weight | dtype=TL_FLOAT, dims=[2, 5], data={FUNCTIONS});\n"
     "create(| dst=y_bias | dtype=TL_FLOAT, dims=[2], data=[1, 2]);\n"
     "linear(src=x, weight=y_weight, bias=y_bias | dst=y | transB=1, act=sigmoid);",
     f"ml_LinearRegressor(X=x | Y=y | coefficients={FUNCTIONS}, intercepts=[1, 2], targets=2, post_transform=LOGISTIC);"),
    ("a support vector machine that is linear", ROWS,
     "create(| dst=y_weight | dtype=TL_FLOAT, dims=[1, 5], data=[1, -2, 0.5, 3, -1]);\n"
     "create(| dst=y_bias | dtype=TL_FLOAT, dims=[1], data=[0.25]);\n"
     "linear(src=x, weight=y_weight, bias=y_bias | dst=y | transB=1, act=sigmoid);",
     "ml_SVMRegressor(X=x | Y=y | coefficients=[1, -2, 0.5, 3, -1], rho=[0.25], post_transform=LOGISTIC);"),
    ("linear classes", ROWS,
     f"create(| dst=c_weight | dtype=TL_FLOAT, dims=[2, 5], data={FUNCTIONS});\n"
     "create(| dst=c_bias | dtype=TL_FLOAT, dims=[2], data=[1, 2]);\n"
     "create(| dst=c_labels | dtype=TL_INT64, dims=[2], data=[7, 9]);\n"
     "linear(src=x, weight=c_weight, bias=c_bias | dst=c_functions | transB=1);\n"
     "softmax(src=c_functions | dst=y | axis=1);\n"
     "ArgMax(data=c_functions | reduced=c_best | axis=1, keepdims=0);\n"
     "take(src=c_labels, index=c_best | dst=c |);",
     f"ml_LinearClassifier(X=x | Y=c, Z=y | coefficients={FUNCTIONS}, intercepts=[1, 2], classlabels_ints=[7, 9], "
     "post_transform=SOFTMAX);"),
]


def lowered(lightnet, folder, text, *options):
    path = folder / "model.net"
    path.write_text(text)
    done = subprocess.run([lightnet, "opt", *options, "-o", str(folder / "out.net"), str(path)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return f"{done.stderr}{text}"
    lines = (folder / "out.net").read_text().splitlines()
    # Without the operators' names, and the constants, which one dialect writes as tensors: those that the
    # other does not read are outputs of its model.
    lines = [re.sub(r"^\w+: ", "", line) for line in lines]
    lines = [line for line in lines if line and not line.startswith(("create", "output", "//"))]
    return re.sub(r"(workspace|scratch)=\w+", r"\1", "\n".join(lines))


def main():
    lightnet = sys.argv[1]
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case, shared, ours, onnx in CASES:
            for options in (["--passes=core,fold"], ["-t", "cpu"], ["-t", "ref"]):
                a, b = (lowered(lightnet, folder, f"{shared}{text}\n", *options) for text in (ours, onnx))
                if a != b or "error" in a:
                    failed += 1
                    print(f"FAILED: {case} {' '.join(options)}:\n{a}\n-- in ONNX's words --\n{b}\n")
    print(f"{3 * len(CASES) - failed} of {3 * len(CASES)} agree")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
