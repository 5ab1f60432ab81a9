#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of the time of even sampling its error needs, if windows get time by what they are known to bring: the limit of
`allocate: adaptive`, from ensembles that ran, all of their repeats together.

What windows bring are MBAR's influences (engine/estimate/estimators/mbar.c), their g the integrated autocorrelation of all rows, by initial
positive and monotone sums (C. J. Geyer, Stat. Sci. 7, 473 (1992), doi 10.1214/ss/1177011137).

Usage: allocation_limit.py ENSEMBLE... [--floor N] [--weighed]     needs numpy
ENSEMBLE: folders of the same windows, repeat_*/lambda_*/dhdl.xvg, at 298.15 K. --floor: every window has a N-th of an even share at
least, 4. --weighed: MBAR counts a row as 1/g of one.
"""
import argparse
import glob
import os

import numpy

KT = 8.31446261815324e-3 * 298.15
TURNS, VARY, SHARE, LAGS = 10, 0.1, 1500.0, 400


def load(folders):
    """[window][series] of reduced energies at all windows, [rows][windows]; less the first row, of before a step."""
    names = sorted({os.path.basename(path) for folder in folders for path in glob.glob(f"{folder}/repeat_*/lambda_*")})
    series = []
    for name in names:
        paths = sorted(path for folder in folders for path in glob.glob(f"{folder}/repeat_*/{name}/dhdl.xvg"))
        series.append([numpy.loadtxt(path, comments=["#", "@"])[1:, 3:3 + len(names)] / KT for path in paths])
    return series


def inefficiency(parts):
    """Of series about their common mean."""
    mean, lags = numpy.mean(numpy.concatenate(parts)), min(LAGS, min(map(len, parts)) - 2)
    c = sum(numpy.array([(part[:len(part) - t] - mean) @ (part[t:] - mean) for t in range(lags)]) for part in parts)
    c /= sum(len(part) - numpy.arange(lags) for part in parts)
    total, before = -c[0], numpy.inf
    for k in range(0, lags - 1, 2):
        before = min(before, c[k] + c[k + 1])
        if before <= 0:
            break
        total += 2 * before
    return max(total / c[0], 1.0)


class Ladder:
    def __init__(self, series):
        self.ends = [numpy.cumsum([len(s) for s in of])[:-1] for of in series]
        self.u = [numpy.concatenate(of) for of in series]
        self.n = len(series)
        self.f = self.solve(numpy.array([len(u) for u in self.u], float))

    def shares(self, mixture, u):
        """p_k of every row."""
        p = self.f - u + numpy.log(mixture)
        p = numpy.exp(p - p.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def solve(self, rows):
        u, f = numpy.concatenate(self.u), numpy.zeros(self.n)
        for _ in range(2000):
            e = f - u + numpy.log(rows)
            e = -u - (numpy.log(numpy.exp(e - e.max(axis=1, keepdims=True)).sum(axis=1)) + e.max(axis=1))[:, None]
            top = e.max(axis=0)
            new = -(numpy.log(numpy.exp(e - top).sum(axis=0)) + top)
            new -= new[0]
            done, f = abs(new - f).max() < 1e-7, new
            if done:
                break
        return f

    def variance(self, rows, mixture, g=None):
        """Of the ends' difference, kT^2; and g of every window's influences, where it is not given."""
        p = [self.shares(mixture, u) for u in self.u]
        hessian = sum(m * (numpy.diag(q.mean(axis=0)) - q.T @ q / len(q)) for m, q in zip(mixture, p))
        z = numpy.zeros(self.n)
        z[1:] = numpy.linalg.solve(hessian[1:, 1:], numpy.eye(self.n)[-1][1:])
        found = numpy.array([inefficiency(numpy.split(q @ z, ends)) for q, ends in zip(p, self.ends)]) if g is None else g
        return sum((m / r) ** 2 * r * (q @ z).var() * of for m, r, q, of in zip(mixture, rows, p, found)), found


def best(ladder, mixture_of, g, floor):
    """Rows of every window, for the least variance."""
    total = ladder.n * SHARE
    rows = numpy.full(ladder.n, SHARE)
    for _ in range(TURNS):
        now, weight = ladder.variance(rows, mixture_of(rows), g)[0], numpy.zeros(ladder.n)
        for k in range(ladder.n):
            more = rows.copy()
            more[k] *= 1 + VARY
            weight[k] = numpy.sqrt(max((now - ladder.variance(more, mixture_of(more), g)[0]) * rows[k], 0))
        aim = numpy.maximum(weight / weight.sum() * total, SHARE / floor)
        free = aim > SHARE / floor
        aim[free] *= (total - aim[~free].sum()) / aim[free].sum()
        rows = numpy.sqrt(rows * aim)
        rows *= total / rows.sum()
    return rows


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("ensembles", nargs="+")
    options.add_argument("--floor", type=float, default=4)
    options.add_argument("--weighed", action="store_true")
    o = options.parse_args()
    series = load(o.ensembles)
    if not series or not all(series):
        options.error(f"no repeat_*/lambda_*/dhdl.xvg in {', '.join(o.ensembles)}")
    ladder, even = Ladder(series), numpy.full(len(series), SHARE)
    plain, g = ladder.variance(even, even)
    weights = 1 / g if o.weighed else numpy.ones(len(series))
    alike, g = ladder.variance(even, even * weights)
    rows = best(ladder, lambda rows: rows * weights, g, o.floor)
    least = ladder.variance(rows, rows * weights, g)[0]
    print(f"free energy {ladder.f[-1] * KT / 4.184:.3f} kcal/mol, error of {SHARE:.0f} rows a window {numpy.sqrt(plain) * KT / 4.184:.4f}")
    print(f"the best shares need {least / alike:.3f} of even sampling's time ({least / plain:.3f} of it by plain MBAR):",
          *(f"{r / SHARE:.2f}" for r in rows))


if __name__ == "__main__":
    main()
