# SPDX-License-Identifier: Apache-2.0
"""Formulas of rescale: each rounding from its published definition, in integers of any size and exact fractions.

`make_formulas.py` calls add_all; see README.md.
"""

from fractions import Fraction
from math import floor

from make_formulas import DTYPES, Case, single, tensor

LEAST, MOST = -2**31, 2**31 - 1


def bounded(x, low, high):
    return min(max(x, low), high)


def nearest_up(x):
    """Ties upwards."""
    return floor(x + Fraction(1, 2))


def nearest_away(x):
    return nearest_up(x) if x >= 0 else -nearest_up(-x)


def q31(x, left, multiplier, shift):
    """gemmlowp: SaturatingRoundingDoublingHighMul, then RoundingDivideByPOT."""
    x = bounded(x * 2**(left + max(shift, 0)), LEAST, MOST)
    high = min(nearest_up(Fraction(x * multiplier, 2**31)), MOST)
    return nearest_away(Fraction(high, 2**max(-shift, 0)))


def q31_single(x, left, multiplier, shift):
    """TensorFlow Lite with TFLITE_SINGLE_ROUNDING."""
    return nearest_up(Fraction(bounded(x * 2**left, LEAST, MOST) * multiplier) / Fraction(2)**(31 - shift))


def q15(x, left, multiplier, shift):
    """TensorFlow Lite's MultiplyByQuantizedMultiplier of int64: the multiplier is rounded to 16 bits."""
    x = bounded(x * 2**left, -2**47, 2**47 - 1)
    reduced = 0x7FFF if multiplier >= 0x7FFF0000 else nearest_up(Fraction(multiplier, 2**16))
    return nearest_up(Fraction(x * reduced, 2**(15 - shift)))


def shift_only(x, left, multiplier, shift):
    """CVM's right shift."""
    return nearest_up(Fraction(x, 2**shift))


def of_float(x, left, multiplier, shift):
    product = Fraction(single(single(x) * multiplier))
    return round(product)  # ties to even


def away(x, left, multiplier, shift):
    return nearest_away(Fraction(single(single(x) * multiplier)))


FORMULAS = {'float': of_float, 'away': away, 'q31': q31, 'q31_single': q31_single, 'q15': q15, 'shift': shift_only}
EDGES = [0, 1, -1, 2, -2, 3, -3, LEAST, MOST, LEAST + 1, MOST - 1, 2**30, -2**30, 2**20 + 1, -2**24 - 1]


def case_of(name, rounding, src, dst, numbers, axis=None, left=0, zeros=(None, None), low=None, high=None):
    """`numbers`: (multiplier, shift) for each index of the axis, or one."""
    case = Case(f'rescale_{name}')
    limits = DTYPES[src][2:]
    dims = [3, len(numbers) if axis == 1 else 4, len(numbers) if axis == 2 else 11]
    _, _, x = case.some('x', dims, src, max(limits[0], -2**40), min(limits[1], 2**40))
    for i, edge in enumerate(EDGES):
        x[7 * i % len(x)] = bounded(edge, *limits)
    ins, shape = {'src': 'x'}, [len(numbers)] if axis else []
    if rounding != 'shift':
        dtype = 'TL_FLOAT' if rounding in ('float', 'away') else 'TL_INT32'
        case.give('m', tensor(dtype, shape, [m for m, _ in numbers]), True)
        ins['multiplier'] = 'm'
    if rounding not in ('float', 'away'):
        case.give('s', tensor('TL_INT32', shape, [s for _, s in numbers]), True)
        ins['shift'] = 's'
    for key, zero, dtype in (('src_zero', zeros[0], src), ('dst_zero', zeros[1], dst)):
        if zero is not None:
            case.give(key, tensor(dtype, [], [zero]), True)
            ins[key] = key
    params = {'rounding': rounding}
    for key, value in (('axis', axis), ('left', left or None), ('low', low), ('high', high),
                       ('output_dtype', dst if zeros[1] is None and dst != 'TL_INT32' else None)):
        if value is not None:
            params[key] = value
    case.op('rescale', ins, {'dst': 'dst'}, **params)
    least, most = DTYPES[dst][2:]
    least, most = max(least, least if low is None else low), min(most, most if high is None else high)
    inner = dims[2] if axis == 1 else 1
    y = []
    for i, value in enumerate(x):
        m, s = numbers[i // inner % len(numbers)]
        y.append(bounded(FORMULAS[rounding](value - (zeros[0] or 0), left, m, s) + (zeros[1] or 0), least, most))
    case.expect(dst=tensor(dst, dims, y))


def add_all():
    floats = [(single(m), 0) for m in (0.5, -0.5, 0.00123, 1.5)]
    for rounding in ('float', 'away'):
        case_of(f'{rounding}', rounding, 'TL_INT32', 'TL_INT8', floats[:1], zeros=(None, 3))
        case_of(f'{rounding}_channels', rounding, 'TL_INT32', 'TL_INT32', floats, axis=1)
        case_of(f'{rounding}_small', rounding, 'TL_INT8', 'TL_UINT8', floats[:1], zeros=(-3, 128), low=100, high=180)
        case_of(f'{rounding}_wide', rounding, 'TL_INT64', 'TL_INT16', [(single(1e-8), 0)])
    multipliers = [2**30, MOST, 1717986918, -2**30 - 7, 0x7FFEFFFF, LEAST, 0]
    for rounding in ('q31', 'q31_single', 'q15'):
        most = 7 if rounding == 'q15' else 30
        channels = list(zip(multipliers, (0, -1, -9, most, -31, 0, 3)))
        case_of(f'{rounding}', rounding, 'TL_INT32', 'TL_INT8', [(1288490189, -20)], zeros=(None, -7))
        case_of(f'{rounding}_one', rounding, 'TL_INT32', 'TL_INT32', [(2**30, 0)])
        case_of(f'{rounding}_channels', rounding, 'TL_INT32', 'TL_INT32', channels, axis=1)
        case_of(f'{rounding}_last', rounding, 'TL_INT64', 'TL_INT64', channels, axis=2)
        case_of(f'{rounding}_left', rounding, 'TL_INT16', 'TL_INT32', [(1555555555, -3)], left=15, zeros=(100, None))
        case_of(f'{rounding}_bounds', rounding, 'TL_INT16', 'TL_INT16', [(2**30 + 12345, 1)], low=-600, high=9000)
        case_of(f'{rounding}_unsigned', rounding, 'TL_UINT8', 'TL_UINT16', [(2**30 + 12345, 6)], zeros=(200, 5))
    case_of('shift', 'shift', 'TL_INT32', 'TL_INT8', [(0, 24)])
    case_of('shift_channels', 'shift', 'TL_INT64', 'TL_INT64', [(0, s) for s in (0, 1, 5, 62)], axis=1)
    case_of('shift_bounds', 'shift', 'TL_INT32', 'TL_INT32', [(0, 8)], low=-127, high=127)
