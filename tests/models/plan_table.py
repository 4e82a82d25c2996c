#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory of the model zoo: a table, an independent check of each plan, and bounds that must hold.

Usage: plan_table.py FOLDER-OF-THE-COMMANDS MODEL.net...

`old` is what the planner of the old system needed for the activations of the same network, which was
the lower bound of its own rules: every operator apart from its inputs, model outputs not kept, model
inputs not counted. Ours keeps inputs and outputs to the end, and must still be below.
"""

import json
import os
import subprocess
import sys

OLD_WORKSPACE = {
    "shufflenet_v2_x0_5": 2408448,
    "shuffledet": 11304960,
    "shuffledet_no_bn": 11304960,
    "shuffledet_dac": 16957440,
    "squeezedet": 61341696,
    "squeezedet_dac": 120586240,
    "yolov3": 44302336,
}
WELL_BELOW = 0.85  # of the old figure, without the inputs: activations are fused, concat is a view
ABOVE_BOUND = 1.01  # of what is alive at one step


def plan_of(lightnet, model):
    done = subprocess.run([lightnet, "plan", "--json", model], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("%s: %s" % (model, done.stderr))
    return json.loads(done.stdout)


def root_of(tensor, by_name):
    while "owner" in tensor:
        tensor = by_name[tensor["owner"]]
    return tensor


def overlaps(plan):
    """Pairs of tensors with memory of their own that share bytes while both are alive.

    A sweep over the steps: what begins is compared with all that is alive. What is there while the
    model is loaded only has a space of its own.
    """
    own = [t for t in plan["tensors"] if "owner" not in t and t["bytes"] > 0]
    starts = {}
    for t in own:
        starts.setdefault(t["first_step"], []).append(t)
    alive, bad = [], []
    for step in sorted(starts):
        alive = [t for t in alive if t["last_step"] >= step]
        for t in starts[step]:
            for other in alive:
                if (t["memory"] == other["memory"] and t["loading"] == other["loading"] and
                        t["offset"] < other["offset"] + other["bytes"] and
                        other["offset"] < t["offset"] + t["bytes"]):
                    bad.append((t["name"], other["name"]))
            alive.append(t)
    return bad


def region_of(tensor, memory):
    if tensor["loading"]:
        return 0, memory["loading"]
    return (64, memory["static"]) if tensor["static"] else (memory["static"], memory["peak"])


def misplaced(plan):
    """Tensors outside their region, their owner, or the lifetime of what they are in."""
    by_name = {t["name"]: t for t in plan["tensors"]}
    for t in plan["tensors"]:
        memory = plan["memory"][t["memory"]]
        begin, end = region_of(t, memory)
        root = root_of(t, by_name)
        is_inside = begin <= t["offset"] and t["offset"] + t["bytes"] <= end
        is_in_owner = root["offset"] <= t["offset"] and t["offset"] + t["bytes"] <= root["offset"] + root["bytes"]
        is_covered = root["first_step"] <= t["first_step"] and t["last_step"] <= root["last_step"]
        last = len(plan["steps"]) - 1
        is_kept = not t["output"] or t["last_step"] == last
        if not (is_inside and is_in_owner and is_covered and is_kept and (root is not t or t["offset"] % 64 == 0)):
            yield t["name"]


def least(plan):
    """The most bytes that are alive at one step, in whole units of 64: no plan can do with less."""
    changes = [0] * (len(plan["steps"]) + 1)
    for t in plan["tensors"]:
        if "owner" in t or t["static"]:
            continue
        byte_count = (t["bytes"] + 63) // 64 * 64
        changes[t["first_step"]] += byte_count
        changes[t["last_step"] + 1] -= byte_count
    live = most = 0
    for change in changes:
        live += change
        most = max(most, live)
    return most


def check(name, plan):
    """Prints a line of the table; returns what is wrong."""
    memory = plan["memory"]["LN_MEM_CPU"]
    inputs = sum(t["bytes"] for t in plan["tensors"] if t["input"])
    bound = least(plan)
    old = OLD_WORKSPACE.get(name)
    print("%-20s %12d %12d %12d %7.3f %12s %6s" % (
        name, memory["static"], memory["workspace"], inputs, memory["workspace"] / bound, old or "",
        "%.2f" % (memory["workspace"] / old) if old else ""))
    problems = ["%s and %s overlap" % pair for pair in overlaps(plan)]
    problems += ["%s is misplaced" % t for t in misplaced(plan)]
    if old and (memory["workspace"] > old or memory["workspace"] - inputs > WELL_BELOW * old):
        problems.append("its workspace is %d bytes, the old planner needed %d" % (memory["workspace"], old))
    if memory["workspace"] > ABOVE_BOUND * bound:
        problems.append("its workspace is %d bytes, and never more than %d are alive" % (memory["workspace"], bound))
    return ["%s: %s" % (name, problem) for problem in problems]


def main():
    lightnet = os.path.join(os.path.abspath(sys.argv[1]), "lightnet")
    models = sorted(sys.argv[2:])
    print("%-20s %12s %12s %12s %7s %12s %6s" % ("model", "static", "workspace", "of it input", "/bound", "old", "/old"))
    problems = []
    for model in models:
        problems += check(os.path.splitext(os.path.basename(model))[0], plan_of(lightnet, model))
    names = {os.path.splitext(os.path.basename(m))[0] for m in models}
    problems += ["%s is not in the zoo" % name for name in OLD_WORKSPACE if name not in names]
    for problem in problems:
        print("FAILED: " + problem)
    sys.exit(1 if problems else 0)


main()
