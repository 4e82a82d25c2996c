#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`lightnet plan` and `inspect` of a model that is split over devices: text, JSON, picture.

Usage: split_test.py FOLDER-OF-THE-COMMANDS

The plug-in `echo` of the tests brings two devices. What is printed is held against the list of operators that `opt` writes.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

BUILD = os.path.abspath(sys.argv[1])
LIGHTNET = os.path.join(BUILD, "lightnet")
PLUGIN = os.path.join(BUILD, "tests", "plugins", "echo.so")
SVG = "{http://www.w3.org/2000/svg}"

# Two branches, of which `b` stays on the host where a device does not take it, and a constant.
MODEL = """input(| dst=x | dtype=TL_FLOAT, dims=[64, 64]);
create(| dst=w | dtype=TL_FLOAT, dims=[64, 64], ran=[-1, 1], data=[0], from_file=false);
matmul(src1=x, src2=w | dst=a |);
func(src=a | dst=b | func=sin);
softmax(src=a | dst=c | axis=1);
func(src=c | dst=d | func=cos);
elew(src1=b, src2=d | dst=y | elew_op=TL_SUM);
output(src=y | |);
"""


def run(verb, *arguments, echo="", code=0):
    done = subprocess.run([LIGHTNET, verb, *arguments], capture_output=True, check=False,
                          env={**os.environ, "LN_ECHO": echo, "LC_ALL": "C"})
    assert done.returncode == code, (verb, arguments, done.returncode, done.stderr)
    return done.stdout.decode(), done.stderr.decode()


def on(target):
    return ["-t", target, "--plugin", PLUGIN]


def ops_of(model, target, echo):
    """(type, name, inputs, outputs, parameters) of the compiled model, in order."""
    text = run("opt", *on(target), model, echo=echo)[0]
    found = re.findall(r"^(?:(\S+): )?(\w+)\(([^|]*)\|([^|]*)\|(.*)\);$", text, re.M)
    return [(optype, name, ins, outs, params) for name, optype, ins, outs, params in found]


def check_against_list(model, target, echo):
    """Groups are runs of neighbours of one device, copies are the operators `copy_ref`."""
    split = json.loads(run("plan", "--json", *on(target), model, echo=echo)[0])["split"]
    again = json.loads(run("inspect", "--json", *on(target), model, echo=echo)[0])["split"]
    assert split == again
    ops = ops_of(model, target, echo)
    groups, last = {}, None
    for optype, name, *_ in ops:
        device = next((d for d in ("echo2", "echo") if optype.endswith("_" + d)), None)
        if device and device == last:
            groups[device][-1].append(name)
        elif device:
            groups.setdefault(device, []).append([name])
        last = device
    assert {d["device"]: [g["operators"] for g in d["groups"]] for d in split["devices"]} == groups
    copies = [(name, re.search("src=(\\S+)", ins).group(1), re.search("dst=(\\S+)", outs).group(1))
              for optype, name, ins, outs, _ in ops if optype == "copy_ref"]
    assert [(c["op"], c["from"], c["to"]) for c in split["copies"]] == copies
    waits = [params for optype, _, _, _, params in ops if optype == "wait_ref"]
    stated = [g["operators"][0] for d in split["devices"] for g in d["groups"] if g["wait_step"] is not None]
    assert sorted(re.search("group=(\\S+)", w).group(1) for w in waits) == sorted(stated), (waits, stated)
    for copy in split["copies"]:
        assert copy["from_memory"] != copy["to_memory"] and copy["bytes"] == 64 * 64 * 4
        assert copy["at_load"] == (copy["from"] == "w")
    return split


def check_text(model):
    # `left_out` of 100 percent: nothing is taken; the reasons are told.
    text, _ = run("plan", *on("echo,ref"), model, echo="left_out=100")
    assert "devices    host computes 5 operators\n" in text, text
    assert "refused    echo does not take 'matmul0': arch 'echo' does not take 'matmul0'\n" in text, text
    assert "a run " not in text
    # As long as the host: given back, with costs.
    text, _ = run("inspect", *on("echo,ref"), model, echo="seconds=1")
    assert re.search(r"^given back 5 operators from 'matmul0' on: 1000000\.0 us on echo \+ 4\.1 us for "
                     r"32,768 bytes of copies, [0-9.]+ us on the host$", text, re.M), text
    # All on the device.
    text, _ = run("plan", *on("echo,ref"), model)
    rows = text[text.index("devices"):].splitlines()
    assert rows == [
        "devices    echo computes 5 operators in 1 group, in DPU memory",
        "           host computes 0 operators",
        "copies     1 of 16,384 bytes when the model is loaded",
        "copies     2 of 32,768 bytes in each run",
        "a run      step      host                                echo",
        "           2                                             <- 16,384 bytes of 'x' from host",
        "           4 - 8                                         5 operators: 'matmul0' to 'elew0'",
        "           9         <- 16,384 bytes of 'y_dpu' from echo"], rows
    assert "devices" not in run("plan", "--short", *on("echo,ref"), model)[0]


def check_overlap(model):
    """The host computes a branch while the device does the other; the text names the wait's step."""
    def waits(echo):
        split = check_against_list(model, "echo,ref", echo)
        return any(g["wait_step"] is not None for d in split["devices"] for g in d["groups"])

    echo = next(filter(waits, ("left_out=40 seed=%d" % seed for seed in range(40))), None)
    assert echo, "no group of 40 splits is waited for"
    text, _ = run("plan", *on("echo,ref"), model, echo=echo)
    step = int(re.search(r"; waited for at (\d+)$", text, re.M).group(1))
    # It is the host that waits, in the first column.
    assert re.search(r"^ {11}%-10dwaits for '\w+' of echo$" % step, text, re.M), text
    # Of the host's operators those are named that run, not those of loading.
    loaded = {"create0", "input0"}
    named = re.findall(r"^ {11}[\d -]{10}\d+ operators?: '(\w+)'(?: to '(\w+)')?", text, re.M)
    assert named and not loaded & {name for pair in named for name in pair}, text
    return echo


def check_picture(model, target, echo):
    split = json.loads(run("plan", "--json", *on(target), model, echo=echo)[0])["split"]
    picture, _ = run("inspect", "--svg", *on(target), model, echo=echo)
    assert picture == run("plan", "--svg", *on(target), model, echo=echo)[0]
    root = xml.fromstring(picture)
    titles = [t.text for t in root.iter(SVG + "title")]
    for device in split["devices"]:
        for group in device["groups"]:
            assert any(t.startswith("%s, steps %d to %d\n" % (device["device"], group["first_step"], group["last_step"]))
                       and all(("\n%s (" % name) in t for name in group["operators"]) for t in titles), group
    memories = {"LN_MEM_CPU": "host", "LN_MEM_DPU": "echo", "LN_MEM_CUDA": "echo2"}
    for copy in split["copies"]:
        if not copy["at_load"]:
            assert "copy of %d bytes from %s to %s, step %d\n%s" % (
                copy["bytes"], memories[copy["from_memory"]], memories[copy["to_memory"]], copy["step"],
                copy["op"]) in titles, copy
    at_load = [c for c in split["copies"] if c["at_load"]]
    assert sum("copies of constants" in t for t in titles) == len({c["to_memory"] for c in at_load})
    texts = [t.text for t in root.iter(SVG + "text")]
    for name in ["host", "copies"] + [d["device"] for d in split["devices"]]:
        assert name in texts, name
    # What was refused and given back, as in the text.
    text, _ = run("plan", *on(target), model, echo=echo)
    told = [line for line in text.splitlines() if line.startswith(("refused ", "given back "))]
    assert told and [t for t in texts if t and t.startswith(("refused ", "given back "))] == told, (told, texts)
    # An arrow passes behind the lanes that it does not end at.
    lanes = [(float(r.get("y")), float(r.get("height"))) for r in root.iter(SVG + "rect") if r.get("fill") == "#f4f4f4"]
    lines = [(p.get("d"), p.get("stroke-dasharray")) for p in root.iter(SVG + "path") if p.get("stroke-width") == "1.2"
             and re.fullmatch(r"M[\d.]+ [\d.]+v\d+", p.get("d"))]
    assert len(lanes) == len(split["devices"]) + 1 and lines
    for line, dashes in lines:
        y, length = map(float, re.fullmatch(r"M[\d.]+ ([\d.]+)v(\d+)", line).groups())
        assert any(y < top + high and y + length > top for top, high in lanes) == bool(dashes), (line, lanes)
    width, height = float(root.get("width")), float(root.get("height"))
    for rect in root.iter(SVG + "rect"):
        if not rect.get("width").endswith("%"):
            x, y, w, h = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
            assert x >= 0 and y >= 0 and x + w <= width and y + h <= height, rect.attrib


def listed_at(profile, name):
    return [o["name"] for o in profile["operators"]].index(name) + 1


def check_trace(model, target, echo, folder):
    """A span for each group and run, on a line of its device, around what the host does before the wait."""
    split = json.loads(run("plan", "--json", *on(target), model, echo=echo)[0])["split"]
    groups = {g["operators"][0]: (d["device"], g) for d in split["devices"] for g in d["groups"]}
    path = os.path.join(folder, "trace.json")
    profile = json.loads(run("bench", "--runs=3", "--warmup=1", "--profile", "--json", "--trace", path, *on(target), model,
                             echo=echo)[0])
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    slices = [e for e in events if e["ph"] == "X" and e["cat"] == "operator"]
    begun = [e for e in events if e["ph"] == "b"]
    ended = {e["id"]: e for e in events if e["ph"] == "e"}
    assert len(begun) == len(ended) == 3 * len(groups), (len(begun), len(ended))
    for event in begun:
        device, group = groups[event["args"]["group"]]
        end = ended[event["id"]]
        assert event["name"] == end["name"] == device and event["cat"] == end["cat"] == "device"
        assert event["args"]["operators"] == len(group["operators"])
        inside = [s["name"] for s in slices if event["ts"] <= s["ts"] and s["ts"] + s["dur"] <= end["ts"] + 0.002]
        assert inside[0] == event["args"]["group"] and (group["wait_step"] is None) == (len(inside) == 1), inside
    listed = {o["name"]: o for o in profile["operators"]}
    for name, (device, group) in groups.items():
        assert listed[name]["operators"] == len(group["operators"]) and listed[name]["arch"] == device
        is_started = group["wait_step"] is not None
        assert "%s, group of %d%s" % (device, len(group["operators"]), ", start" * is_started) == listed[name]["kernel"]
        # From its start to the end of its wait it takes what the host does meanwhile, too.
        spans = sorted(ended[e["id"]]["ts"] - e["ts"] for e in begun if e["args"]["group"] == name)
        assert abs(spans[1] - 1000 * listed[name]["span_ms"]) < 0.002, (spans, listed[name])
        assert is_started or abs(listed[name]["span_ms"] - listed[name]["ms"]) < 1e-5, listed[name]
    waits = [o["kernel"] for o in profile["operators"] if o["type"] == "wait_ref"]
    assert sorted(waits) == sorted("waits for %s" % d for d, g in groups.values() if g["wait_step"] is not None), waits
    names = {t["type"] for t in profile["types"]}
    assert {"groups of " + d for d, g in groups.values() if len(g["operators"]) > 1} == {n for n in names if n.startswith("groups")}
    text, _ = run("bench", "--runs=2", "--profile", *on(target), model, echo=echo)
    for name, (device, group) in groups.items():
        assert re.search(r"^ +%d +[\d.]+ +[\d.]+ +[\d.]+  %s +%d operators? +%s$" % (
            listed_at(profile, name), device, len(group["operators"]), name), text, re.M), text
    for copy in split["copies"]:
        if not copy["at_load"]:
            assert (listed[copy["op"]]["from"], listed[copy["op"]]["to"]) == (copy["from_memory"], copy["to_memory"])
            assert listed[copy["op"]]["bytes"] == 2 * copy["bytes"]
    # The work of a group is that of all its operators: the product of 64 x 64 matrices.
    flops = sum(t["gflops"] * t["ms"] * 1e6 for t in profile["types"])
    assert abs(flops / (2 * 64 ** 3) - 1) < 0.05, flops


def check_compiled(model, folder):
    """A compiled file says the same, but for what was decided."""
    compiled = os.path.join(folder, "compiled.net")
    run("opt", *on("echo,ref"), "-o", compiled, model)
    split = json.loads(run("plan", "--json", *on("echo,ref"), model)[0])["split"]
    again = json.loads(run("plan", "--json", "--plugin", PLUGIN, compiled)[0])["split"]
    assert split["decisions"] and not again["decisions"]
    assert split["devices"] == again["devices"] and split["copies"] == again["copies"]


def check_failover(model, folder):
    """The same outputs where the device fails, once it is said and planned; else the run fails."""
    expected = run("run", "-t", "ref", "--zero", model)[0]
    for call in ("run", "wait"):
        fault = "fail_%s=0" % call
        assert "injected failure of " + call in run("run", *on("echo,ref"), "--zero", model, echo=fault, code=1)[1]
        text, said = run("run", *on("echo,ref"), "--failover", "--zero", model, echo=fault)
        assert text == expected
        assert said.count("the run is done again on the host: arch 'echo'") == 1, said
    alone = re.search("static .* bytes", run("plan", "--short", "-t", "ref", model)[0])[0]
    assert "failover to ref: %s of main memory" % alone in run("plan", "--short", *on("echo,ref"), "--failover", model)[0]
    assert "failover   to ref, in main memory: static" in run("inspect", *on("echo,ref"), "--failover", model)[0]
    for verb in ("plan", "inspect"):
        split = json.loads(run(verb, "--json", *on("echo,ref"), "--failover", model)[0])["split"]
        assert alone == "static %(static)d + workspace %(workspace)d = peak %(peak)d bytes" % split["failover"]
        assert json.loads(run(verb, "--json", *on("echo,ref"), model)[0])["split"]["failover"] is None
    # A run in between fails over: the profile is of the others, the trace has an instant.
    path = os.path.join(folder, "trace.json")
    bench = ["bench", "--runs=3", "--warmup=1", "--min-time=0", "--profile", *on("echo,ref"), "--failover"]
    whole = run(*bench, "--json", model)[0]
    assert "failovers" not in json.loads(whole)
    for skip in range(3, 12):
        text, _ = run(*bench, "--trace", path, model, echo="fail_run=%d" % skip)
        if "1 of 3 runs failed over to the host" in text:
            break
    else:
        raise AssertionError("no run that is profiled failed over")
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    assert sum(e["ph"] == "X" and e["cat"] == "run" for e in events) == 2
    assert all("echo" in e["args"]["reason"] for e in events if e["ph"] == "i")


def check_blame(model):
    """The operator that a device computes wrong is named, with its group, also where its result is only seen as a copy."""
    for name, optype, tensor in (("func0", "func_echo", "b"), ("elew0", "elew_echo", "y")):
        fault = "spoil=%s" % name
        text, _ = run("blame", *on("echo,cpu"), model, echo=fault, code=1)
        assert re.search(r"1\. firing \d+: place on echo at 'matmul0' ", text), text
        assert "first wrong: tensor '%s' of '%s' (%s) in the group of 'matmul0': " % (tensor, name, optype) in text, text
        found = json.loads(run("compare", "-a", "ref", "-b", "echo,ref", "--json", *on("echo,ref")[2:], model, echo=fault,
                               code=1)[0])
        first = found["first"]
        assert (first["tensor"], first["operator"], first["group"]) == (tensor, name, "matmul0"), first
    assert "1. " not in run("blame", *on("echo,cpu"), model)[0]


def check_dynamic(folder):
    """Shapes come in the run: the text says that the device computes then, and shows it for given shapes."""
    model = os.path.join(folder, "dynamic.net")
    with open(model, "w", encoding="utf-8") as f:
        f.write(MODEL.replace("dims=[64, 64]);\ncreate", "dims=[-1, 64]);\ncreate"))
    for verb in ("plan", "inspect"):
        text, _ = run(verb, *on("echo,ref"), model)
        assert "devices    echo computes once the shapes are known" in text, text
        text, _ = run(verb, *on("echo,ref"), "-s", "x=64,64", model)
        assert "devices    echo computes 5 operators in 1 group" in text, text
        assert "devices" not in run(verb, *on("ref"), model)[0]


def check_without(model):
    """A target without devices, or one that was never asked: nothing about them."""
    for arguments in (["-t", "cpu"], on("cpu"), ["-t", "null,cpu"]):
        for verb in ("plan", "inspect"):
            assert "devices" not in run(verb, *arguments, model)[0]
            assert "split" not in json.loads(run(verb, "--json", *arguments, model)[0])
        assert "Memory plan of" in run("plan", "--svg", *arguments, model)[0]


def check_unused_devices(model):
    """Options for a device that no target of the command names are worth a word."""
    def warnings(verb, device, *arguments, echo="devices=2"):
        return re.findall(r"warning: --device: (.*)", run(verb, *arguments, "--plugin", PLUGIN, "--device", device + ",depth=3",
                                                          model, echo=echo)[1])

    assert warnings("plan", "echo:1", "-t", "echo,ref") == ["no device 'echo:1' is in the target; -t echo:1,cpu uses it"]
    assert warnings("run", "echo", "-i", "x=fill:1") == ["no device 'echo' is in the target; -t echo,cpu uses it"]
    for device, target in (("echo", "echo,ref"), ("echo:0", "echo,ref"), ("echo", "echo:0,ref"), ("echo:1", "echo,echo:1,ref")):
        assert warnings("inspect", device, "-t", target) == [], (device, target)
    assert warnings("compare", "echo:1", "-a", "ref", "-b", "echo:1,ref") == []
    assert len(warnings("compare", "echo", "-a", "ref", "-b", "echo:1,ref")) == 1


def check_mistakes(model, folder):
    assert "one of --svg and --json" in run("inspect", "--svg", "--json", model, code=2)[1]
    assert "-o says where the picture goes" in run("inspect", "-o", "x.svg", model, code=2)[1]
    assert "is not drawn as .png" in run("inspect", "--svg", "-o", "x.png", model, code=2)[1]
    assert "cannot write" in run("inspect", "--svg", "-o", folder, model, code=1)[1]
    # Copies and waits are no operators that lack a kernel.
    text, _ = run("inspect", *on("echo,cpu"), model)
    assert "on ref " not in text, text


def main():
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "branches.net")
        with open(model, "w", encoding="utf-8") as f:
            f.write(MODEL)
        check_text(model)
        overlaps = check_overlap(model)
        for seed in range(6):
            check_against_list(model, "echo,echo2,ref", "left_out=50 seed=%d" % seed)
            check_picture(model, "echo,echo2,ref", "left_out=50 seed=%d" % seed)
        check_picture(model, "echo,ref", overlaps)
        check_trace(model, "echo,ref", overlaps, folder)
        check_trace(model, "echo,ref", "", folder)
        check_trace(model, "echo,echo2,ref", "left_out=50 seed=1", folder)
        check_compiled(model, folder)
        check_failover(model, folder)
        check_blame(model)
        check_dynamic(folder)
        check_without(model)
        check_unused_devices(model)
        check_mistakes(model, folder)


main()
