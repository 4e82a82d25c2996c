#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of inputs and outputs of `lightnet run`: arrays, archives, pictures, sound; right and wrong ones.

Usage: inputs_test.py FOLDER-OF-THE-COMMANDS
"""
import base64
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import onnx_writer as ow

LIGHTNET = str(pathlib.Path(sys.argv[1]).resolve() / "lightnet")

# 8 x 8 pixels of (200, 100, 50), and of grey 120.
JPEG_COLOUR = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQ"
    "ERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU"
    "FBQUFBQUFBQUFBQUFBQUFBT/wAARCAAIAAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAA"
    "AAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAABwj/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCQAHqQ"
    "f//Z")
JPEG_GREY = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQ"
    "ERMUFRUVDA8XGBYUGBIUFRT/wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABf/EABQQAQAAAAAAAAAAAAAAAAAA"
    "AAD/2gAIAQEAAD8AKf/Z")


def run(*args, code=0, err="", out=""):
    """Runs the command; `code` is its exit status, `err` and `out` stand in what it says."""
    done = subprocess.run([LIGHTNET, *map(str, args)], capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=120, check=False)
    said = "%s\n%s%s" % (" ".join(map(str, args)), done.stdout, done.stderr)
    assert done.returncode == code, "exit %d, not %d: %s" % (done.returncode, code, said)
    assert err in done.stderr, "no %r on standard error: %s" % (err, said)
    assert out in done.stdout, "no %r on standard output: %s" % (out, said)
    return done


def write(name, content):
    pathlib.Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def model(dtype, dims, name="id.net"):
    """A model that gives back its input."""
    return write(name, "input(| dst=x | dtype=%s, dims=%s);\nIdentity(input=x | output=y |);\n" % (dtype, list(dims)))


def through(dtype, dims, path, *args):
    """What a model of that input makes of a file."""
    run("run", model(dtype, dims), "-i", path, "-o", "out", *args)
    return np.load("out/y.npy")


def check_same(got, want):
    assert got.shape == want.shape and got.dtype == want.dtype, (got.dtype, got.shape, want.dtype, want.shape)
    assert (got == want).all(), (got, want)


# ---- Arrays ----

TYPES = {"TL_FLOAT": "f4", "TL_DOUBLE": "f8", "TL_FLOAT16": "f2", "TL_INT64": "i8", "TL_INT32": "i4",
         "TL_INT16": "i2", "TL_INT8": "i1", "TL_UINT64": "u8", "TL_UINT32": "u4", "TL_UINT16": "u2",
         "TL_UINT8": "u1", "TL_BOOL": "?", "TL_COMPLEX64": "c8", "TL_COMPLEX128": "c16", "TL_STRING": "U9"}


def example(dtype):
    numbers = np.arange(24).reshape(2, 3, 4) * 5 % 97
    if dtype == "TL_BOOL":
        return numbers % 2 == 0
    if dtype == "TL_STRING":
        words = numbers.astype("U9")
        words[0, 0, 0], words[1, 2, 3], words[0, 1, 1] = "grün\U0001f600", "", "a b"
        return words
    return (numbers * (1 + 2j) if "COMPLEX" in dtype else numbers).astype(TYPES[dtype])


def test_arrays_of_every_type_and_order():
    for dtype in TYPES:
        want = example(dtype)
        for variant in (want, np.asfortranarray(want), want.astype(want.dtype.newbyteorder(">"))):
            np.save("in.npy", variant)
            got = through(dtype, want.shape, "in.npy")
            if dtype == "TL_STRING":
                got = got.astype(want.dtype)
            check_same(got, want)
        listed = json.loads(pathlib.Path("out/outputs.json").read_text())
        name = dtype.removeprefix("TL_")
        assert listed == [{"name": "y", "file": "y.npy", "dtype": name, "shape": [2, 3, 4]}], listed


def test_versions_and_spellings_of_the_header():
    want = np.array([1, 2, 3], "<f4")
    for version in ((1, 0), (2, 0), (3, 0)):
        with open("in.npy", "wb") as file:
            np.lib.format.write_array(file, want, version=version)
        check_same(through("TL_FLOAT", (3,), "in.npy"), want)
    for text in ("{'shape':(3,),'fortran_order':False,'descr':'<f4'}",
                 '{"descr" : "<f4" , "fortran_order" : False , "shape" : ( 3L , ) , }\n'):
        write("in.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + want.tobytes())
        check_same(through("TL_FLOAT", (3,), "in.npy"), want)


def test_bytes_are_strings_too():
    np.save("in.npy", np.array([b"ab", b"", "grün".encode()]))
    assert list(through("TL_STRING", (3,), "in.npy")) == ["ab", "", "grün"]
    write("words.txt", "one\n\ntwo words\r\n")
    assert list(through("TL_STRING", (3,), "words.txt")) == ["one", "", "two words"]


def test_types_without_a_name_in_numpy_are_patterns():
    for dtype, kind in (("TL_BFLOAT16", "<u2"), ("TL_FLOAT8E4M3FN", "u1"), ("TL_FLOAT8E5M2", "u1"),
                        ("TL_FLOAT4E2M1", "u1"), ("TL_UINT4", "u1"), ("TL_INT4", "i1"), ("TL_INT2", "i1")):
        want = np.array([0, 1, -2 if kind == "i1" else 3, 1], kind)
        np.save("in.npy", want)
        check_same(through(dtype, (4,), "in.npy"), want)
        write("in.raw", want.tobytes())
        check_same(through(dtype, (4,), "in.raw"), want)
    np.save("in.npy", np.array([16, 0, 0, 0], "u1"))
    run("run", model("TL_FLOAT4E2M1", (4,)), "-i", "in.npy", code=1, err="no pattern of 4 bits")


def test_empty_arrays_and_scalars():
    for shape in ((), (0,), (2, 0, 3)):
        want = np.zeros(shape, "f4")
        np.save("in.npy", want)
        check_same(through("TL_FLOAT", shape, "in.npy"), want)


def test_numbers_are_converted_and_strings_are_not():
    np.save("in.npy", np.array([1.5, 2.5]))
    run("run", model("TL_FLOAT", (2,)), "-i", "in.npy", err="converted from float64 to float32")
    run("run", model("TL_STRING", (2,)), "-i", "in.npy", code=1, err="holds float64 where string is needed")
    np.save("in.npy", np.array(["1", "2"]))
    run("run", model("TL_FLOAT", (2,)), "-i", "in.npy", code=1, err="holds string where float32 is needed")


# ---- Archives ----

def test_archives_give_the_array_of_the_input():
    want = example("TL_FLOAT")
    for save in (np.savez, np.savez_compressed):
        save("in.npz", other=np.zeros(3), x=want)
        check_same(through("TL_FLOAT", want.shape, "in.npz"), want)
        save("in.npz", want)
        check_same(through("TL_FLOAT", want.shape, "in.npz"), want)
        save("in.npz", a=want, b=want)
        run("run", model("TL_FLOAT", want.shape), "-i", "in.npz", code=1, err="no array 'x' among its 2")


def test_an_archive_gives_all_inputs():
    write("two.net", "input(| dst=a | dtype=TL_FLOAT, dims=[2]);\ninput(| dst=b | dtype=TL_FLOAT, dims=[2]);\n"
          "elew(src1=a, src2=b | dst=y | elew_op=TL_SUB);\n")
    np.savez("in.npz", b=np.array([1, 2], "f4"), a=np.array([10, 20], "f4"))
    run("run", "two.net", "-i", "in.npz", out="[9 18]")
    run("run", "two.net", "-i", "in.npz", "-i", "a=in.npz", code=1, err="'a' is given twice")
    np.savez("in.npz", q=np.zeros(2))
    run("run", "two.net", "-i", "in.npz", code=1, err="name of an input")


def test_damaged_archives():
    np.savez_compressed("in.npz", x=example("TL_FLOAT"))
    whole = pathlib.Path("in.npz").read_bytes()
    net = model("TL_FLOAT", (2, 3, 4))
    for cut in range(0, len(whole), 7):
        run("run", net, "-i", write("cut.npz", whole[:cut]), code=1, err="cut.npz")
    for at in (60, 100, 150):
        broken = bytearray(whole)
        broken[at] ^= 0xff
        run("run", net, "-i", write("broken.npz", bytes(broken)), code=1, err="broken.npz")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(1000))
    lying = bomb.getvalue().replace(struct.pack("<I", 1000), struct.pack("<I", 0xfffffff0))
    run("run", net, "-i", write("bomb.npz", lying), code=1, err="cannot have 4294967280 bytes")
    with zipfile.ZipFile("lzma.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x.npy", bytes(1000))
    run("run", net, "-i", "lzma.npz", code=1, err="method 14")


def test_damaged_arrays():
    def npy(descr, order="False", shape="(2,)", data=bytes(8), version=b"\1\0"):
        text = ("{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)).encode()
        return write("bad.npy", b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data)

    net = model("TL_FLOAT", (2,))
    for why, path in (("data", lambda: npy("'<f4'", data=bytes(7))), ("type", lambda: npy("'<q4'")),
                      ("fields", lambda: npy("[('a', '<f4')]")), ("shape", lambda: npy("'<f4'", shape="2")),
                      ("True nor False", lambda: npy("'<f4'", order="0")), ("f3", lambda: npy("'<f3'")),
                      ("shape", lambda: npy("'<f4'", shape="(-2,)")), ("bad.npy", lambda: npy("'<f4")),
                      ("version 9", lambda: npy("'<f4'", version=b"\x09\0")),
                      ("shape", lambda: npy("'<f4'", shape="(99999999999999999999,)")),
                      ("astype(str)", lambda: npy("'|O'")), ("bad.npy", lambda: npy("'<f4'", shape="(" * 9))):
        run("run", net, "-i", path(), code=1, err=why)
    np.save("whole.npy", np.zeros(2, "f4"))
    whole = pathlib.Path("whole.npy").read_bytes()
    for cut in range(8, len(whole), 9):
        run("run", net, "-i", write("cut.npy", whole[:cut]), code=1, err="cut.npy")


# ---- Pictures ----

def png(pixels, depth=8, palette=None, alpha=None):
    """A PNG file of an array [height, width, channels], uint8 or uint16; a palette's indices."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width, channels = pixels.shape
    colour = 3 if palette is not None else {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    rows = pixels.astype(">u2" if depth == 16 else "u1")
    data = b"".join(b"\0" + row.tobytes() for row in rows)
    extra = chunk(b"PLTE", palette.tobytes()) if palette is not None else b""
    extra += chunk(b"tRNS", alpha) if alpha else b""
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
            + extra + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


def bmp(pixels, top_first=False):
    height, width, _ = pixels.shape
    rows = pixels[:, :, ::-1] if top_first else pixels[::-1, :, ::-1]
    data = b"".join(row.tobytes() + bytes(-3 * width % 4) for row in rows)
    return (b"BM" + struct.pack("<IHHI", 54 + len(data), 0, 0, 54) +
            struct.pack("<IiiHHIIiiII", 40, width, -height if top_first else height, 1, 24, 0, 0, 0, 0, 0, 0) + data)


def tiff(pixels, deflated=False, order="<", extra=None):
    """One strip; `extra` says what a fourth channel is."""
    height, width, count = pixels.shape
    data = zlib.compress(pixels.tobytes()) if deflated else pixels.tobytes()
    data += bytes(len(data) % 2)
    entries = [(256, width), (257, height), (258, 8), (259, 8 if deflated else 1), (262, 2 if count > 2 else 1),
               (273, 8), (277, count), (278, height), (279, len(data))] + ([(338, extra)] if extra else [])
    directory = b"".join(struct.pack(order + "HHII", tag, 4, 1, value) for tag, value in entries)
    return ((b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8 + len(data)) + data +
            struct.pack(order + "H", len(entries)) + directory + bytes(4))


def pnm(kind, pixels, largest=255):
    """P1 to P6; of P1 and P4, what is not 0 is black."""
    height, width, _ = pixels.shape
    head = "P%d # a comment\n%d\t%d\n" % (kind, width, height)
    head += "" if kind in (1, 4) else "%d\n" % largest
    if kind < 4:
        return (head + " ".join(map(str, pixels.ravel()))).encode()
    if kind == 4:
        return head.encode() + np.packbits(pixels[:, :, 0] != 0, axis=1).tobytes()
    return head.encode() + pixels.astype(">u2" if largest > 255 else "u1").tobytes()


PIXELS = np.random.default_rng(7).integers(0, 256, (5, 7, 3)).astype("u1")


def test_pictures_in_every_layout():
    for name, content in (("p.png", png(PIXELS)), ("p.bmp", bmp(PIXELS)), ("top.bmp", bmp(PIXELS, True)),
                          ("a.png", png(np.concatenate([PIXELS, PIXELS[:, :, :1]], 2))),
                          ("p.ppm", pnm(6, PIXELS)), ("digits.ppm", pnm(3, PIXELS)),
                          ("deep.ppm", pnm(6, PIXELS.astype("u2") * 257, 65535))):
        write(name, content)
        want = PIXELS.transpose(2, 0, 1)[None]
        check_same(through("TL_UINT8", (1, 3, 5, 7), name), want)
        check_same(through("TL_UINT8", (3, 5, 7), name), want[0])
        check_same(through("TL_UINT8", (1, 5, 7, 3), name), PIXELS[None])
        check_same(through("TL_UINT8", (5, 7, 3), name, "--bgr"), PIXELS[:, :, ::-1])
        got = through("TL_FLOAT", (1, 3, 5, 7), name, "--mean=1,2,3", "--scale=0.5,2,4")
        mean, scale = np.array([1, 2, 3]), np.array([.5, 2, 4])
        check_same(got, ((PIXELS - mean) * scale).astype("f4").transpose(2, 0, 1)[None])
        got = through("TL_FLOAT", (1, 3, 5, 7), name, "--bgr", "--mean=128")
        check_same(got, (PIXELS[:, :, ::-1].astype("f4") - 128).transpose(2, 0, 1)[None])


def test_grey_and_colour():
    weights = np.array([19595, 38470, 7471])
    grey = (((PIXELS * weights).sum(2) + 32768) >> 16).astype("u1")
    write("p.png", png(PIXELS))
    check_same(through("TL_UINT8", (1, 1, 5, 7), "p.png"), grey[None, None])
    check_same(through("TL_UINT8", (5, 7), "p.png"), grey)
    write("g.png", png(grey[:, :, None]))
    check_same(through("TL_UINT8", (5, 7, 1), "g.png"), grey[:, :, None])
    check_same(through("TL_UINT8", (5, 7, 3), "g.png"), np.repeat(grey[:, :, None], 3, 2))


def test_palettes_and_deep_pixels():
    palette = np.array([[1, 2, 3], [200, 100, 0]], "u1")
    index = PIXELS[:, :, :1] % 2
    for alpha in (None, b"\x80\x00"):
        write("p.png", png(index, palette=palette, alpha=alpha))
        check_same(through("TL_UINT8", (5, 7, 3), "p.png"), palette[index[:, :, 0]])
    write("p.png", png(PIXELS.astype("u2") * 257, depth=16))
    check_same(through("TL_UINT8", (5, 7, 3), "p.png"), PIXELS)


def test_jpeg():
    write("c.jpg", JPEG_COLOUR)
    got = through("TL_UINT8", (8, 8, 3), "c.jpg").astype(int)
    assert (abs(got - [200, 100, 50]) <= 3).all(), got
    write("g.jpg", JPEG_GREY)
    got = through("TL_UINT8", (1, 1, 8, 8), "g.jpg").astype(int)
    assert (abs(got - 120) <= 3).all(), got
    check_same(through("TL_UINT8", (len(JPEG_COLOUR),), "c.jpg"), np.frombuffer(JPEG_COLOUR, "u1"))


def test_pnm_in_grey_and_in_black_and_white():
    grey = PIXELS[:, :, :1]
    for kind, pixels, want in ((2, grey, grey), (5, grey, grey), (5, grey % 8 * 36, grey % 8 * 36),
                               (1, grey % 2, (1 - grey % 2) * 255), (4, grey % 2, (1 - grey % 2) * 255)):
        write("p.pgm", pnm(kind, pixels))
        check_same(through("TL_UINT8", (5, 7, 1), "p.pgm"), want)
    write("p.pgm", pnm(2, grey % 8, 7))
    check_same(through("TL_UINT8", (5, 7, 1), "p.pgm"), np.floor((grey % 8).astype(float) * 255 / 7 + .5).astype("u1"))


def can_read(content, library):
    """Whether the command was built with a library; without it says so."""
    write("probe", content)
    done = subprocess.run([LIGHTNET, "run", model("TL_UINT8", (5, 7, 3)), "-i", "probe"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120, check=False)
    if done.returncode == 0:
        return True
    assert "needs %s when lightnet is built" % library in done.stderr, done.stderr
    print("skipped: the command has no %s" % library)
    return False


def test_tiff():
    if not can_read(tiff(PIXELS), "libtiff"):
        return
    for content in (tiff(PIXELS), tiff(PIXELS, True), tiff(PIXELS, order=">")):
        write("p.tif", content)
        check_same(through("TL_UINT8", (5, 7, 3), "p.tif"), PIXELS)
        for cut in range(8, len(content), 23):
            run("run", "id.net", "-i", write("cut.tif", content[:cut]), code=1, err="cut.tif")
    write("g.tif", tiff(PIXELS[:, :, :1]))
    check_same(through("TL_UINT8", (5, 7, 1), "g.tif"), PIXELS[:, :, :1])
    write("a.tif", tiff(np.concatenate([PIXELS, PIXELS[:, :, :1]], 2), extra=2))
    run("run", "id.net", "-i", "a.tif", code=1, err="a.tif is a TIFF with transparency")
    huge = tiff(PIXELS).replace(struct.pack("<HHII", 256, 4, 1, 7), struct.pack("<HHII", 256, 4, 1, 1 << 31))
    run("run", "id.net", "-i", write("huge.tif", huge), code=1, err="pixels are more than")


# 8 x 4 pixels of (200, 100, 50), without loss.
WEBP = base64.b64decode("UklGRh4AAABXRUJQVlA4TBEAAAAvB8AAAAdQsiJXpv+BiOh/AAA=")


def test_webp():
    net = model("TL_UINT8", (4, 8, 3))
    write("p.webp", WEBP)
    done = subprocess.run([LIGHTNET, "run", net, "-i", "p.webp"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120, check=False)
    if "needs libwebp" in done.stderr:
        print("skipped: the command has no libwebp")
        return
    check_same(through("TL_UINT8", (4, 8, 3), "p.webp"), np.tile(np.array([200, 100, 50], "u1"), (4, 8, 1)))
    for cut in range(12, len(WEBP) - 1):
        run("run", net, "-i", write("cut.webp", WEBP[:cut]), code=1, err="cut.webp")


def decode(content, pixel_format=None, **expected):
    """What ImageDecoder makes of bytes, through a model on both archs."""
    said = "" if pixel_format is None else 'pixel_format="%s"' % pixel_format
    net = write("decode.net", "input(| dst=x | dtype=TL_UINT8, dims=[%d]);\n"
                "ImageDecoder(encoded_stream=x | image=y | %s);\n" % (len(content), said))
    write("x.raw", content)
    if expected:
        run("run", net, "-i", "x.raw", code=1, **expected)
        return None
    run("compare", net, "-i", "x.raw", out="give the same")
    run("run", net, "-i", "x.raw", "-o", "out")
    return np.load("out/y.npy")


def test_models_decode_pictures():
    weights = np.array([19595, 38470, 7471])
    grey = (((PIXELS * weights).sum(2) + 32768) >> 16).astype("u1")[:, :, None]
    for content in (png(PIXELS), bmp(PIXELS), pnm(6, PIXELS)):
        check_same(decode(content), PIXELS)
        check_same(decode(content, "RGB"), PIXELS)
        check_same(decode(content, "BGR"), PIXELS[:, :, ::-1])
        check_same(decode(content, "Grayscale"), grey)
    check_same(decode(png(grey), "BGR"), np.repeat(grey, 3, 2))
    check_same(decode(png(grey), "Grayscale"), grey)


def test_what_models_cannot_decode():
    decode(png(PIXELS), "CMYK", err="pixel_format is 'CMYK' instead of RGB, BGR or Grayscale")
    decode(b"", err="encoded_stream is no picture in JPEG, PNG, BMP, PNM, WebP or TIFF")
    decode(b"just text", err="encoded_stream is no picture")
    decode(b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(20), err="encoded_stream is in JPEG 2000, which is not supported")
    decode(png(PIXELS)[:100], err="encoded_stream")
    decode(pnm(6, PIXELS)[:50], err="encoded_stream is cut off")
    decode(b"P5 0 5 255\n", err="a picture of 0 x 5 pixels")
    decode(b"P5 60000 60000 255\n", err="pixels are more than")
    decode(b"P5 6000 6000 255\n", err="cannot hold 6000 x 6000 pixels")
    decode(b"P2 1 2 255\n7 x", err="encoded_stream is cut off, or has what is no number")
    decode(b"P2 1 1 255\n99999", err="encoded_stream is cut off, or has what is no number")
    net = write("flat.net", "input(| dst=x | dtype=TL_UINT8, dims=[2, 3]);\nImageDecoder(encoded_stream=x | image=y |);\n")
    run("inspect", net, code=1, err="encoded_stream has 2 dimensions instead of 1")


def scale_axis(pixels, size):
    """Triangle filter as wide as a pixel of the smaller picture, along the first axis."""
    old = pixels.shape[0]
    reach = max(1, old / size)
    middle = (np.arange(size) + .5) * old / size
    weight = np.maximum(0, 1 - abs((np.arange(old) + .5)[None] - middle[:, None]) / reach)
    weight /= weight.sum(1, keepdims=True)
    return np.tensordot(weight, pixels, 1)


def test_pictures_are_scaled():
    write("p.png", png(PIXELS))
    for height, width in ((3, 4), (9, 14), (5, 2), (1, 1)):
        rows = np.floor(scale_axis(PIXELS.transpose(1, 0, 2).astype(float), width) + .5).transpose(1, 0, 2)
        want = np.floor(scale_axis(rows, height) + .5)
        got = through("TL_UINT8", (height, width, 3), "p.png", "--layout=nhwc")
        assert abs(got - want).max() <= 1, (got, want)
        assert (got != want).mean() < .02
    run("run", model("TL_UINT8", (5, 7, 3)), "-i", "p.png", "--resize=4x4", code=1, err="takes 7 x 5")


def test_what_no_picture_can_be():
    write("p.png", png(PIXELS))
    for dims, err in (((2, 3, 5, 7), "takes 2"), ((1, 4, 5, 7, 3), "5 dimensions"), ((1, 4, 5, 7), "4 channels"),
                      ((3, 0, 5), "empty")):
        run("run", model("TL_FLOAT", dims), "-i", "p.png", code=1, err=err)
    for option in ("--mean=1,2", "--mean=x", "--scale=1,2,3,4", "--layout=abc", "--resize=10", "--resize=0x1"):
        run("run", "id.net", "-i", "p.png", option, code=2, err=option.split("=")[0])


def test_damaged_pictures():
    net = model("TL_FLOAT", (1, 3, 5, 7))
    for name, whole in (("cut.png", png(PIXELS)), ("cut.jpg", JPEG_COLOUR), ("cut.bmp", bmp(PIXELS))):
        for cut in range(60, len(whole) - 2, 11):
            run("run", net, "-i", write(name, whole[:cut]), code=1, err=name)
    header = struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
    huge = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + header
    huge += struct.pack(">I", zlib.crc32(b"IHDR" + header)) + struct.pack(">I", 0) + b"IDAT" + bytes(4)
    run("run", net, "-i", write("huge.png", huge), code=1, err="huge.png")
    wide = bytearray(JPEG_GREY)
    at = wide.index(b"\xff\xc0\x00\x0b\x08")
    for size, err in ((b"\xff\xdc\xff\xdc", "pixels are more than"), (b"\x00\xff\xff\x08", "cannot hold 65288 x 255"),
                      (b"\x00\x10\x00\x10", "huge.jpg")):
        wide[at + 5:at + 9] = size
        run("run", net, "-i", write("huge.jpg", bytes(wide)), code=1, err=err)


# ---- Sound ----

def wav(samples, rate=16000, code=1, bits=16, extensible=False, size=None):
    """A WAV file of an array [samples, channels] of raw sample bytes."""
    channels = samples.shape[1]
    data = samples.tobytes() if bits != 24 else b"".join(
        int(s).to_bytes(3, "little", signed=True) for s in samples.ravel())
    head = struct.pack("<HHIIHH", 0xfffe if extensible else code, channels, rate, rate * channels * bits // 8,
                       channels * bits // 8, bits)
    if extensible:
        head += struct.pack("<HHIH", 22, bits, 0, code) + bytes(14)
    chunks = b"fmt " + struct.pack("<I", len(head)) + head + b"LIST\3\0\0\0abc\0"
    chunks += b"data" + struct.pack("<I", len(data) if size is None else size) + data
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def test_sound():
    values = np.array([[0], [16384], [-32768], [32767]])
    want = (values[:, 0] / 32768).astype("f4")
    write("s.wav", wav(values.astype("<i2")))
    check_same(through("TL_FLOAT", (4,), "s.wav"), want)
    check_same(through("TL_FLOAT", (1, 4), "s.wav"), want[None])
    check_same(through("TL_INT16", (4,), "s.wav"), values[:, 0].astype("i2"))
    check_same(through("TL_FLOAT", (4,), write("x.wav", wav(values.astype("<i2"), extensible=True))), want)
    check_same(through("TL_FLOAT", (4,), write("p.wav", wav(values.astype("<i2"), size=0xffffffff))), want)
    check_same(through("TL_FLOAT", (4,), write("w.wav", wav(values * 256, bits=24))), want)
    check_same(through("TL_FLOAT", (4,), write("l.wav", wav((values * 65536).astype("<i4"), bits=32))), want)
    byte = np.array([[128], [0], [255], [192]], "u1")
    check_same(through("TL_FLOAT", (4,), write("b.wav", wav(byte, bits=8))),
               ((byte[:, 0].astype("f4") - 128) / 128).astype("f4"))
    for kind, bits in (("<f4", 32), ("<f8", 64)):
        exact = np.array([[.25, .75], [-1, 1]], kind)
        check_same(through("TL_FLOAT", (2,), write("f.wav", wav(exact, code=3, bits=bits))),
                   exact.mean(1).astype("f4"))


def test_sound_that_does_not_fit():
    write("s.wav", wav(np.zeros((4, 1), "<i2")))
    run("run", model("TL_FLOAT", (5,)), "-i", "s.wav", code=1, err="has 4 samples, input 'x' takes 5")
    run("run", model("TL_FLOAT", (2, 2)), "-i", "s.wav", code=1, err="2 dimensions")
    run("run", model("TL_FLOAT", (4,)), "-i", "s.wav", "--rate=8000", code=1, err="16000 samples a second, not 8000")
    run("run", model("TL_FLOAT", (4,)), "-i", "s.wav", "--rate=16000")
    run("run", "id.net", "-i", write("u.wav", wav(np.zeros((4, 1), "<i2"), code=2)), code=1, err="format 2")
    whole = wav(np.zeros((4, 1), "<i2"))
    for cut in range(20, len(whole), 3):
        run("run", "id.net", "-i", write("cut.wav", whole[:cut]), code=1, err="cut.wav")


# ---- Outputs ----

def test_classes_are_named():
    write("labels.txt", "cat\ndog\r\nfish\x1b[2J\n")
    np.save("in.npy", np.array([[.1, np.nan, .7]], "f4"))
    done = run("run", model("TL_FLOAT", (1, 3)), "-i", "in.npy", "--labels=labels.txt")
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("    ")]
    assert rows == [["1.", "0.7", "2", "fish\\x1b[2J"], ["2.", "0.1", "0", "cat"], ["3.", "nan", "1", "dog"]], rows
    done = run("run", "id.net", "-i", "in.npy", "--top=1")
    assert [line.split() for line in done.stdout.splitlines() if line.startswith("    ")] == [["1.", "0.7", "2"]]
    run("run", "id.net", "-i", "in.npy", "--labels=missing", code=1, err="missing")
    run("run", "id.net", "-i", "in.npy", "--top=0", code=2, err="--top")


# ---- Presets, cameras, proportions ----

def test_presets_of_pictures():
    """Their numbers, the order of the channels, and what goes before them."""
    pixels = np.array([[[0, 128, 255], [10, 20, 30]]], "u1")
    write("p.png", png(pixels))
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    caffe = np.array([103.939, 116.779, 123.68])
    for args, want, said in (
            (["--preset=imagenet"], (pixels / 255 - mean) / deviation, "RGB, values -2.118..2.64 (preset imagenet)"),
            (["--preset=caffe"], pixels[..., ::-1] - caffe, "BGR, values -123.7..151.1 (preset caffe)"),
            (["--preset=unit"], pixels / 255, "RGB, values 0..1 (preset unit)"),
            (["--preset=signed"], pixels / 127.5 - 1, "RGB, values -1..1 (preset signed)"),
            (["--preset=imagenet", "--bgr"], ((pixels / 255 - mean) / deviation)[..., ::-1], "BGR"),
            (["--scale=2", "--preset=caffe"], (pixels[..., ::-1] - caffe) * 2, "(preset caffe, --scale)"),
            (["--preset=signed", "--mean=0"], pixels / 127.5, "values 0..2 (preset signed, --mean)"),
            ([], pixels, "picture p.png 2x1 -> 2x1, RGB, values 0..255 (no preset)")):
        done = run("run", model("TL_FLOAT", (1, 2, 3)), "-i", "p.png", "-o", "out", "--layout=nhwc", *args, err=said)
        assert np.allclose(np.load("out/y.npy"), want, rtol=1e-6, atol=1e-6), (args, done)
    run("run", model("TL_FLOAT", (1, 1, 2)), "-i", "p.png", "--preset=caffe", code=1, err="is for three channels")
    run("run", model("TL_FLOAT", (1, 1, 2)), "-i", "p.png", "--preset=unit", err="grey, values 0..1")
    run("run", model("TL_FLOAT", (1, 2, 3)), "-i", "p.png", "--preset=resnet", code=2, err="imagenet, caffe, unit or signed")


def test_pixels_that_an_input_of_bytes_does_not_hold_are_questioned():
    """Integers that are bounded or rounded are wrong classes without a fault; whole pixels pass without a word."""
    pixels = np.array([[[0, 128, 255], [10, 20, 30]]], "u1")
    write("p.png", png(pixels))
    write("classes.txt", "one\ntwo\nthree\n")
    for dtype, args, want, said in (
            ("TL_INT8", [], [0, 127, 127, 10, 20, 30], "'x' is int8: values 0..255 become integers of -128 to 127; if it takes whole pixels, give --mean=128 alone"),
            ("TL_INT8", ["--mean=128"], pixels - 128.0, None),
            ("TL_INT8", ["--mean=127.5"], None, None),
            ("TL_INT8", ["--mean=126"], pixels.clip(0, 253) - 126.0, "values -126..129 become"),
            ("TL_INT8", ["--mean=130"], pixels.clip(2) - 130.0, "values -130..125 become"),
            ("TL_INT8", ["--preset=unit"], None, "values 0..1 become integers of -128 to 127"),
            ("TL_UINT8", [], pixels, None),
            ("TL_UINT8", ["--scale=0.48"], None, "values 0..122.4 become"),
            ("TL_UINT8", ["--scale=0.5"], None, None),
            ("TL_UINT8", ["--scale=1.01"], None, "values 0..257.6 become"),
            ("TL_UINT8", ["--preset=signed"], None, "'x' is uint8: values -1..1 become integers of 0 to 255; if it takes whole pixels, leave out --mean, --scale and --preset"),
            ("TL_FLOAT", [], pixels, None), ("TL_FLOAT", ["--preset=unit"], pixels / 255, None), ("TL_INT16", ["--preset=signed"], None, None)):
        done = run("run", model(dtype, (1, 2, 3)), "-i", "p.png", "-o", "out", "--layout=nhwc", *args, err=said or "picture")
        assert ("become integers" in done.stderr) == bool(said), (dtype, args, done)
        assert want is None or np.allclose(np.load("out/y.npy").ravel(), np.ravel(want)), (dtype, args)
    # Presets are for numbers, and so are never advised for bytes.
    for dtype, is_advised in (("TL_FLOAT", True), ("TL_FLOAT16", True), ("TL_INT8", False), ("TL_UINT8", False)):
        done = run("run", model(dtype, (1, 1, 3)), "-i", "p.png", "--labels=classes.txt", "--layout=nhwc", out="two")
        assert ("try --preset" in done.stderr) == is_advised, (dtype, done)


def jpeg_of_blocks(values, exif=b""):
    """A grey JPEG: each value of the matrix is a block of 8 x 8 pixels."""
    def segment(marker, data):
        return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
    height, width = values.shape
    bits, last = "", 0
    for value in values.ravel():
        step, last = int(value) - 128 - last, int(value) - 128
        size = abs(step).bit_length()
        bits += format(size, "04b") + (format(step if step > 0 else step + (1 << size) - 1, "0%db" % size) if size else "") + "0"
    bits += "1" * (-len(bits) % 8)
    data = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    return (b"\xff\xd8" + (segment(0xe1, exif) if exif else b"") + segment(0xdb, b"\0" + b"\x08" * 64) +
            segment(0xc0, struct.pack(">BHHBBBB", 8, 8 * height, 8 * width, 1, 1, 0x11, 0)) +
            segment(0xc4, b"\0" + bytes([0, 0, 0, 10] + [0] * 12) + bytes(range(10))) +
            segment(0xc4, b"\x10" + bytes([1] + [0] * 15) + b"\0") + segment(0xda, b"\1\1\0\0\x3f\0") + data + b"\xff\xd9")


def exif(orientation, order="<", entries=1, offset=8, kind=3):
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return (b"Exif\0\0" + mark + struct.pack(order + "I", offset) + struct.pack(order + "H", entries) +
            struct.pack(order + "HHIHH", 0x112, kind, 1, orientation, 0))


def test_pictures_are_turned_as_the_camera_was():
    blocks = np.array([[10, 60], [110, 160], [210, 250]])
    turns = {1: blocks, 2: blocks[:, ::-1], 3: blocks[::-1, ::-1], 4: blocks[::-1], 5: blocks.T,
             6: np.rot90(blocks, -1), 7: blocks[::-1, ::-1].T, 8: np.rot90(blocks)}
    for orientation, want in turns.items():
        for order in "<>":
            write("turned.jpg", jpeg_of_blocks(blocks, exif(orientation, order)))
            shape = (8 * want.shape[0], 8 * want.shape[1])
            got = through("TL_UINT8", shape, "turned.jpg")
            assert (got[4::8, 4::8] == want).all(), (orientation, got[4::8, 4::8], want)
    # What is no orientation leaves the picture as it is; nothing is read past the end.
    for bad in (exif(9), exif(0), exif(6, kind=4), exif(6, offset=0xfffffff0), exif(6, offset=22), exif(6, entries=0),
                exif(6)[:20], exif(6)[:13], b"Exif\0\0", b"Exif\0\0XX*\0" + exif(6)[10:], b"http://ns.adobe.com/xap/1.0/\0"):
        write("bad.jpg", jpeg_of_blocks(blocks, bad))
        assert (through("TL_UINT8", (24, 16), "bad.jpg")[4::8, 4::8] == blocks).all(), bad


def test_pictures_are_cropped_and_letterboxed():
    wide = np.zeros((4, 8, 1), "u1")
    wide[:, :1], wide[:, 1:7], wide[:, 7:] = 200, 100, 50
    write("wide.png", png(wide))
    box = through("TL_UINT8", (8, 8), "wide.png", "--letterbox=7")
    assert (box[:2] == 7).all() and (box[6:] == 7).all() and (box[2:6] == wide[..., 0]).all(), box
    crop = through("TL_UINT8", (4, 4), "wide.png", "--crop")
    assert (crop == 100).all(), crop
    squashed = through("TL_UINT8", (4, 4), "wide.png")
    assert squashed[0, 0] > 110 > 90 > squashed[0, 3], squashed
    ramp = np.arange(16, dtype="u1")[:, None, None] * 16 + np.zeros((16, 16, 1), "u1")
    write("ramp.png", png(ramp))
    whole = through("TL_UINT8", (16, 16), "ramp.png", "--crop=1")
    assert (whole == ramp[..., 0]).all(), whole
    half = through("TL_UINT8", (8, 8), "ramp.png", "--crop=0.5")
    assert (half == ramp[4:12, 4:12, 0]).all(), half
    assert (through("TL_UINT8", (14, 14), "ramp.png", "--crop") == ramp[1:15, 1:15, 0]).all()
    for bad in ("0", "1.5", "x", "nan", "-1"):
        run("run", model("TL_UINT8", (4, 4)), "-i", "wide.png", "--crop=" + bad, code=2, err="ratio from 0.01 to 1")
    run("run", model("TL_UINT8", (4, 4)), "-i", "wide.png", "--crop", err="8x4 -> 4x4, cropped, grey")
    run("run", model("TL_UINT8", (4, 4)), "-i", "wide.png", "--crop", "--letterbox=0", code=2, err="give one")
    run("run", model("TL_UINT8", (4, 4)), "-i", "wide.png", "--letterbox=256", code=2, err="grey from 0 to 255")


def test_values_on_the_command_line():
    for dtype, dims, text, want in (("TL_INT64", [], "16000", "16000"), ("TL_INT64", [1], "16000", "[16000]"),
                                    ("TL_FLOAT", [3], "[1,2.5,-3e2]", "[1 2.5 -300]"),
                                    ("TL_FLOAT", [1, 2, 2], "[[1, 2], [3, 4]]", "[[[1 2]\n  [3 4]]]"),
                                    ("TL_BOOL", [2], "[true,false]", "[1 0]"), ("TL_FLOAT", [2, 2], "fill:0.5", "[[0.5 0.5]\n [0.5 0.5]]"),
                                    ("TL_UINT8", [1], "255", "[255]")):
        done = run("run", model(dtype, dims), "-i", "x=" + text)
        assert want in done.stdout, (text, done.stdout)
    for dtype, dims, text, err in (("TL_UINT8", [1], "256", "does not hold 256"), ("TL_INT32", [1], "1.5", "does not hold 1.5"),
                                   ("TL_FLOAT", [2], "1", "the value is one number, input 'x' takes [2]; fill:NUMBER gives it to all elements"),
                                   ("TL_FLOAT", [2, 3], "[[1,2],[3,4],[5,6]]", "np.transpose(x, (1, 0))"),
                                   ("TL_FLOAT", [2], "[1,2", "a comma or ] is expected"), ("TL_FLOAT", [3], "[[1],2,3]", "side by side"),
                                   ("TL_FLOAT", [1], "imagee.png", "cannot open"), ("TL_FLOAT", [1], "1x", "is neither a file nor a value; values are numbers"),
                                   ("TL_FLOAT", [1], "fill:[1]", "fill: takes one number"), ("TL_FLOAT", [1], "", "-i x= has neither a file nor a value after it")):
        done = run("run", model(dtype, dims), "-i", "x=" + text, code=1 if text else 2, err=err)
    write("16000", np.array([7], "f4").tobytes())
    run("run", model("TL_FLOAT", [1]), "-i", "16000", out="[7]")
    dynamic = write("any.net", "input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\nIdentity(input=x | output=y |);\n")
    run("run", dynamic, "-i", "x=[1,2,3]", out="[1 2 3]")
    run("run", dynamic, "-i", "x=fill:1", code=1, err="shape is not known; give it with -s")
    run("run", dynamic, "-i", "x=fill:1", "-s", "x=2", out="[1 1]")


def test_a_size_that_came_from_a_picture_is_said_where_a_model_fails():
    write("p.png", png(np.zeros((3, 5, 3), "u1")))
    net = write("fixed.net", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, -1, -1]);\ninput(| dst=z | dtype=TL_FLOAT, dims=[1, 3, 4, 4]);\n"
                "Add(A=x, B=z | C=y |);\n")
    run("run", net, "-i", "x=p.png", "-i", "z=fill:0", code=1, err="came from the picture p.png")
    run("run", net, "-i", "x=p.png", "-i", "z=fill:0", "--resize=4x4", out="y: float32 [1, 3, 4, 4]")


def test_a_size_is_not_blamed_for_what_fails_without_it():
    write("p.png", png(np.zeros((3, 5, 3), "u1")))
    net = write("free.net", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, -1, -1]);\ninput(| dst=z | dtype=TL_FLOAT, dims=[1]);\nAdd(A=x, B=z | C=y |);\n")
    write("names.txt", "cat\n")
    for arguments in (["-i", "x=p.png"], ["-i", "x=p.png", "-i", "z=0", "--labels=names.txt"], ["-i", "x=p.png", "-i", "z=0", "-o", "no/y.npy"],
                      ["-i", "x=p.png", "-i", "z=0", "-f", "none.wts"]):
        assert "came from" not in run("run", net, *arguments, code=1).stderr, arguments


def test_names_with_an_equals_sign():
    """The longest name of an input that the text begins with is meant."""
    equal = write("equal.onnx", ow.model([ow.node("Add", ["a", "a=b"], ["c=d"]), ow.node("Neg", ["a"], ["c"])],
                                         [(name, ow.tensor_type("FLOAT", ["n=m"])) for name in ("a", "a=b")],
                                         [(name, ow.tensor_type("FLOAT", ["n=m"])) for name in ("c=d", "c")]))
    np.save("b=x.npy", np.array([5, 6], "f4"))
    np.save("x.npy", np.array([1, 2], "f4"))
    os.makedirs("k=v", exist_ok=True)
    np.save("k=v/x.npy", np.array([7, 8], "f4"))
    for given, out in (("a=b=x.npy", "[11 22]"), ("a=b=[1,2]", "[11 22]"), ("a=b=k=v/x.npy", "[17 28]")):
        run("run", equal, "-i", given, "-i", "a=[10,20]", out=out)
    run("run", equal, "-i", "a=k=v/x.npy", "-i", "a=b=[0,0]", out="[7 8]")
    run("run", equal, "--zero", "-s", "n=m=3", out="c=d: float32 [3]")
    run("run", equal, "--zero", "-s", "a=b=4", "-s", "a=4", out="c=d: float32 [4]")
    run("run", equal, "--zero", "-s", "a=b=4,a=4", out="c=d: float32 [4]")
    run("run", equal, "-i", "a=b=[1,2]", "-i", "a=[10,20]", "-o", "c=d=e.npy")
    assert np.load("e.npy").tolist() == [11, 22]


def test_several_shapes_in_one_option():
    """A comma before a name begins the next; those before digits belong to the shape."""
    net = write("several.net", 'input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1], names=["n", "h"]);\n'
                               'input(| dst=z | dtype=TL_FLOAT, dims=[-1, 2]);\nrelu(src=x | dst=y |);\nrelu(src=z | dst=q |);\n')
    for given in (["n=1,h=8,z=3x2"], ["x=1,8,z=3,2"], ["z=[3,2],n=1,h=8"], ["h=8,z=3x2", "-s", "n=1"]):
        done = run("run", net, "--zero", "-s", *given, out="y: float32 [1, 8]")
        assert "q: float32 [3, 2]" in done.stdout, given
    run("inspect", net, "-s", "n=1,h=2..4,z=3x2", out="h=4")
    for given, err in (("n=1,q=3", "no input has a dimension 'q'"), ("n=1,n=2", "given twice for one name, with 'n=1' and 'n=2'"),
                       ("n=1,h=", "-s takes NAME=1x3x224x224"), ("n=1,,h=2", "-s takes"), ("n=,h=2", "-s takes")):
        run("run", net, "--zero", "-s", given, code=2 if given.endswith("=") else 1, err=err)
    # An input whose name looks like two options is meant as a whole.
    odd = write("odd.onnx", ow.model([ow.node("Neg", ["n=1,h"], ["y"])], [("n=1,h", ow.tensor_type("FLOAT", ["k"]))], [("y", ow.tensor_type("FLOAT", ["k"]))]))
    run("run", odd, "--zero", "-s", "n=1,h=5", out="y: float32 [5]")


def test_data_have_any_shape_in_a_range():
    """One plan for all shapes; what is not given has the size that the data have."""
    net = write("ranged.net", 'input(| dst=x | dtype=TL_FLOAT, dims=[-1, 2], names=["n", ""]);\n'
                              'input(| dst=z | dtype=TL_FLOAT, dims=[-1, 2], names=["n", ""]);\nAdd(A=x, B=z | C=y |);\n')
    np.save("three.npy", np.arange(6, dtype="f4").reshape(3, 2))
    for command in (["run", net], [net]):
        run(*command, "-i", "x=three.npy", "-i", "z=three.npy", "-s", "n=1..8", out="y: float32 [3, 2] min 0 max 10")
        run(*command, "-i", "x=three.npy", "-i", "z=three.npy", "-s", "n=4..8", code=1, err="is 3, but the model was compiled for 4 to 8")
    run("run", net, "-i", "x=three.npy", "--zero", "-s", "n=1..8", out="y: float32 [3, 2] min 0 max 5")
    run("run", net, "--zero", "-s", "n=1..8", out="y: float32 [8, 2]")
    run("run", net, "-i", "x=fill:1", "--zero", "-s", "n=2..8", out="y: float32 [8, 2] min 1 max 1")
    run("compare", net, "-i", "x=three.npy", "-i", "z=three.npy", "-s", "n=1..8", out="0 deviate")
    run("bench", net, "-i", "x=three.npy", "-i", "z=three.npy", "-s", "n=1..8", "--runs=2", out="2 runs")
    run(net, "-c", "-o", "ranged.json", "-s", "n=1..8")
    run("run", "ranged.json", "-i", "x=three.npy", "-i", "z=three.npy", out="y: float32 [3, 2] min 0 max 10")


def test_zeros_have_the_size_that_a_shape_gives_their_symbol():
    """A shape of one input says the size of a symbol for the zeros of another, as data do."""
    net = write("sum.net", "".join('input(| dst=%s | dtype=TL_FLOAT, dims=[-1, 3], names=["n", ""]);\n' % name for name in "ab") + "Add(A=a, B=b | C=y |);\n")
    np.save("two.npy", np.ones((2, 3), "f4"))
    for given in (["-s", "a=2x3"], ["-s", "b=2x3"], ["-s", "n=2"], ["-i", "a=two.npy"], ["-s", "a=2x3", "-i", "a=two.npy"]):
        run("run", net, "--zero", *given, out="y: float32 [2, 3]")
        run(net, "--zero", *given, out="y: float32 [2, 3]")


def test_a_shape_and_a_symbol_that_contradict_each_other():
    """Two sizes of one dimension are refused, whichever is given first, where both are named."""
    net = write("named.net", 'input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1], names=["n", "h"]);\nrelu(src=x | dst=y |);\n')
    for given, said in ((["x=1x3", "-s", "n=2"], "-s x=1x3 and -s n=2"), (["n=2", "-s", "x=1x3"], "-s x=1x3 and -s n=2"), (["x=1,3,n=2"], "-s x=1,3 and -s n=2"),
                        (["1x3", "-s", "h=4"], "-s 1x3 and -s h=4")):
        done = run("run", net, "--zero", "-s", *given, code=1, err=said)
        assert "dimension %d of input 'x', which is %s" % ((1, "h") if "h=" in said else (0, "n")) in done.stderr, done.stderr
    run("inspect", net, "-s", "x=1x3", "-s", "n=2..4", code=1, err="-s x=1x3 and -s n=2..4 contradict each other")
    run("run", net, "--zero", "-s", "x=2x3", "-s", "n=2", out="y: float32 [2, 3]")
    # The same of a model that is compiled.
    run("-c", "-o", "named.json", net)
    run("run", "named.json", "--zero", "-s", "x=1x3", "-s", "n=2", code=1, err="-s x=1x3 and -s n=2 contradict each other")


def test_options_of_pictures_are_for_one_of_the_inputs():
    write("p.bmp", bmp(np.full((2, 2, 3), 9, "u1")))
    np.save("z.npy", np.zeros((1, 3, 2, 2), "f4"))
    net = write("both.net", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 2, 2]);\ninput(| dst=z | dtype=TL_FLOAT, dims=[1, 3, 2, 2]);\n"
                "Add(A=x, B=z | C=y |);\n")
    run("run", net, "-i", "x=p.bmp", "-i", "z=z.npy", "--mean=8", out="min 1 max 1")
    run("run", net, "-i", "x=z.npy", "-i", "z=z.npy", "--mean=8", code=1, err="--mean has no effect")
    # A model that decodes pictures gets the file.
    run("run", model("TL_UINT8", (os.path.getsize("p.bmp"),)), "-i", "p.bmp", "--mean=8", code=1, err="--mean has no effect")


def test_a_length_that_came_from_a_sound_is_said_where_a_model_fails():
    net = write("piece.net", "input(| dst=x | dtype=TL_FLOAT, dims=[1, -1]);\ninput(| dst=z | dtype=TL_FLOAT, dims=[1, 3]);\n"
                "Add(A=x, B=z | C=y |);\n")
    write("long.wav", wav(np.zeros((5, 1), "<i2")))
    write("piece.wav", wav(np.zeros((3, 1), "<i2")))
    run("run", net, "-i", "x=long.wav", "-i", "z=fill:0", code=1, err="length came from the sound long.wav")
    run("run", net, "-i", "x=piece.wav", "-i", "z=fill:0", out="y: float32 [1, 3]")


def test_numbers_for_other_pixels_are_questioned():
    """Mean and deviation as torchvision has them, for pixels from 0 to 1."""
    write("orange.png", png(np.full((1, 1, 3), (255, 128, 0), "u1")))
    net = write("one.net", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 1, 1]);\nIdentity(input=x | output=y |);\n")
    known, words = ["--mean=0.485,0.456,0.406", "--scale=0.229,0.224,0.225"], "of 0 to 255; if it is one for 0 to 1, give --mean=123.675,116.28,103.53 and --scale=%s\n"
    right = "--scale=0.0171248,0.017507,0.0174292"
    run("run", net, "-i", "orange.png", *known, err=words % right[8:])
    run("run", net, "-i", "orange.png", known[0], err=words % "1 / (255 * deviation)")
    run("run", net, "-i", "orange.png", "--mean=123.675,116.28,103.53", "--scale=58.395,57.12,57.375", err="--scale multiplies; to divide by it, as by a deviation, give " + right)
    for sure in ([], ["--preset=imagenet"], ["--mean=123.675,116.28,103.53", right], ["--scale=1"], ["--mean=0", "--scale=0.00392"], ["--mean=127.5", "--scale=0.00784"]):
        assert "warning" not in run("run", net, "-i", "orange.png", *sure).stderr, sure


def test_a_conversion_is_told_when_it_has_happened():
    np.save("complex.npy", np.complex64([1, 2]))
    assert "converted" not in run("run", model("TL_FLOAT", [2]), "-i", "complex.npy", code=1, err="cannot convert complex64 to float32").stderr
    np.save("long.npy", np.float64([1, 2, 3]))
    assert "converted" not in run("run", model("TL_FLOAT", [2]), "-i", "long.npy", code=1, err="long.npy has shape [3]").stderr
    np.save("double.npy", np.float64([1, 2]))
    run("run", model("TL_FLOAT", [2]), "-i", "double.npy", err="info: double.npy: converted from float64 to float32\n")


def test_folders_of_pictures():
    """One line each, in order; what is broken is counted."""
    os.makedirs("folder/below", exist_ok=True)
    for name, colour in (("b.png", (0, 255, 0)), ("a.png", (255, 0, 0)), ("d.png", (0, 0, 255))):
        write("folder/" + name, png(np.full((2, 2, 3), colour, "u1")))
    write("folder/.hidden", "x")
    means = write("means.net", "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 1, 1]);\nIdentity(input=x | output=y |);\n")
    write("colours.txt", "red\ngreen\nblue\n")
    lines = ["a.png: 255 0 red", "b.png: 255 1 green", "d.png: 255 2 blue"]
    for given in ("folder", "x=folder/"):
        done = run("run", means, "-i", given, "--labels", "colours.txt", "-o", "each")
        assert done.stdout.splitlines() == lines and done.stderr.count("picture") == 1, done
        assert np.load("each/b.png/y.npy").ravel().tolist() == [0, 255, 0]
    write("folder/c.png", b"\x89PNG\r\n\x1a\n")
    write("folder/0.png", b"broken")
    done = run("run", means, "-i", "folder", "--labels", "colours.txt", code=1, err="2 of 5 files failed")
    assert done.stdout.splitlines() == lines and "folder/0.png" in done.stderr and "folder/c.png" in done.stderr, done
    os.remove("folder/c.png")
    os.remove("folder/0.png")
    run("run", means, "-i", "folder", "--top=2", out="a.png: 255 0, 0 1\n")
    run("run", means, "-i", "folder", out="a.png: y [1, 3, 1, 1] min 0 max 255 mean 85\n")
    run("run", means, "-i", "folder/below", code=1, err="folder folder/below has no files")
    run("run", means, "-i", "folder", "-i", "x=folder", code=1, err="are folders; one input may be one")
    dynamic = write("sizes.net", "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 3, -1, -1]);\nIdentity(input=x | output=y |);\n")
    run("run", dynamic, "-i", "folder", code=1, err="those of a folder need one: --resize=WxH")
    run("run", dynamic, "-i", "folder", "--resize=2x2", out="d.png: y [1, 3, 2, 2] min 0 max 255")


def test_a_folder_of_outputs_is_the_data_of_a_run():
    """What `run -o` wrote is taken by every command that takes data, and by `verify` as expected values."""
    pair = ow.tensor_type("FLOAT", [2])
    first = write("first.onnx", ow.model([ow.node("Neg", ["x"], ["a"]), ow.node("Identity", ["x"], ["b/b"])], [("x", pair)],
                                         [("a", pair), ("b/b", pair)]))
    second = write("second.onnx", ow.model([ow.node("Sub", ["a", "b/b"], ["z"])], [("a", pair), ("b/b", pair)], [("z", pair)]))
    third = write("third.net", "input(| dst=q | dtype=TL_FLOAT, dims=[2]);\nAbs(X=q | Y=r |);\n")
    run("run", first, "-i", "[1,2]", "-o", "stage")
    assert sorted(os.listdir("stage")) == ["a.npy", "output_1.npy", "outputs.json"]
    for given in (["stage"], ["stage/"], ["a=stage", "b/b=stage"], ["a=[-1,-2]", "b/b=stage/"]):
        options = [word for text in given for word in ("-i", text)]
        run("run", second, *options, out="z: float32 [2] min -4 max -2 mean -3\n[-2 -4]\n")
        run(second, *options, out="[-2 -4]")
    for command in ("compare", "bench", "opt", "blame"):
        run(command, *(["--runs=1", "--warmup=1"] if command == "bench" else []), second, "-i", "stage")
    run("run", second, "-i", "stage", "-o", "last")
    run("run", third, "-i", "last", out="[2 4]")  # of one input and one output, names need not agree
    run("run", third, "-i", "q=last", out="[2 4]")
    run("run", third, "-i", "stage", code=1, err="none of the 2 outputs in stage has the name of an input; name its file: -i NAME=stage/FILE.npy")
    run("run", third, "-i", "q=stage", code=1, err="none of the 2 outputs in stage is a tensor of the name 'q'; name its file: -i q=stage/FILE.npy")
    run("run", second, "-i", "stage", "-i", "a=[1,2]", code=1, err="input 'a' is given twice")


def test_a_folder_of_outputs_is_what_verify_expects():
    os.makedirs("case/test_data_set_0", exist_ok=True)
    write("case/model.onnx", ow.model([ow.node("Neg", ["x"], ["y"])], [("x", ow.tensor_type("FLOAT", [2]))], [("y", ow.tensor_type("FLOAT", [2]))]))
    np.save("case/test_data_set_0/input_0.npy", np.float32([1, 2]))
    run("verify", "case", out="the model as it was read")
    run("run", "case/model.onnx", "-i", "case/test_data_set_0/input_0.npy", "-o", "case/test_data_set_0")
    assert "as it was read" not in run("verify", "case", out="pass  set 0 output 0 y: float32 [2]").stdout
    np.save("case/test_data_set_0/y.npy", np.float32([1, -2]))
    run("verify", "case", code=1, out="WRONG set 0 output 0 y: -1 instead of 1")


def test_a_broken_list_of_outputs_is_refused():
    net = write("listed.net", "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nIdentity(input=x | output=y |);\n")
    os.makedirs("listed", exist_ok=True)
    np.save("listed/x.npy", np.float32([1, 2]))
    for text, words in (('[{"name": "x", "file": "x.npy"}]', ""), ('[{"name": "x", "file": "../x.npy"}]', 'names a file "../x.npy" outside the folder'),
                        ('[{"name": "x", "file": "x.npy"', "listed/outputs.json is cut off"), ('[{"name": "x', "is cut off"), ("[", "is cut off"),
                        ('[null, {"name": "x", "items": [{"name": "x", "file": "x.npy"}]}]', "none of the 2 outputs"), ("[]", "none of the 0 outputs"),
                        ('[{"file": "x.npy", "name": "x", "more": ["file", {"file": 1}]}, null]', ""), ('[{"name": "x", "file": ""}]', "outside the folder")):
        write("listed/outputs.json", text)
        run("run", net, "-i", "listed", code=1 if words else 0, err=words, out="" if words else "[1 2]")


def test_an_array_is_not_reinterpreted():
    """Dimensions of 1 come and go; another order is refused, with the transpose that would fit."""
    picture = np.tile(np.array([10, 20, 30], "f4"), (1, 2, 2, 1))
    np.save("nhwc.npy", picture)
    np.save("nchw.npy", picture.transpose(0, 3, 1, 2))
    chw = model("TL_FLOAT", [1, 3, 2, 2])
    run("run", chw, "-i", "nchw.npy", out="[1, 3, 2, 2] min 10 max 30")
    run("run", chw, "-i", "nhwc.npy", code=1, err="nhwc.npy has shape [1, 2, 2, 3], input 'x' takes "
        "[1, 3, 2, 2]; transpose it with axes 0,3,1,2: np.transpose(x, (0, 3, 1, 2))")
    np.save("hwc.npy", picture[0])
    run("run", chw, "-i", "hwc.npy", code=1, err="np.transpose(x, (2, 0, 1))")
    np.save("row.npy", np.arange(12, dtype="f4"))
    run("run", chw, "-i", "row.npy", code=1, err="shape [12], input 'x' takes [1, 3, 2, 2]; if its elements "
        "are in that order, reshape it: np.reshape(x, (1, 3, 2, 2))")
    write("row.raw", np.arange(12, dtype="f4").tobytes())
    run("run", chw, "-i", "row.raw", out="min 0 max 11")

    dynamic = write("dynamic.net", "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 3, -1, -1]);\nIdentity(input=x | output=y |);\n"
                    "output(src=y | |);\n")
    np.save("chw.npy", picture[0].transpose(2, 0, 1))
    run("run", dynamic, "-i", "chw.npy", out="[1, 3, 2, 2] min 10 max 30")
    np.save("wide.npy", np.zeros((1, 4, 5, 3), "f4"))
    run("run", dynamic, "-i", "wide.npy", code=1, err="shape [1, 4, 5, 3], input 'x' takes [?, 3, ?, ?]; "
        "transpose it with axes 0,3,1,2")
    np.savez("x.npz", x=picture)
    run("run", chw, "-i", "x.npz", code=1, err="transpose it with axes 0,3,1,2")
    grey = model("TL_FLOAT", [1, 1, 28, 28])
    np.save("grey.npy", np.arange(784, dtype="f4").reshape(1, 28, 28, 1))
    run("run", grey, "-i", "grey.npy", out="[1, 1, 28, 28] min 0 max 783")


def test_shapes_on_the_command_line():
    np.save("in.npy", np.zeros((1, 3), "f4"))
    run("run", model("TL_FLOAT", (1, 3)), "-i", "in.npy", "-s", "nonsense", code=2, err="SYMBOL=4")
    run("run", "id.net", "-i", "in.npy", "-s", "q=1x2", code=1, err="no input 'q'")


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C.UTF-8"
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test()
                print("ok   " + name)
