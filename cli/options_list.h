// SPDX-License-Identifier: Apache-2.0
// Every option of the command, once. options.h says how to add one.
//
// X(ID, "long name", 'letter' or 0, "VALUE" or NULL, kind, largest count, "help")

#ifndef LN_CLI_OPTIONS_LIST_H
#define LN_CLI_OPTIONS_LIST_H

// clang-format off
#define OPTION_LIST(X) \
    /* What goes in. */ \
    X(DATAFILE, "datafile", 'f', "FILE", OPTION_TEXT, 0, \
      "weights: safetensors, .wts or a params dictionary, told apart by content") \
    X(TARGET, "target", 't', "TARGET", OPTION_TEXT, 0, \
      "the arch to compile for, or a list in order of preference such as cpu,ref (default cpu); " \
      "`lightnet archs` lists them") \
    X(PLUGIN, "plugin", 0, "FILE", OPTION_CALL, 0, \
      "load this plug-in, a shared object with archs, operators or formats; may be given several times") \
    X(DEVICE, "device", 0, "NAME,OPTION=VALUE,...", OPTION_CALL, 0, \
      "open this device with these options: echo:1,delay=5; `lightnet archs` lists them; may be given several times") \
    X(INPUT, "input", 'i', "NAME=FILE", OPTION_TEXTS, 0, \
      "data of input NAME: .npy, .npz, ONNX .pb, safetensors, params dictionary, a picture, WAV, " \
      "or raw bytes of the right size; or a value: 16000, [1,2,3], true, fill:0.5; with one input the name may be left out (-i FILE), and an " \
      "input may be given by position (-i 0=FILE)") \
    X(SHAPE, "shape", 's', "NAME=SHAPE", OPTION_TEXTS, 0, \
      "shape of input NAME (x=1x3x224x224; with one input the name may be left out), or size of a symbolic " \
      "dimension (batch=4), or from where to where it goes (batch=1..32): one plan for all of them; several with commas between them (n=1,h=8)") \
    X(MODEL, "model", 'm', "MODEL", OPTION_TEXT, 0, "make random weights for this model") \
    X(TYPE, "type", 0, "TYPE", OPTION_CALL, 0, "0 for float (default), 2 for int8") \
    X(BASE, "base", 0, "FILE", OPTION_TEXTS, 0, \
      "descriptions that those in FILE... inherit from; may be given several times") \
    X(A, "a", 'a', "TARGET", OPTION_TEXT, 0, "what is right, compiled for this target (default: the model as it was read, on ref)") \
    X(B, "b", 'b', "TARGET", OPTION_TEXT, 0, "what is compared with it (default cpu)") \
    /* What comes out. */ \
    X(OUTFILE, "outfile", 'o', "FILE", OPTION_TEXT, 0, "where to write") \
    X(OUTDIR, "outdir", 'o', "DIR", OPTION_TEXT, 0, \
      "save each output as DIR/NAME.npy and list them in DIR/outputs.json; FILE.npy or " \
      "NAME=FILE.npy: one output as a file") \
    X(LABELS, "labels", 0, "FILE", OPTION_TEXT, 0, \
      "names of classes, one a line: show the top ones") \
    X(TOP, "top", 0, "COUNT", OPTION_COUNT, 1000, "how many (default 5), also without names") \
    X(OPS, "ops", 0, NULL, OPTION_FLAG, 0, "a table: which of the core's types each arch has") \
    X(SHORT, "short", 0, NULL, OPTION_FLAG, 0, "totals only") \
    X(SVG, "svg", 0, NULL, OPTION_FLAG, 0, "draw it: memory over time, one rectangle a tensor; what devices compute and copy is above that") \
    X(JSON, "json", 'j', "FILE", OPTION_MAYBE, 0, \
      "one JSON object, to FILE or to standard output in place of the text") \
    X(PROFILE, "profile", 0, "ORDER", OPTION_MAYBE, 0, \
      "also each operator's time, share, GFLOP/s, GB/s and kernel, and sums for each type; ORDER: " \
      "slowest (default), or run") \
    X(TRACE, "trace", 0, "FILE", OPTION_TEXT, 0, \
      "the last runs as trace events, for chrome://tracing and Perfetto") \
    X(SUMMARY, "summary", 0, NULL, OPTION_FLAG, 0, "one line for each model") \
    X(ALL, "all", 0, NULL, OPTION_FLAG, 0, "one line for each tensor") \
    X(WEIGHTS, "weights", 0, "FILE", OPTION_TEXT, 0, \
      "where the weights go that a model brings along (FILE's name with .safetensors in place of " \
      "its end; none for \"-\")") \
    X(EXTERNAL, "external", 0, NULL, OPTION_FLAG, 0, \
      "ONNX: large constants go to a file beside it, FILE.data; they do so by themselves where " \
      "there are more than 2 GiB") \
    X(NO_WEIGHTS, "no-weights", 0, NULL, OPTION_FLAG, 0, \
      "do not store weights beside the compiled form. Otherwise those that the model brings, with " \
      "-c also those of -f, are folded and packed once, now, into out.safetensors") \
    /* How it runs. */ \
    X(COMPILE, "compile", 'c', NULL, OPTION_FLAG, 0, "only compile") \
    X(RUN, "run", 'r', NULL, OPTION_FLAG, 0, "only run; SOURCE must be a compiled form") \
    X(REPEAT, "repeat", 'n', "COUNT", OPTION_COUNT, 1000000, \
      "run COUNT times, show the median time (default 1)") \
    X(RUNS, "runs", 0, "COUNT", OPTION_COUNT, 1000000, \
      "exactly COUNT runs; with --min-time at least so many (default: at least 20)") \
    X(MIN_TIME, "min-time", 0, "SECONDS", OPTION_NUMBER, 0, \
      "runs for at least so long (default 1, and 0 with --runs)") \
    X(WARMUP, "warmup", 0, "COUNT", OPTION_COUNT, 1000000, \
      "runs before, the first one included (default 3)") \
    X(THREADS, "threads", 0, "COUNT", OPTION_CALL, 0, \
      "threads that run the model (default: the processors that may be used, or LN_THREADS)") \
    X(ALLOW_WRITE, "allow-write", 0, "DIR", OPTION_CALL, 0, \
      "let the model create files below DIR (operator fprint); without it a model that writes is " \
      "refused") \
    X(BUDGET, "budget", 0, "BYTES", OPTION_CALL, 0, \
      "refuse a model whose peak of memory is above: 64000000, 64M, 64Mi (default 4Gi)") \
    X(WORK, "work", 0, "UNITS", OPTION_CALL, 0, \
      "refuse a model whose run costs more work units, about a nanosecond of one core each (default " \
      "6e11)") \
    X(TIMEOUT, "timeout", 0, "SECONDS", OPTION_CALL, 0, \
      "stop the command when it takes longer than that in all (default: never)") \
    X(SIGNATURE, "signature", 0, "NAME", OPTION_CALL, 0, \
      "read this signature of a TensorFlow Lite model in place of its first subgraph; `lightnet inspect` lists them") \
    X(ROUNDING, "rounding", 0, "HOW", OPTION_CALL, 0, \
      "integers of 8 bits in a TensorFlow Lite model: float, as XNNPACK rounds them (default), or reference, as its " \
      "reference kernels do") \
    X(RESIZABLE, "resizable", 0, NULL, OPTION_CALL, 0, \
      "open all dimensions of inputs of a TensorFlow Lite model, but for their last one; the sizes of the file hold until " \
      "others are given") \
    X(STRICT, "strict", 0, NULL, OPTION_CALL, 0, \
      "refuse faults of model files that are taken with a warning else") \
    X(ZERO, "zero", 0, NULL, OPTION_FLAG, 0, "inputs of zeros") \
    X(SEED, "seed", 0, "N", OPTION_SEED, 0, "where random numbers start: 0 to 2^64 - 1") \
    X(SPECIAL, "special", 0, NULL, OPTION_FLAG, 0, \
      "random inputs hold NaN, infinities, zeros and tiny numbers too") \
    X(OPEN, "open", 0, NULL, OPTION_FLAG, 0, \
      "leave shapes that the model leaves open to the run, so that one plan serves all data sets") \
    X(ISOLATE, "isolate", 0, NULL, OPTION_FLAG, 0, \
      "run each model in a process of its own, so that a crash is one line") \
    X(LIST, "list", 0, "FILE", OPTION_TEXT, 0, \
      "more models, one a line: PATH, and after tabs perhaps rtol=X, atol=X, shape-only") \
    X(THROUGH, "through", 0, "FORMATS", OPTION_TEXT, 0, \
      "write the model in these formats, such as il,ir,onnx, read it again each time, and run what " \
      "has come out") \
    X(COMPILED, "compiled", 0, NULL, OPTION_FLAG, 0, \
      "also run each model's compiled forms, with its weights and without; their outputs must be " \
      "bit-identical with the model's") \
    /* What is compared. */ \
    X(RTOL, "rtol", 0, "X", OPTION_NUMBER, 0, \
      "relative tolerance (default 1e-4; float16 2^-9, bfloat16 2^-6, integers 0)") \
    X(ATOL, "atol", 0, "X", OPTION_NUMBER, 0, \
      "absolute tolerance (default 1e-5 of the largest in the tensor; float16 2^-9, bfloat16 2^-6 " \
      "of it; integers 0)") \
    X(SHAPE_ONLY, "shape-only", 0, NULL, OPTION_FLAG, 0, "compare types and shapes, not numbers") \
    X(OUTPUTS, "outputs", 0, NULL, OPTION_FLAG, 0, \
      "judge by the model's outputs only, not by every tensor") \
    X(FIRST, "first", 0, NULL, OPTION_FLAG, 0, "stop at the first culprit") \
    /* How files of inputs are read. */ \
    X(MEAN, "mean", 0, "A[,B,C]", OPTION_CALL, 0, \
      "pictures: an element is (pixel - mean) * scale, pixels being 0 to 255; one number, or one " \
      "for each channel in the input's order") \
    X(SCALE, "scale", 0, "X[,Y,Z]", OPTION_CALL, 0, "see --mean") \
    X(LAYOUT, "layout", 0, "LAYOUT", OPTION_CALL, 0, \
      "nchw or nhwc (default: where the shape has 1 or 3 channels)") \
    X(BGR, "bgr", 0, NULL, OPTION_FLAG, 0, "the input takes blue first") \
    X(RESIZE, "resize", 0, "WxH", OPTION_CALL, 0, \
      "scale pictures to this size (default: the input's own)") \
    X(PRESET, "preset", 0, "NAME", OPTION_CALL, 0, \
      "pictures as a family of networks takes them: imagenet (RGB, mean and deviation of " \
      "ImageNet), caffe (BGR minus the mean), unit (0 to 1), signed (-1 to 1); --mean, --scale and " \
      "--bgr go before it") \
    X(CROP, "crop", 0, "RATIO", OPTION_MAYBE, 0, \
      "scale pictures so that this part of the shorter side fills the input (default 0.875), and " \
      "take their centre") \
    X(LETTERBOX, "letterbox", 0, "GREY", OPTION_CALL, 0, \
      "scale pictures without distortion, with borders of this grey, such as 114") \
    X(RATE, "rate", 0, "HERTZ", OPTION_CALL, 0, "refuse sound of another rate") \
    /* How a model is compiled. */ \
    X(PASSES, "passes", 'p', "LIST", OPTION_TEXT, 0, \
      "only these passes, such as fold,expand (default: all)") \
    X(INPUTS, "inputs", 0, "NAMES", OPTION_TEXT, 0, \
      "these tensors, such as image,anchors, are the inputs: for a model without `input`, where " \
      "others were found") \
    X(STOP_AFTER, "stop-after", 0, "PASS", OPTION_TEXT, 0, "no pass after this one") \
    X(DUMP_AFTER, "dump-after", 0, "PASS", OPTION_TEXT, 0, \
      "print the model after PASS, or after each pass if it is \"all\", as IL on standard error") \
    X(DUMP_DIR, "dump-dir", 0, "DIR", OPTION_TEXT, 0, "the same into DIR/PASS.net") \
    X(WHY, "why", 0, "RULE", OPTION_TEXT, 0, \
      "where this rule has fired, or why it has not: the operators that come nearest to its " \
      "pattern, and the condition that fails; in place of the model") \
    X(TIME, "time", 0, NULL, OPTION_FLAG, 0, "show how long each pass takes") \
    X(VERIFY, "verify", 0, NULL, OPTION_FLAG, 0, \
      "after each pass: check the model, and run it on random data; its results must be those from " \
      "before the pass. Rules tagged exact keep the bits; others stay within 1e-4 of a number and " \
      "1e-5 of the largest in its tensor") \
    X(RULES, "rules", 0, "FILE", OPTION_CALL, 0, \
      "rules tried before the built-in ones; may be given several times. \"none\": the model as it was " \
      "read, on `ref`: no rules and passes, but the definitions of operators that `ref` lacks; " \
      "what the others are held against") \
    X(SKIP, "skip", 0, "LIST", OPTION_CALL, 0, "rewrites that are not to happen, such as 3,7-9") \
    X(TUNE, "tune", 0, NULL, OPTION_FLAG, 0, \
      "measure which algorithm is fastest for each convolution") \
    X(KEEP_HALVES, "keep-halves", 0, NULL, OPTION_FLAG, 0, \
      "round float16 and bfloat16 after each operator, as the model says, instead of computing them in floats") \
    X(FAILOVER, "failover", 0, NULL, OPTION_FLAG, 0, \
      "compile the model for the host as well, where runs are done again in which a device fails") \
    X(VERBOSE, "verbose", 0, NULL, OPTION_FLAG, 0, \
      "list the rewrites: what the compiler changes, numbered") \
    /* What is said. */ \
    X(DEBUG, "debug", 'd', NULL, OPTION_FLAG, 0, "show what the passes do") \
    X(WWARN, "Wwarn", 0, NULL, OPTION_FLAG, 0, "show warnings (the default)") \
    X(WNO_WARN, "Wno-warn", 'w', NULL, OPTION_CLEAR, 0, "hide warnings") \
    X(WINTER, "Winter", 0, NULL, OPTION_FLAG, 0, "show internal warnings (the default)") \
    X(WNO_INTER, "Wno-inter", 0, NULL, OPTION_CLEAR, 0, "hide internal warnings") \
    X(VERSION, "version", 'v', NULL, OPTION_FLAG, 0, "show the version") \
    X(HELP, "help", 'h', NULL, OPTION_HELP, 0, "show this help")
// clang-format on

#endif
