#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example programs: what they print and write, against numpy and against the command.

Usage: examples_test.py BUILD-FOLDER
"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import numpy as np

build = os.path.abspath(sys.argv[1])
digits = os.path.join("models", "digits")
model, weights = os.path.join(digits, "digits.net"), os.path.join(digits, "digits.safetensors")


def run(*args, status=0):
    done = subprocess.run([os.path.join(build, args[0]), *args[1:]], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (args, done.returncode, done.stdout, done.stderr)
    return done.stdout if status == 0 else done.stderr


def write_picture(path, pixels, kind):
    shape = f"{pixels.shape[1]} {pixels.shape[0]}\n255\n"
    with open(path, "wb") as file:
        if kind in (5, 6):
            file.write(f"P{kind}\n{shape}".encode() + pixels.astype(np.uint8).tobytes())
        else:
            file.write(f"P{kind}\n# text\n{shape}{' '.join(str(v) for v in pixels.flat)}\n".encode())


def read_picture(path):
    with open(path, "rb") as file:
        kind, size, most, rest = file.read().split(b"\n", 3)
    assert (kind, most) == (b"P6", b"255")
    width, height = map(int, size.split())
    return np.frombuffer(rest, np.uint8).reshape(height, width, 3)


def test_classify(folder):
    labels = os.path.join(folder, "labels")
    with open(labels, "w") as file:
        file.write("\n".join(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]))
    picture = os.path.join(digits, "three.pgm")
    lines = run("classify", model, picture, labels, weights).splitlines()
    assert len(lines) == 5 and lines[0].split()[1] == "three", lines
    scores = [float(line.split()[0]) for line in lines]
    assert scores == sorted(scores, reverse=True) and scores[0] > 0.9, scores
    assert run("classify", model, picture, "", weights).splitlines()[0].split()[1:] == ["class", "3"]
    assert "usage" in run("classify", model, status=2)
    assert "no PNM" in run("classify", model, model, "", weights, status=1)
    assert "nowhere" in run("classify", "nowhere.net", picture, status=1)


def test_detect(folder):
    pixels = np.full((32, 32), 20, int)
    pixels[10:14, 6:10] = 255  # its middle is (8, 12)
    pixels[22:26, 22:26] = 220  # (24, 24)
    spot = np.full((8, 8), np.float32(-0.0208333))
    spot[2:6, 2:6] = 0.0625
    grey = pixels.astype(np.float32) / 255
    expected = {}
    for y in range(7):
        for x in range(7):
            score = float((grey[4 * y:4 * y + 8, 4 * x:4 * x + 8] * spot).sum())
            if score >= 0.3:
                expected[4 * x + 4, 4 * y + 4] = score
    assert sorted(expected) == [(8, 12), (24, 24)], expected
    for number, kind in enumerate((2, 5, 6)):
        picture, drawn = (os.path.join(folder, f"{name}{number}") for name in ("picture", "drawn"))
        coloured = np.repeat(pixels[:, :, None], 3, axis=2)
        write_picture(picture, coloured if kind == 6 else pixels, kind)
        lines = run("detect", "examples/spots.net", picture, drawn).splitlines()
        found = [tuple(map(float, re.findall(r"[0-9.]+", line))) for line in lines]
        assert [(x, y) for x, y, *_ in found] == sorted(expected, key=expected.get, reverse=True), found
        for x, y, width, height, score in found:
            assert (width, height) == (4, 4) and abs(score - expected[x, y]) < 0.006, found
            for row in range(int(y) - 2, int(y) + 2):
                for column in range(int(x) - 2, int(x) + 2):
                    if row in (y - 2, y + 1) or column in (x - 2, x + 1):
                        coloured[row, column] = (255, 0, 0)
        assert (read_picture(drawn) == coloured).all()
        assert "there already" in run("detect", "examples/spots.net", picture, drawn, status=1)
    assert "other inputs or outputs" in run("detect", model, picture, os.path.join(folder, "none"), status=1)


def ask(port, requests, answers):
    with socket.create_connection(("127.0.0.1", port)) as client:
        for request in requests:
            client.sendall(request.tobytes())
            answer = b""
            while len(answer) < 40:
                got = client.recv(40 - len(answer))
                assert got
                answer += got
            answers.append(np.frombuffer(answer, np.float32))


def test_serve(folder):
    server = subprocess.Popen([os.path.join(build, "serve"), model, weights, "0", "4"], stdout=subprocess.PIPE, text=True)
    assert server.stdout.readline() == "image: 256 bytes, prob: 40 bytes\n"
    port = int(server.stdout.readline().split()[1])
    random = np.random.default_rng(1)
    requests = random.random((6, 20, 1, 1, 8, 8), dtype=np.float32)
    answers = [[] for _ in requests]
    clients = [threading.Thread(target=ask, args=(port, *pair)) for pair in zip(requests, answers)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"too short")  # and gone: the thread goes on with others
    for i in (0, 5):  # the command gives the same bits
        np.save(os.path.join(folder, "x.npy"), requests[i][19])
        out = os.path.join(folder, f"y{i}.npy")
        run("lightnet", "run", model, "-f", weights, "-i", os.path.join(folder, "x.npy"), "-o", out)
        assert (np.load(out).ravel() == answers[i][19]).all()
    assert all(len(a) == 20 for a in answers)
    server.send_signal(signal.SIGTERM)
    assert server.wait(20) == 0
    assert "usage" in run("serve", model, weights, "0", "65", status=2)


with tempfile.TemporaryDirectory() as folder:
    test_classify(folder)
    test_detect(folder)
    test_serve(folder)
print("examples: classify, detect and serve do what they should")
