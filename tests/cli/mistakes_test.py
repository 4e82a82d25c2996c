#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mistaken command lines: each gives one message with the position, the value or the remedy, and an exit status.

Usage: mistakes_test.py FOLDER-OF-THE-COMMANDS

A line of the table is the exit status and the command line; the line after it stands in the message.
"""
import os
import pathlib
import shlex
import struct
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import onnx_writer as ow

LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve() / "lightnet")

MISTAKES = r"""
2 rnu relu.net
    unknown command 'rnu'; did you mean `lightnet run`? try `lightnet --help`
2 run
    no model
2 run relu.net extra.net
    one model at a time; 'extra.net' is too many; give inputs with -i
1 run missing.onnx
    cannot open 'missing.onnx': No such file or directory
1 run relu.net
    input 'x' (float32 [1, 3, 2, 2]) is not given; give data with -i NAME=FILE, or zeros with --zero
2 run relu.net -i
    option -i needs a value
1 run relu.net -i missing.npy
    cannot open missing.npy: No such file or directory
1 run relu.net -i y=x.npy
    the model has no input 'y'; it has 'x'
1 run relu.net -i 3=x.npy
    the model has no input '3'; it has 'x'
1 run relu.net -i wrong.npy
    wrong.npy has shape [1, 2, 2, 3], input 'x' takes [1, 3, 2, 2]; transpose it with axes 0,3,1,2: np.transpose(x, (0, 3, 1, 2))
1 run relu.net -i small.npy
    small.npy has shape [2], input 'x' takes [1, 3, 2, 2]
1 run relu.net -i short.raw
    short.raw holds 10 bytes of data where 48 are needed
1 run relu.net -i photo.jpg
    photo.jpg: 
1 run relu.net -i bad.npz
    bad.npz holds 10 bytes of data where 48 are needed
1 run relu.net -i nothing
    folder nothing has no files
1 run relu.net -i -
    standard input cannot be read for data; they come from files
1 run relu.net -i /dev/stdin
    cannot read /dev/stdin: not a regular file; data come from files, a pipe's go to one first
2 run relu.net -i x.npy -i x.npy
    -i x.npy is given twice
2 run relu.net x.npy
    one model at a time; 'x.npy' is too many; give inputs with -i
2 relu.net x.npy
    one input file at a time, 'x.npy' is too many; data for a model's inputs are given with -i
1 two.net
    inputs 'a' (float32 [2]), 'b' (float32 [2]) are not given; give data with -i NAME=FILE, or zeros with --zero
1 run two.net -i x.npy
    the model has 2 inputs, 'a', 'b', so say which: -i NAME=x.npy, each with an -i of its own
1 run two.net -i a=[1,2]
    input 'b' (float32 [2]) is not given; give data with -i NAME=FILE, or zeros with --zero
1 run two.net -i a=[1,2] -i b=[1,2,3]
    the value has shape [3], input 'b' takes [2]
1 run two.net -i a=1 -i b=2
    the value is one number, input 'a' takes [2]; fill:NUMBER gives it to all elements
1 run trained.net -i [1,2]
    the weights 'w' come from a data file, and none is given; give it with -f FILE, or zeros with --zero
1 run trained.net -i [1,2] -f missing.wts
    missing.wts: cannot open: No such file or directory
1 run trained.net -i [1,2] -f names.txt
    names.txt: neither a safetensors nor a .wts file, nor a params dictionary
1 run trained.net -i [1,2] -f x.npy
    x.npy: neither a safetensors nor a .wts file, nor a params dictionary
1 run broken.net --zero
    broken.net:2:1: relu: `relu0` tensor `q` should have been defined before
1 run typo.net --zero
    typo.net:2:1: operator 'relou0': type 'relou' is not registered; did you mean 'relu'?
1 run empty.onnx
    'empty.onnx' is empty: what should have written it has failed
1 run text.onnx
    text.onnx: byte 0: an unknown wire type
1 run half.onnx
    half.onnx: byte 8: graph: a length goes beyond the end
1 run bad.onnx --zero
    bad.onnx: node 'y' (Reluu, ai.onnx 17) in graph: there is no operator 'Reluu'; did you mean 'Relu'?
1 run model.tflite
    model.tflite: byte 28: a table of 0 bytes with a list of 0 is not in the file
1 run model.param
    model.param: this is the .param file of an ncnn model, not a model that LightNet reads; export the model that it was made from to ONNX
1 inspect loop.onnx
    Loop.body has no outputs
1 gen-op types.op
    types.op:1:69: types of 'x': 'FLOAT' is not an element type; did you mean 'TL_FLOAT'?
1 run page.html
    page.html: this is a web page (HTML), not a model that LightNet reads; the download has failed: open the address in a browser, and fetch the file itself
1 run nothing
    'nothing' is a folder; name the model in it, such as nothing/model.onnx
1 run .
    '.' is a folder; name the model in it, such as ./model.onnx
1 run m.onnx --zero
    input 'x' (float32 [?, 4]) is not given; zeros need a shape: -s n=1
1 run m.onnx -i x=x.npy
    x.npy has shape [1, 3, 2, 2], input 'x' takes [?, 4]
2 run m.onnx -s n=-1 --zero
    -s takes NAME=1x3x224x224, SYMBOL=4 or SYMBOL=1..32, not 'n=-1'
2 run m.onnx -s n=x --zero
    -s takes NAME=1x3x224x224, SYMBOL=4 or SYMBOL=1..32, not 'n=x'
1 run m.onnx -s N=2 --zero
    no input has a dimension 'N'; there are: n
1 run m.onnx -s x=2 --zero
    input 'x' has shape [-1, 4] (-1: any), not [2]
1 run m.onnx -s x=2x5 --zero
    input 'x' has shape [-1, 4] (-1: any), not [2, 5]
1 run two.net -s 2 --zero
    the model has 2 inputs, so say which: -s a=2
1 run relu.net -s batch=2 --zero
    no input has a dimension 'batch': no dimension of an input has a symbol, and those that are fixed stay as they are
1 run relu.net -s x=2x3x2x2 --zero
    input 'x' has shape [1, 3, 2, 2] (-1: any), not [2, 3, 2, 2]
2 run m.onnx -s n=4..1 --zero
    -s n=4..1: a range begins with the smaller size: n=1..4
2 run m.onnx -s n=1..b --zero
    -s takes a range as SYMBOL=1..32, not 'n=1..b'
2 run m.onnx -s n=99999999999 --zero
    -s n=99999999999: a dimension is at most 2147483647
1 run int.onnx -i [1.5,2]
    input 'x' is int64, which does not hold 1.5
1 run int.onnx -i [99999999999999999999,2]
    input 'x' is int64, which does not hold 1e+20
1 run int.onnx -i photo.jpg
    photo.jpg is a picture, input 'x' has 1 dimensions
2 run relu.net --zero -t cuda
    target 'cuda' is not an arch of this library; there are: cpu, ref
2 run relu.net --zero -t cpu,
    target 'cpu,' ends with a comma; write 'cpu'
2 run relu.net --zero -t ref,cpu,
    target 'ref,cpu,' ends with a comma; write 'ref,cpu'
2 run relu.net --zero -t gpu
    target 'gpu' is not an arch of this library; there are: cpu, ref; did you mean 'cpu'?
2 run relu.net --zero -t
    option -t needs a value
2 run relu.net --zero -t ""
    option --target=TARGET has an empty value
2 run relu.net --zero --threads=0
    --threads takes 1 to 256, not '0'
2 run relu.net --zero --threads=many
    --threads takes 1 to 256, not 'many'
2 run relu.net --zero --repeat=0
    --repeat takes 1 to 1000000, not '0'
2 run relu.net --zero --repeat=1.5
    --repeat takes 1 to 1000000, not '1.5'
2 run relu.net --zero -n -3
    --repeat takes 1 to 1000000, not '-3'
1 run relu.net --zero --labels=missing.txt
    cannot open missing.txt: No such file or directory
1 run relu.net --zero --labels=names.txt
    names.txt has 2 names of classes, but no output is one row of classes; --top without --labels shows numbers
1 run relu.net --zero --labels=empty.txt
    empty.txt has 0 names of classes, but no output is one row of classes; --top without --labels shows numbers
2 run relu.net --zero --top=0
    --top takes 1 to 1000, not '0'
2 run relu.net --zero --top=ten
    --top takes 1 to 1000, not 'ten'
2 run relu.net --zero -o x.npy -o y.npy
    -o is given twice, with 'x.npy' and 'y.npy'; one is enough: a folder takes all outputs
2 run relu.net --zero -o out.txt
    -o takes a folder, FILE.npy or NAME=FILE.npy, not 'out.txt'
1 run relu.net --zero -o z=out.npy
    -o z=out.npy: the model has no output 'z'
1 run relu.net --zero -o names.txt/out
    cannot make folder names.txt/out: Not a directory
1 run relu.net --zero -o x.npy/sub/dir.npy
    cannot write x.npy/sub/dir.npy: Not a directory
2 run relu.net --zero --mean=a,b
    --mean takes one number or three such as 1,2,3, not 'a,b'
2 run relu.net --zero --mean=1,2
    --mean takes one number or three such as 1,2,3, not '1,2'
2 run relu.net --zero --scale=
    option --scale=X[,Y,Z] has an empty value
2 run relu.net --zero --layout=chw
    --layout takes nchw or nhwc, not 'chw'
2 run relu.net --zero --preset=torch
    --preset takes imagenet, caffe, unit or signed, not 'torch'
2 run relu.net --zero --resize=224
    --resize takes a size such as 640x480, not '224'
2 run relu.net --zero --resize=0x0
    --resize takes a size such as 640x480, not '0x0'
2 run relu.net --zero --crop=2
    --crop takes a ratio from 0.01 to 1 such as 0.875, not '2'
2 run relu.net --zero --letterbox=grey
    --letterbox takes a grey from 0 to 255, not 'grey'
2 run relu.net --zero --rate=fast
    --rate takes samples a second, not 'fast'
1 run relu.net --zero --budget=1
    the limit is 1; it peaks at operator 'relu0'
2 run relu.net --zero --budget=lots
    --budget takes a number of bytes such as 64000000, 64M or 64Mi, not 'lots'
2 run relu.net --zero --work=0
    --work takes a number of work units such as 5e12, not '0'
2 run relu.net --zero --timeout=-1
    --timeout takes a number of seconds, not '-1'
1 run relu.net --zero --rules=missing.rules
    cannot open 'missing.rules': No such file or directory
1 run relu.net --zero --rules=bad.rules
    bad.rules:3:1: expected '=>', found the end
2 run relu.net --zero --skip=
    option --skip=LIST has an empty value
1 run relu.net --zero --skip=900
    there is no firing 900 to skip: there were 4, numbered from 1
2 run relu.net --zero --skip=1,
    --skip takes numbers such as 3,7-9, not '1,'; --verbose lists them
1 run relu.net --zero --json=missing/f.json
    cannot write missing/f.json: No such file or directory
2 run relu.net --zero --jsno
    unknown option --jsno; did you mean --json? try `lightnet run --help`
2 run relu.net --zero --bgr=yes
    option --bgr takes no value
2 run relu.net --zero -q
    unknown option -q
2 run relu.net --zero --verbos=1
    unknown option --verbos; did you mean --verbose? try `lightnet run --help`
1 run relu.net --zero --allow-write=missing
    cannot open the folder 'missing': No such file or directory
1 run --zero -- -x
    cannot open '-x': No such file or directory
2 bench relu.net --runs=0
    --runs takes 1 to 1000000, not '0'
2 bench relu.net --min-time=long
    --min-time takes a number from 0 on, not 'long'
2 bench relu.net --profile=fast
    --profile takes slowest or run, not 'fast'
1 bench relu.net --trace=missing/t.json
    cannot write missing/t.json: No such file or directory
2 bench relu.net --seed=-1
    --seed takes an integer from 0 to 2^64 - 1, not '-1'
2 bench relu.net -n 3
    unknown option -n here; -n, --repeat is an option of lightnet run
2 plan relu.net --svg --json
    one of --svg, --json and --short at a time
2 plan relu.net -i x.npy
    unknown option -i here; -i, --input is an option of lightnet run, bench, compare, opt or blame
2 inspect
    no model
1 inspect missing.onnx
    cannot open 'missing.onnx': No such file or directory
2 inspect relu.net -i x.npy
    unknown option -i here; -i, --input is an option of lightnet run, bench, compare, opt or blame
1 inspect page.html
    page.html: this is a web page (HTML), not a model that LightNet reads; the download has failed: open the address in a browser, and fetch the file itself
2 verify
    no model
1 verify missing
    FAILED missing: there is no file or folder missing
1 verify relu.net
    FAILED relu.net: there is no folder test_data_set_0 in .; it holds what the model is given, input_0.pb, and should give, output_0.pb (or .npy)
1 verify nothing
    FAILED nothing: nothing holds 0 files of type .onnx; name the model
1 verify --list=missing.txt
    cannot open missing.txt: No such file or directory
1 verify --list=list.txt
    line 1 of list.txt says 'zzz=1', which is none of rtol=X, atol=X and shape-only
2 verify relu.net --rtol=-1
    --rtol takes a number from 0 on, not '-1'
2 verify relu.net --rtol=small
    --rtol takes a number from 0 on, not 'small'
2 verify relu.net --through=il,xx
    --through: no format 'xx' is written; there are: 
2 compare
    no model
1 compare out.json
    out.json is compiled already; compare the model it came from
2 compare relu.net -b gpu
    target 'gpu' is not an arch of this library; there are: cpu, ref; did you mean 'cpu'?
1 compare m.onnx
    input 'x' has an open shape: give it with -s, or its data with -i
2 compare relu.net --atol=nan
    --atol takes a number from 0 on, not 'nan'
2 compare relu.net --rules=none
    --rules=none is what -b is compared with already; leave it out
2 convert relu.net
    say where to write with -o FILE
2 convert relu.net -o out.xyz
    out.xyz: no format has the ending '.xyz'; models are written as .net, .json, .onnx, weights as .safetensors, .wts, .params
1 convert relu.net -o nothing
    cannot write 'nothing': Is a directory
1 convert missing.onnx -o o.net
    cannot open 'missing.onnx': No such file or directory
1 convert m.onnx -o missing/o.net
    cannot create 'missing/o.net': No such file or directory
2 opt relu.net -p folding
    there is no pass 'folding'; there are: dead, core
2 compare relu.net -a none
    nothing runs on 'none'; -a and -b take archs such as cpu
2 run m.onnx --zero -s 4x99999999999
    -s 4x99999999999: a dimension is at most 2147483647
1 opt relu.net --rules=m.onnx
    m.onnx:1:1: unexpected byte 8; rules are text
2 run relu.net --input_layer=x
    unknown option --input_layer: inputs have the model's names: -i NAME=FILE, -s NAME=1x3x224x224
2 bench --model=relu.net
    unknown option --model: the model stands alone: lightnet run MODEL
1 opt relu.net --skip=99999999999999999999
    there is no firing 18446744073709551615 to skip
1 opt relu.net --skip=18446744073709551614-18446744073709551615
    there is no firing 18446744073709551614 to skip
2 --verbose run relu.net
    the command goes first: lightnet run, then options
2 --threads=2 bench relu.net
    the command goes first: lightnet bench, then options
2 bench relu.net --json=o.json --trace=o.json
    o.json would be written by --json and by --trace; name two files
1 run relu.net -i =x.npy
    the model has no input ''; it has 'x'
1 run relu.net -i x.npy -o =y.npy
    the model has no output ''; it has 'y'
2 run relu.net -i x.npy -o -
    -o takes a folder, FILE.npy or NAME=FILE.npy, not '-'
1 run relu.net -i x.npy --labels=nothing
    cannot read nothing: it is a folder, and a file is needed
1 run strings.net --zero
    there are no zeros of strings: give 's' as a text file, a string a line, or as .npy: -i s=FILE
1 run strings.net -i s=hello
    -i s=hello is not a file; strings are given as a text file, one a line, or as .npy
1 run two.net -i a,b
    the model has 2 inputs, 'a', 'b', so say which: -i NAME=a,b, each with an -i of its own
1 run pair.net --zero -o y.npy
    the model has 2 outputs, 'y', 'z', so say which: -o NAME=y.npy, or a folder
1 run pair.net --zero -o y=y.npy,z=z.npy
    -o takes one output, or a folder for all, not 'y=y.npy,z=z.npy'
1 run pair.net --zero -o q=y.npy
    the model has no output 'q'; it has 'y', 'z'
2 opt relu.net --stop-after=nowhere
    there is no pass 'nowhere'; there are: dead, core
2 opt relu.net --dump-after=foldd
    there is no pass 'foldd'; there are: dead, core
1 opt relu.net --inputs=q
    the model has no tensor 'q'
2 opt relu.net --why
    option --why needs a value
2 opt relu.net --why=conv_rleu
    there is no rule 'conv_rleu'; did you mean 'conv_relu'? `lightnet opt --verbose` lists those that fire
3 blame relu.net -t none
    on target none the model fails before anything is rewritten: pass 'expand': no arch of the target takes 2 operators: 'input0' (input), 'relu0' (act)
3 blame missing.net
    cannot open 'missing.net': No such file or directory
2 blame relu.net --seed=x
    --seed takes an integer from 0 to 2^64 - 1, not 'x'
1 ops relu7
    no operator 'relu7' is registered; did you mean 'relu'? `lightnet ops` lists them
2 ops Conv Relu
    one operator at a time; 'Relu' is too many
2 archs cpu
    it takes no words, and 'cpu' is one
2 formats onnx
    it takes no words, and 'onnx' is one
2 help runn
    unknown command 'runn'; did you mean `lightnet run`? try `lightnet --help`
2 help run bench
    one command at a time; 'bench' is too many
2 genwts relu.net
    say where to write with -o FILE
1 genwts -m relu.net -o missing/w.wts
    relu.net takes no tensor from a data file
2 genwts -m relu.net -o w.xyz
    w.xyz: the name does not end in one of .safetensors, .wts, .params
1 gen-op missing.op
    cannot open 'missing.op': No such file or directory
1 easyjson missing.json
    cannot open 'missing.json': No such file or directory
1 stats missing.wts
    missing.wts: cannot open: No such file or directory
1 stats relu.net
    relu.net: neither a safetensors nor a .wts file, nor a params dictionary
2 completion csh
    'csh' is none of bash, zsh, fish and man
1 -c relu.net -o missing/o.json
    cannot create 'missing/o.json': No such file or directory
1 -r relu.net
    relu.net is not compiled, so it cannot only be run; leave out -r, or compile it first: lightnet -c -o compiled.json relu.net
1 -r missing.json
    cannot open 'missing.json': No such file or directory
1 -r out.json
    input 'x' (float32 [1, 3, 2, 2]) is not given; give data with -i NAME=FILE, or zeros with --zero
1 run relu.net -i x=./x.npy,y=x.npy
    cannot open ./x.npy,y=x.npy; each input has an -i of its own
1 run relu.net -i names.txt
    names.txt holds 8 bytes of data where 48 are needed; numbers as text are given on the command line, such as -i [1,2,3], or in a .npy file
1 run relu.net -i rand
    -i x=rand is neither a file nor a value; values are numbers, lists such as [1,2] and fill:NUMBER; --zero gives zeros
1 run relu.net -i https://example.com/cat.jpg
    cannot open https://example.com/cat.jpg: addresses are not fetched; download the file first
1 run https://example.com/model.onnx
    cannot open 'https://example.com/model.onnx': addresses are not fetched; download the file first
2 run m.onnx --dim n=2 --zero
    unknown option --dim: -s SYMBOL=N gives a symbolic dimension its size
2 run relu.net --zero -t "cpu ref"
    there are: cpu, ref; several are joined by commas
2 run relu.net --zero -t cpu;ref
    there are: cpu, ref; several are joined by commas
2 run relu.net --zero --json out.json
    one model at a time; 'out.json' is too many; a value that may be left out is given with an equals sign: --json=out.json
2 run relu.net --zero -j4
    --json takes a file, not '4'; --threads=4 is how many threads run the model
2 run relu.net --zero -o x.png
    -o takes a folder, FILE.npy or NAME=FILE.npy, not 'x.png'
2 run relu.net --zero -o ""
    option --outdir=DIR has an empty value
2 run relu.net -i photo.jpg --mean 1 2 3
    one model at a time; '2' is too many; numbers of one option are joined by commas, such as 1,2,3
2 run relu.net -i photo.jpg --rgb
    unknown option --rgb: RGB is the default; --bgr takes blue first
1 run relu.net --zero --labels=x.npy
    x.npy is not a text; it has the names of the classes one a line
2 run relu.net --zero --no-rules
    unknown option --no-rules: --rules=none leaves out every rewrite
2 run relu.net --zero --O3
    unknown option --O3: models are optimized; --rules=none leaves out every rewrite
2 validate relu.net
    unknown command 'validate'; did you mean `lightnet verify`?
2 optimise relu.net
    unknown command 'optimise'; did you mean `lightnet opt`?
1 bench relu.net -i nothing
    cannot read nothing: it is a folder; `lightnet run` takes one, and runs on each of its files
2 verify m.onnx -i x.npy
    unknown option -i here; -i, --input is an option of lightnet run, bench, compare, opt or blame
2 verify m.onnx --tolerance=1e-3
    unknown option --tolerance: --rtol and --atol
2 convert relu.net out.onnx
    one model at a time; 'out.onnx' is too many; -o FILE names what is written
2 convert --to=onnx relu.net
    unknown option --to: -o FILE names what is written, and its ending the format
2 plan relu.net --svg=plan.svg
    option --svg takes no value; -o FILE names what is written
2 blame relu.net -a cpu
    unknown option -a here; -a, --a is an option of lightnet compare
2 -x relu.net
    unknown option -x
2 --help=run
    option --help takes no value
2 --verison
    unknown option --verison; did you mean --version? try `lightnet --help`
1 - 
    <stdin>: the model is empty (0 bytes)
2 -c
    no input file
2 -o out2.json
    no input file
1 -c floats.onnx -o new.json
    output 'd' of Loop.body, the condition, is float32 instead of bool
2 run --time=2 --zero relu.net
    unknown option --time; did you mean --timeout?
2 run --targ cpu --zero relu.net
    unknown option --targ; did you mean --target?
2 -time=2 relu.net
    unknown option --time; did you mean --timeout?
2 convert relu.net -o relu.net
    relu.net is read, and cannot be overwritten; name another file
2 convert relu.net -o ./relu.net
    ./relu.net is the file relu.net, which is read, and cannot be overwritten; name another file
2 convert symbolic.net -o relu.net
    relu.net is the file symbolic.net, which is read, and cannot be overwritten
2 convert relu.net -o hard.net
    hard.net is the file relu.net, which is read, and cannot be overwritten
2 convert relu.net --weights=relu.net -o new.json
    relu.net is read, and cannot be overwritten
2 opt relu.net -o symbolic.net
    symbolic.net is the file relu.net, which is read, and cannot be overwritten
2 plan relu.net -o relu.net
    relu.net is read, and cannot be overwritten
2 plan relu.net --json=relu.net
    relu.net is read, and cannot be overwritten
2 blame relu.net -o relu.net
    relu.net is read, and cannot be overwritten
2 gen-op types.op -o types.op
    types.op is read, and cannot be overwritten
2 genwts short.raw -o short.raw
    short.raw is read, and cannot be overwritten
2 genwts -m relu.net -o relu.net
    relu.net is read, and cannot be overwritten
2 run relu.net -i x.npy -o y=x.npy
    y=x.npy is the file x.npy, which is read, and cannot be overwritten
2 run relu.net -i x=x.npy -o x.npy
    x.npy is the file x=x.npy, which is read, and cannot be overwritten
2 run relu.net -i x=x.npy --json=relu.net
    relu.net is read, and cannot be overwritten
2 -c -o relu.net relu.net
    relu.net is read, and cannot be overwritten
2 -c out.json
    out.json is read, and cannot be overwritten
2 plan relu.net -o plan.png
    plan.png: the plan is not drawn as .png; --svg -o FILE.svg draws it
2 plan relu.net --svg -o plan.pdf
    plan.pdf: the plan is not drawn as .pdf; --svg -o FILE.svg draws it
2 plan relu.net -o plan.svg
    plan.svg would hold text; --svg draws
1 run relu.net -i x:x.npy
    -i takes NAME=FILE: -i x=x.npy, not x:x.npy
1 run two.net -i a:small.npy -i b:small.npy
    -i takes NAME=FILE: -i a=small.npy, not a:small.npy
1 run relu.net -i x=@x.npy
    cannot open @x.npy; a file has no @ before it: -i x=x.npy
1 run int.onnx -i nan.npy
    nan.npy: input 'x' is int64, which does not hold nan, element 1
1 run int.onnx -i half.npy
    half.npy: input 'x' is int64, which does not hold 2.5, element 1
1 run sum.net --zero -s a=2x3 -s b=4x3
    which does not broadcast to 4; 'n' is 2 in input 'a' and 4 in input 'b': give all dimensions with that symbol one size, at once
1 run sum.net -i a=[[1,2,3],[4,5,6]] -i b=[[1,2,3],[4,5,6],[7,8,9]]
    which does not broadcast to 3; 'n' is 2 in input 'a' and 3 in input 'b'
2 run m.onnx --zero -s n=2x
    -s takes NAME=1x3x224x224, SYMBOL=4 or SYMBOL=1..32, not 'n=2x'
2 run m.onnx --zero -s n=
    -s takes NAME=1x3x224x224, SYMBOL=4 or SYMBOL=1..32, not 'n='
2 run m.onnx --zero -s =2
    -s takes NAME=1x3x224x224, SYMBOL=4 or SYMBOL=1..32, not '=2'
2 run m.onnx --zero -s n=2 -s n=3
    -s is given twice for one name, with 'n=2' and 'n=3'
2 run --graph=relu.net
    unknown option --graph: the model stands alone: lightnet run MODEL
2 run relu.net --zero --num_runs=3
    unknown option --num_runs: `lightnet run --repeat=COUNT`
2 run relu.net --zero -t cpu -t ref
    --target is given twice, with 'cpu' and 'ref'; one is enough
2 run relu.net --zero -r 10
    unknown option -r: `lightnet run --repeat=COUNT`, or `lightnet bench --runs=COUNT`
2 run relu.net --zero -e cpu
    unknown option -e: the execution provider is the target: -t cpu
2 bench relu.net -x 1
    unknown option -x: --threads=COUNT
1 run relu.net -i x.npy --preset=imagenet
    --preset has no effect: it is for pictures, and no input is given as one; an array is taken as it is
1 run relu.net --zero --mean=1
    --mean has no effect: it is for pictures, and no input is given as one
1 bench relu.net --runs=1 --resize=2x2
    --resize has no effect: it is for pictures, and no input is given as one
1 compare relu.net -i x.npy --bgr
    --bgr has no effect: it is for pictures, and no input is given as one; an array is taken as it is
3 blame relu.net -i fill:1 --layout=nhwc
    --layout has no effect: it is for pictures
1 run relu.net -i x.npy --rate=16000
    --rate has no effect: it is for sound, and no input is given as WAV
1 run relu.net -i white.bmp --rate=16000
    --rate has no effect: it is for sound, and no input is given as WAV
1 run grey.net -i white.bmp --bgr
    white.bmp: --bgr has no effect: the input has one channel
1 run matrix.net -i white.bmp --layout=nhwc
    --layout has no effect: input 'x' has no dimension of channels
1 run relu.net -i photos --repeat=3
    --repeat has no effect with a folder of inputs, each of which runs once
2 opt relu.net --seed=3
    --seed has no effect without --verify, which runs the model
2 opt relu.net --mean=3
    --mean has no effect without --verify, which runs the model
2 bench relu.net --zero --seed=3
    --seed has no effect with --zero, which leaves nothing random
2 genwts --seed=3 -o new.wts names.txt
    --seed has no effect without --model, which gets random numbers
2 genwts --model=trained.net --type=2 -o new.wts
    --type has no effect with --model, which says the types
2 verify relu.net --shape-only --rtol=1
    --rtol has no effect with --shape-only, which looks at no numbers
2 plan relu.net -o new.txt --json=new.json
    both -o and --json=new.json say where to write; one is enough
2 convert trained.net -o new.rules --weights=new.wts
    --weights has no effect where rules are written
2 -c relu.net --labels=names.txt
    --labels has no effect with -c, which only compiles
2 -c relu.net --zero
    --zero has no effect with -c, which only compiles
2 -r out.json -t cpu
    --target has no effect with -r, which only runs
2 -r out.json -o results
    --outfile has no effect with -r, which only runs
2 relu.net --zero --no-weights
    --no-weights has no effect without -c or -o, which write
2 -c -r relu.net
    -c only compiles and -r only runs; without either a model is compiled and run
2 run relu.net --zero --rules=none --tune
    --tune has no effect with --rules=none, the model as it was read
2 verify relu.net --rules=none --skip=3
    --skip has no effect with --rules=none, the model as it was read
2 run relu.net -i white.bmp --scale=0
    --scale=0 makes every pixel 0
2 run relu.net -i white.bmp --scale=1,0,1
    --scale=1,0,1 makes every pixel 0
1 genwts -o new.wts names.txt
    names.txt is left out: there is no number in it
1 genwts -o new.wts x.npy
    x.npy is left out: it is no text of numbers: its byte 7 is 0
1 run float.net -i [1e400,2]
    -i x=[1e400,2] is neither a file nor a value: the number is beyond float64
1 run relu.net -i m.onnx
    m.onnx holds 81 bytes of data where 48 are needed; by its name it is a model
1 run trained.net -i [1,2] -f m.onnx
    m.onnx: neither a safetensors nor a .wts file, nor a params dictionary, but an ONNX model
1 run trained.net -i [1,2] -f white.bmp
    nor a params dictionary, but a BMP picture
1 run trained.net -i [1,2] -f out.json
    nor a params dictionary, but JSON, as models are
1 run trained.net -i [1,2] -f bad.npz
    nor a params dictionary, but a zip archive
1 stats m.onnx
    nor a params dictionary, but an ONNX model
1 convert photo.jpg -o new.safetensors
    nor a params dictionary, but a JPEG picture
1 run white.bmp
    white.bmp: this is a BMP picture, not a model that LightNet reads; give it to a model with -i
1 run white.ppm
    white.ppm: this is a picture (PNM), not a model that LightNet reads
1 run out.json --zero -t ref
    out.json is compiled already, for cpu; --target=ref belongs to where it is compiled
1 run out.json --zero --keep-halves
    out.json is compiled already, so --skip, --rules, --tune, --keep-halves and --failover come too late
1 -r out.json --zero --tune
    out.json is compiled already
1 run half16.net -i large.npy
    large.npy: input 'x' is float16, which does not hold 70000, element 1
1 run half16.net -i [1,-70000]
    the value: input 'x' is float16, which does not hold -70000, element 1
1 run half16.net -i whole.npy
    whole.npy: input 'x' is float16, which does not hold 65520, element 0
1 run bfloat.net -i huge.npy
    huge.npy: input 'x' is bfloat16, which does not hold 1.0000000000000001e+300, element 1
1 run float.net -i huge.npy
    huge.npy: input 'x' is float32, which does not hold 1.0000000000000001e+300, element 1
1 run scaled.net -i white.bmp --scale=1000
    white.bmp: input 'x' is float16, which does not hold 255000, element 0
1 run sequence.onnx --zero
    'x' is not a tensor, so that it has no zeros: give it with -i x=FILE.pb, or as .npz
1 run engine.plan
    engine.plan: this is an engine of TensorRT, not a model that LightNet reads
1 run vino.xml
    vino.xml: this is a model of OpenVINO, not a model that LightNet reads
"""


def relu(optype="Relu", dims=(2,), dtype="FLOAT"):
    return ow.model([ow.node(optype, ["x"], ["y"])], [("x", ow.tensor_type(dtype, list(dims)))],
                    [("y", ow.tensor_type(dtype, list(dims)))])


def loop_of(dtype):
    """A Loop whose body gives a condition of a type."""
    value = lambda name, dtype: {1: name, 2: ow.tensor_type(dtype, [])}
    node = ow.node("Loop", ["n", "", "s"], ["y"], name="Loop")
    node[5].append({1: "body", 6: {1: [ow.node("Identity", ["c"], ["d"]), ow.node("Identity", ["t"], ["u"])], 2: "b",
                                   11: [value("i", "INT64"), value("c", "BOOL"), value("t", "FLOAT")],
                                   12: [value("d", dtype), value("u", "FLOAT")]}, 20: 5})
    return ow.model([node], [("n", ow.tensor_type("INT64", [])), ("s", ow.tensor_type("FLOAT", []))],
                    [("y", ow.tensor_type("FLOAT", []))])


def loop():
    """A Loop with a body without outputs."""
    node = ow.node("Loop", ["n", ""], ["y"], name="Loop")
    node[5].append({1: "body", 6: {1: [ow.node("Not", ["c"], ["d"])], 2: "b", 11: [{1: name, 2: ow.tensor_type(dtype, [])} for name, dtype in (("i", "INT64"), ("c", "BOOL"))]},
                    20: 5})
    return ow.model([node], [("n", ow.tensor_type("INT64", []))], [("y", ow.tensor_type("BOOL", []))])


def write_files():
    """What the command lines name."""
    one = lambda dtype, dims: "input(| dst=x | dtype=%s, dims=%s);\nIdentity(input=x | output=y |);\n" % (dtype, dims)
    two = "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
    files = {
        "relu.net": "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 2, 2]);\nrelu(src=x | dst=y |);\n",
        "pair.net": two + "relu(src=x | dst=y |);\nNeg(X=x | Y=z |);\noutput(src=y | |);\noutput(src=z | |);\n",
        "sum.net": "".join('input(| dst=%s | dtype=TL_FLOAT, dims=[-1, 3], names=["n", ""]);\n' % name for name in "ab") + "Sub(A=b, B=a | C=y |);\n",
        "strings.net": "input(| dst=s | dtype=TL_STRING, dims=[2]);\nIdentity(input=s | output=y |);\n",
        "two.net": two.replace("x", "a") + two.replace("x", "b") + "Add(A=a, B=b | C=y |);\n",
        "trained.net": two + "create(| dst=w | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[0], from_file=true);\n"
                             "elew(src1=x, src2=w | dst=s | elew_op=TL_SUM);\n",
        "broken.net": two + "relu(src=q | dst=y |);\n",
        "typo.net": two + "relou(src=x | dst=y |);\n",
        "empty.onnx": "", "text.onnx": "not a model\n", "half.onnx": relu()[:40],
        "m.onnx": relu(dims=("n", 4)), "int.onnx": relu("Identity", dtype="INT64"), "bad.onnx": relu("Reluu"),
        "loop.onnx": loop(), "floats.onnx": loop_of("FLOAT"), "bools.onnx": loop_of("BOOL"), "types.op": "mine {arch: 'none', infer: 'f', tensors_in: [{arg_name: 'x', types: 'FLOAT'}], tensors_out: [{arg_name: 'y'}], params: []}\n",
        "model.tflite": b"\x1c\0\0\0TFL3" + b"\0" * 40, "model.param": "7767517\n2 2\nInput data 0 1 data 0=4\n",
        "page.html": "<!DOCTYPE html><html></html>", "short.raw": b"\0" * 10, "names.txt": "cat\ndog\n", "empty.txt": "",
        "photo.jpg": b"\xff\xd8\xff\xe0broken", "bad.npz": b"PK\3\4broken",
        "engine.plan": b"ftrt" + b"\0" * 60, "vino.xml": '<?xml version="1.0"?>\n<net name="x" version="11"></net>\n',
        "white.bmp": b"BM" + struct.pack("<IIIIiiHHIIiiII", 58, 0, 54, 40, 1, 1, 1, 24, 0, 4, 0, 0, 0, 0) + b"\xff" * 4,
        "white.ppm": b"P6\n1 1\n255\n\xff\xff\xff", "grey.net": one("TL_FLOAT", "[1, 1, 2, 2]"), "matrix.net": one("TL_FLOAT", "[2, 2]"), "half16.net": one("TL_FLOAT16", "[2]"),
        "bfloat.net": one("TL_BFLOAT16", "[2]"), "float.net": one("TL_FLOAT", "[2]"), "scaled.net": one("TL_FLOAT16", "[3, 1, 1]"),
        "sequence.onnx": ow.model([ow.node("SequenceLength", ["x"], ["y"])], [("x", {4: {1: ow.tensor_type("FLOAT", [2])}})], [("y", ow.tensor_type("INT64", []))]),
        "bad.rules": "rule r [exact]\n  y = relu(x)\n", "list.txt": "missing\tzzz=1\n",
    }
    for name, content in files.items():
        pathlib.Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for name, shape in (("x.npy", (1, 3, 2, 2)), ("wrong.npy", (1, 2, 2, 3)), ("small.npy", (2,))):
        np.save(name, np.zeros(shape, "f4"))
    np.save("nan.npy", np.array([1, np.nan], "f4"))
    np.save("large.npy", np.array([65519, 70000]))
    np.save("huge.npy", np.array([3e38, 1e300]))
    np.save("whole.npy", np.array([65520, 1]))
    os.mkdir("photos")
    np.save("photos/one.npy", np.zeros((1, 3, 2, 2), "f4"))
    np.save("half.npy", np.array([1, 2.5], "f8"))
    os.mkdir("nothing")
    os.symlink("relu.net", "symbolic.net")
    os.link("relu.net", "hard.net")
    subprocess.run([LIGHTNET, "-c", "-o", "out.json", "relu.net"], check=True)
    subprocess.run([LIGHTNET, "run", "--zero", "bools.onnx"], check=True, capture_output=True)


def contents():
    """What each file is, by its name."""
    return {path.name: path.read_bytes() for path in pathlib.Path(".").iterdir() if path.is_file()}


def check(line, code, words):
    """Why the answer is none; "" if all is well."""
    before = contents()
    done = subprocess.run([LIGHTNET, *shlex.split(line)], capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    errors = [text for text in err.splitlines() if text.startswith("error: ")]
    if done.returncode != code:
        return "exit status %d" % done.returncode
    if words not in out + err:
        return "other words: %s%s" % (out, err)
    if len(errors) + out.count("FAILED ") != 1:
        return "%d errors: %s%s" % (len(errors), out, err)
    if out and not out.startswith("FAILED "):
        return "something on standard output: " + out
    written = [name for name, content in contents().items() if before.get(name) != content]
    return "files were written: %s" % sorted(written) if written else ""


def main():
    lines = MISTAKES.strip("\n").split("\n")
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_files()
        for command, words in zip(lines[::2], lines[1::2], strict=True):
            code, line = command.split(" ", 1)
            fault = check(line, int(code), words.strip())
            if fault:
                faults.append("lightnet %s\n  wanted [%s] %s\n  %s" % (line, code, words.strip(), fault))
        os.chdir("/")
    print("\n".join(faults))
    print("%d mistaken command lines, %d of them not answered well" % (len(lines) // 2, len(faults)))
    return 1 if faults or len(lines) < 2 * 250 else 0


if __name__ == "__main__":
    sys.exit(main())
