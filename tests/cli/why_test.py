#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`lightnet opt --why RULE`: each kind of failing condition is named with operator, parameter, value wanted and found.

Usage: why_test.py FOLDER-OF-THE-COMMANDS
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve() / "lightnet")

X = "input(| dst=x | dtype=TL_FLOAT, dims=[1, 2, 4, 4]);\n"
CONV = X + ("create(| dst=w | dtype=TL_FLOAT, dims=[2, 2, 1, 1], ran=[-1, 1]);\n"
            "create(| dst=b | dtype=TL_FLOAT, dims=[2], ran=[-1, 1]);\n"
            "con: conv2d(src=x, weight=w, bias=b | dst=c | size=[1, 1]);\n")
PLANE = "input(| dst=x | dtype=TL_FLOAT, dims=[3, 4]);\n"

# Rules of a user, for what no pattern of the library has alone.
OWN = """
rule twice_the_same [exact]
  y = elew(x, x | elew_op="TL_SUM", act="none")
  => y = x

rule act_before_act [exact]
  y = act(x | act="relu")
  z = act(y | act="tanh")
  => z = act(x | act="tanh")

rule other_type [exact]
  y = cast(x | any(to, saturate, round_mode) "a test")
  => y = x

rule not_given [exact]
  y = act(r | act="relu")
  r = pool(x | stride=absent, kind="max", any(size, padding, dilation, autopad, ceil_mode, count_include_pad, p) "a test")
  => y = x

rule no_element [exact]
  y = transpose(x | axes=a)
  where a[5] == 3
  => y = x

rule no_number [exact]
  y = act(r | act="relu")
  r = reshape(x)
  => y = slice(x | axis=0, start=0, len=dims(x)[7])

rule refused_result [exact]
  y = act(t | act="relu")
  t = act(x | act="tanh")
  => y = transpose(x | axes=[7, 7])

rule either [exact]
  y = act(x | act="relu")
  where integer(x) or size(x) < 3
  => y = x
"""

# rule, model, where it comes nearest, and what fails
CASES = [
    # The root, and what other statements of the pattern stand for.
    ("conv_relu", PLANE + "transpose(src=x | dst=y | axes=[1, 0]);\n", None,
     "the model has no operator act, before or after any pass, which its pattern begins with"),
    ("conv_relu", X + "poo: maxpool2d(src=x | dst=p | size=[2, 2], stride=[2, 2]);\nrel: relu(src=p | dst=y |);\n", "rel",
     "operator 'poo' (pool): the rule takes conv there, which makes 'p'"),
    ("act_before_act", X + "rel: relu(src=x | dst=r |);\nmaxpool2d(src=r | dst=y | size=[2, 2], stride=[2, 2]);\n", "rel",
     "no act reads 'r', which the rule takes"),
    # Inputs.
    ("plus_conv", CONV + "create(| dst=k | dtype=TL_FLOAT, dims=[1, 2, 1, 1], ran=[-1, 1]);\n"
                         "sum: elew(src1=c, src2=k | dst=y | elew_op=TL_SUM);\n", "sum",
     "operator 'con' (conv): it has 3 inputs, the rule takes 2 of them"),
    ("twice_the_same", PLANE + "input(| dst=z | dtype=TL_FLOAT, dims=[3, 4]);\nsum: elew(src1=x, src2=z | dst=y | elew_op=TL_SUM);\n",
     "sum", "operator 'sum' (elew): input src2 is z, the rule takes x"),
    # Parameters: a value, one that two statements share, a default, none at all.
    ("conv_relu", CONV + "tan: Tanh(input=c | output=y |);\n", "tan",
     "operator 'tan' (act): parameter act is \"tanh\", the rule takes \"relu\""),
    ("elew_of_one_greatest", PLANE + "one: elew(src1=x | dst=y | elew_op=TL_MIN);\n", "one",
     "operator 'one' (elew): parameter elew_op is \"TL_MIN\", the rule takes \"TL_MAX\""),
    ("concat_concat", PLANE + "low: concat(src1=x, src2=x | dst=a | axis=0);\ntop: concat(src1=a, src2=a | dst=y | axis=1);\n", "top",
     "operator 'low' (concat): parameter axis is 0, the rule takes k, which is 1 here"),
    ("not_given", X + "poo: maxpool2d(src=x | dst=r | size=[2, 2], stride=[2, 2]);\nrel: relu(src=r | dst=y |);\n", "rel",
     "operator 'poo' (pool): parameter stride is given, [2, 2]; the rule takes operators without it"),
    ("twice_the_same", PLANE + "sum: elew(src1=x, src2=x | dst=y | elew_op=TL_SUM, act=\"tanh\");\n", "sum",
     "operator 'sum' (elew): parameter act is \"tanh\", the rule takes \"none\""),
    # Conditions: a comparison, a predicate, alternatives, an expression without a value, a dynamic shape.
    ("transpose_identity", PLANE + "tra: transpose(src=x | dst=y | axes=[1, 0]);\n", "tra",
     "a == iota(rank(x)) does not hold: a is [1, 0]; iota(rank(x)) is [0, 1]"),
    ("conv_relu", CONV + "rel: relu(src=c | dst=y |);\ntan: Tanh(input=c | output=z |);\n", "rel",
     "single_use(c) does not hold: c is 'c' TL_FLOAT [1, 2, 4, 4], not constant, read 2 times"),
    ("reshape_to_same", PLANE + "res: reshape(src=x | dst=y | dims=[12]);\n", "res",
     "same_shape(x, y) does not hold: x is 'x' TL_FLOAT [3, 4], an input, read 1 time; "
     "y is 'y' TL_FLOAT [12], not constant, read 1 time"),
    ("slice_of_concat_part", PLANE + "con: concat(src1=x, src2=x | dst=c | axis=1);\n"
                                     "cut: slice(src=c | dst=y | axis=1, start=1, len=4);\n", "cut",
     "s == total(a, k) does not hold: s is 1; total(a, k) is 0"),
    ("either", PLANE + "rel: relu(src=x | dst=y |);\n", "rel",
     "integer(x) or size(x) < 3 does not hold: x is 'x' TL_FLOAT [3, 4], an input, read 1 time; size(x) is 12"),
    ("no_element", PLANE + "tra: transpose(src=x | dst=y | axes=[1, 0]);\n", "tra",
     "a[5] == 3 does not hold: a[5] has no value"),
    ("transpose_identity", "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4]);\ntra: transpose(src=x | dst=y | axes=[0, 1]);\n", "tra",
     "operator 'tra' (transpose): a tensor has a dynamic shape; -s gives it one"),
    # What the rewrite would do.
    ("transpose_transpose", PLANE + "one: transpose(src=x | dst=a | axes=[1, 0]);\ntwo: transpose(src=a | dst=y | axes=[1, 0]);\n"
                                    "tan: Tanh(input=a | output=z |);\n", "two",
     "the model would not become smaller: 1 of the rule's 2 operators stay, as others need what they make"),
    ("slice_slice", PLANE + "one: slice(src=x | dst=a | axis=1, start=1, len=3);\ntwo: slice(src=a | dst=y | axis=1, start=1, len=2);\n"
                            "tan: Tanh(input=a | output=z |);\n", "two",
     "the model would not become smaller: 1 of the rule's 2 operators stay, as others need what they make"),
    ("other_type", PLANE + "cas: cast(src=x | dst=i | to=TL_INT32);\n", "cas",
     "readers of one tensor cannot read the other, as shape, type or memory differ, or one is not constant: "
     "y is 'i' TL_INT32 [3, 4], not constant, read 1 time; x is 'x' TL_FLOAT [3, 4], an input, read 1 time"),
    ("no_number", PLANE + "res: reshape(src=x | dst=r | dims=[12]);\nrel: relu(src=r | dst=y |);\n", "rel",
     "parameter len of the result's slice, dims(x)[7], has no value"),
    ("refused_result", PLANE + "tan: Tanh(input=x | output=t |);\nrel: relu(src=t | dst=y |);\n", None,
     "an operator of its result refused what it was given, first at 'rel': "),
    # Where it has fired.
    ("conv_relu", CONV + "rel: relu(src=c | dst=y |);\n", None, "\n  firing 3: pass fold, at 'rel' (act)\n"),
]


def run(*arguments, code=0):
    done = subprocess.run([LIGHTNET, "opt", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == code, (arguments, done)
    return done


def test_each_kind_of_condition():
    rules = set()
    for rule, text, place, words in CASES:
        pathlib.Path("model.net").write_text(text)
        own = ["--rules=own.rules"] if "rule %s " % rule in OWN else []
        done = run("--why", rule, *own, "-t", "ref", "model.net")
        assert re.match(r"rule %s \[\w+\] \(\S+:\d+\) has " % rule, done.stdout) and not done.stderr, done
        assert words in done.stdout, "%s\nwanted: %s\nfound:\n%s%s" % (rule, words, text, done.stdout)
        if place:
            assert re.search(r"\nnearest at '%s' \(\w+\), pass (core|fold): " % place, done.stdout), done.stdout
            assert "has not fired\nit was tried " in done.stdout, done.stdout
        rules.add(rule)
    assert len(rules) >= 15, rules


def test_the_line_of_the_rule_is_named():
    pathlib.Path("model.net").write_text(PLANE + "Tanh(input=x | output=y |);\n")
    line = OWN.splitlines().index("rule either [exact]") + 1
    assert "(own.rules:%d)" % line in run("--why=either", "--rules=own.rules", "model.net").stdout


def test_the_nearest_of_several_is_named():
    """One is of another type, one has another activation, one fails in a condition only."""
    pathlib.Path("model.net").write_text(CONV + "a: Tanh(input=x | output=t |);\nb: Tanh(input=c | output=u |);\nd: relu(src=c | dst=v |);\n"
                                                "e: relu(src=x | dst=z |);\n")
    done = run("--why=conv_relu", "model.net")
    assert "nearest at 'd' (act), pass fold: single_use(c) does not hold: " in done.stdout, done.stdout


def test_rules_of_one_name_are_told_apart():
    pathlib.Path("model.net").write_text(CONV + "rel: relu(src=c | dst=y |);\n")
    pathlib.Path("same.rules").write_text("rule conv_relu [exact]\n  y = act(x | act=\"sigmoid\")\n"
                                          "  x = act(h | act=\"relu\")\n  => y = act(h | act=\"sigmoid\")\n")
    done = run("--why=conv_relu", "--rules=same.rules", "--verbose", "model.net")
    assert re.match(r"rule conv_relu \[exact\] \(same.rules:1\) has not fired\n", done.stdout), done.stdout
    assert re.search(r"rule conv_relu \[exact\] \(fold.rules:\d+\) has fired 1 time\n  firing \d+: ", done.stdout), done.stdout
    assert done.stdout.count("has fired") == 1, done.stdout
    pathlib.Path("same.rules").write_text("rule mine [exact]\n  y = relu(x)\n  => y = act(x | act=\"relu\")\n")
    done = run("--verbose", "--rules=same.rules", "-o", "out.net", "model.net")
    assert "core: mine [exact] (same.rules:1) at 'rel' (relu)" in done.stderr, done.stderr


def test_what_has_no_rules_is_said_to():
    pathlib.Path("model.net").write_text(CONV + "rel: relu(src=c | dst=y |);\n")
    assert "what a pass does without rules" in run("--why=channels_last", "model.net", code=2).stderr
    assert "no rule is tried" in run("--why=conv_relu", "--rules=none", "model.net", code=2).stderr


def test_what_is_skipped_is_told():
    pathlib.Path("model.net").write_text(CONV + "rel: relu(src=c | dst=y |);\n")
    done = run("--why=conv_relu", "--skip=3", "model.net")
    assert "has not fired, as --skip says\n  firing 3, skipped: pass fold, at 'rel' (act)\n" in done.stdout, done.stdout


def test_the_model_is_written_too_where_asked():
    pathlib.Path("model.net").write_text(CONV + "rel: relu(src=c | dst=y |);\n")
    assert "input" not in run("--why=conv_relu", "model.net").stdout
    run("--why=conv_relu", "-o", "out.net", "model.net")
    assert "conv" in pathlib.Path("out.net").read_text()
    plain = run("--passes=fold", "-o", "plain.net", "model.net")
    assert not plain.stdout


def test_conditions_on_sizes_hold_for_each_size():
    """A model with open dimensions is compiled once for many sizes, but not by rules of others that compare these."""
    pathlib.Path("open.net").write_text(
        'input(| dst=x | dtype=TL_FLOAT, dims=[-1], names=["n"]);\nact(src=x | dst=y | act=relu);\nact(src=y | dst=z | act=abs);\n')
    for condition, holds in (("size(x) < 1000", lambda n: n < 1000), ("dim(x, 0) > 4", lambda n: n > 4), ("dim(x, 0) >= 100", lambda n: n >= 100),
                             ("dim(x, 0) != 3", lambda n: n != 3), ("dim(x, 0) == 3", lambda n: n == 3), ("min(dim(x, 0), 7) == 7", lambda n: n >= 7),
                             ("not size(x) <= 8", lambda n: n > 8)):
        pathlib.Path("sizes.rules").write_text('rule no_relu [exact]\n  y = act(x | act="relu")\n  where %s\n  => y = x\n' % condition)
        for n in (3, 8, 2000):
            values = "[" + ", ".join(["-1"] * n) + "]"
            for given in ([], ["-s", "n=%d" % n], ["-s", "n=2..40"])[:2 if n > 40 else 3]:
                said = subprocess.run([LIGHTNET, "run", "--rules=sizes.rules", "-i", values, *given, "open.net"], capture_output=True, text=True)
                wanted = "min 1 max 1" if holds(n) else "min 0 max 0"
                assert said.returncode == 0 and wanted in said.stdout, (condition, n, given, said)


def test_numbers_of_sizes_hold_for_each_size():
    pathlib.Path("sizes.rules").write_text('rule steep [exact]\n  y = act(t | act="abs")\n  t = act(x | act="relu")\n  => y = act(x | act="lrelu", alpha=min(size(x), 7))\n')
    for n in (3, 6, 2000):
        said = subprocess.run([LIGHTNET, "run", "--rules=sizes.rules", "-i", "[" + ", ".join(["-1"] * n) + "]", "open.net"], capture_output=True, text=True)
        assert said.returncode == 0 and "max -%d " % min(n, 7) in said.stdout, (n, said)


def test_rules_that_are_not_there():
    pathlib.Path("model.net").write_text(PLANE + "Tanh(input=x | output=y |);\n")
    assert "there is no rule 'conv_rel'; did you mean 'conv_relu'? " in run("--why=conv_rel", "model.net", code=2).stderr
    pathlib.Path("rows.rules").write_text("".join(f'rule {name} [exact]\n  y = act(t | act="abs")\n  t = act(x | act="relu")\n  => y = act(x | act="lrelu", alpha=0)\n'
                                                  for name in ("rowsome", "rows_first", "rows_second")))
    for rule, row in (("quant_product_to_bytes", "quant_product_to_bytes_conv"), ("quant_moved", "quant_moved_reshape"), ("rows", "rows_first")):
        assert f"there is no rule '{rule}'; did you mean '{row}'? " in run(f"--why={rule}", "--rules=rows.rules", "model.net", code=1).stderr, rule
    assert "there is no rule 'act', it is a type of operators" in run("--why=act", "model.net", code=2).stderr
    assert "'act_cpu' is what operators are lowered to, not a rule" in run("--why=act_cpu", "model.net", code=2).stderr
    assert "--why and --verify" in run("--why=conv_relu", "--verify", "model.net", code=2).stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("own.rules").write_text(OWN)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test()
                print("ok", name)


if __name__ == "__main__":
    main()
