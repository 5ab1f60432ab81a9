# SPDX-License-Identifier: Apache-2.0
"""The backbone of a folded chain for the benches, by geometry alone: ideal alpha helices side by side on a hexagonal
lattice, each antiparallel to the one before, joined by loops of four residues. No natural protein has this fold.

Lengths are nm, angles degrees. A residue is {atom: position}; a lattice site is (x, y) in units of APART."""
import math
import random

from make_box import add, cross, place, unit

PHI, PSI = -62.0, -42.0  # of an alpha helix
LOOP = 4                 # residues between two helices
APART = 1.0              # nm between the axes of neighbours
RISE = 0.156             # nm along the axis for each residue
# nm, at least, between atoms of residues that are not bonded to each other
CLEAR = {"CC": 0.32, "CN": 0.31, "CO": 0.29, "NN": 0.28, "NO": 0.265, "OO": 0.28}


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def scale(a, by):
    return [by * x for x in a]


def grow(last, psi, phi):
    """The residue after `last`; `last` gets its O."""
    n, ca, c = last["N"], last["CA"], last["C"]
    last["O"] = place(n, ca, c, 0.1231, 120.5, psi + 180)
    following = place(n, ca, c, 0.1329, 116.6, psi)
    alpha = place(ca, c, following, 0.1458, 121.7, 180)
    return {"N": following, "CA": alpha, "C": place(c, following, alpha, 0.1525, 111.0, phi)}


def frame(residue):
    """Three unit vectors at CA."""
    x = unit(add(residue["C"], residue["CA"], -1))
    z = unit(cross(x, add(residue["N"], residue["CA"], -1)))
    return x, cross(z, x), z


def helix_from(residue, length):
    chain = [residue]
    while len(chain) < length:
        chain.append(grow(chain[-1], PSI, PHI))
    return chain


def first_residue():
    n, ca = [0.0, 0.0, 0.0], [0.1458, 0.0, 0.0]
    return {"N": n, "CA": ca, "C": place([0.0, 0.1, 0.0], n, ca, 0.1525, 111.0, 0)}


def axis_at(chain, k):
    """Of an ideal helix at residue k: the nearest point of its axis, and the direction in which it grows."""
    x = [r["CA"] for r in chain]
    inward = [add(add(x[i - 1], x[i + 1]), x[i], -2) for i in (k, k + 1)]
    direction = unit(cross(*inward))
    size = math.sqrt(dot(inward[0], inward[0]))
    turn = dot(*inward) / size ** 2
    return add(x[k], scale(inward[0], 1 / (2 * (1 - turn) * size) * size)), direction


def axis_in_frame():
    """The axis of a helix in the frame of the helix's first residue: the point beside CA, and the direction."""
    chain = helix_from(first_residue(), 5)
    point, direction = axis_at(chain, 1)
    point = add(point, direction, -dot(direction, add(chain[1]["CA"], chain[0]["CA"], -1)))
    axes = frame(chain[0])
    return [dot(a, add(point, chain[0]["CA"], -1)) for a in axes], [dot(a, direction) for a in axes]


IN_FRAME = axis_in_frame()


def axis_from(residue):
    point, direction = IN_FRAME
    turned = [[sum(a[d] * p for a, p in zip(frame(residue), v)) for d in range(3)] for v in (point, direction)]
    return add(residue["CA"], turned[0]), turned[1]


def solve(a, b):
    """Linear equations by elimination; a is symmetric and positive."""
    n, rows = len(b), [row[:] + [y] for row, y in zip(a, b)]
    for i in range(n):
        for j in range(i + 1, n):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [x - factor * y for x, y in zip(rows[j], rows[i])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return x


def bridge(last, torsions):
    """The loop after `last` and the next helix's first residue. torsions: psi of `last`, phi and psi of the loop."""
    chain, psi = [dict(last)], torsions[0]
    for k in range(1, len(torsions) - 1, 2):
        chain.append(grow(chain[-1], psi, torsions[k]))
        psi = torsions[k + 1]
    chain.append(grow(chain[-1], psi, PHI))
    return chain


def off_target(last, torsions, target):
    """Residuals of a helix that begins after this loop. target: x, y, z of its begin, +1 or -1 along z."""
    x, y, z, along = target
    point, direction = axis_from(bridge(last, torsions)[-1])
    return [direction[0], direction[1], direction[2] - along, point[0] - x, point[1] - y, 0.5 * (point[2] - z)]


def close_loop(last, torsions, target):
    """Least squares by Levenberg and Marquardt. Returns (torsions, norm of the residuals)."""
    size, step, damping = len(torsions), 1e-3, 1e-4
    off = off_target(last, torsions, target)
    for _ in range(30):
        columns = []
        for k in range(size):
            moved = off_target(last, [t + step * (i == k) for i, t in enumerate(torsions)], target)
            columns.append([(m - o) / step for m, o in zip(moved, off)])
        a = [[dot(p, q) + damping * 1e-2 * (i == j) for j, q in enumerate(columns)] for i, p in enumerate(columns)]
        new = add(torsions, solve(a, [dot(c, off) for c in columns]), -1)
        new_off = off_target(last, new, target)
        if dot(new_off, new_off) < dot(off, off):
            torsions, off, damping = new, new_off, max(damping / 4, 1e-7)
        else:
            damping *= 8
        if dot(off, off) < 1e-5 or damping > 1e3:
            break
    return torsions, math.sqrt(dot(off, off))


def beta_carbon(residue):
    return place(residue["C"], residue["N"], residue["CA"], 0.153, 110.5, -122.6)


def heavy_of(residues):
    """[(element, x)] of the backbone and CB."""
    return [atom for r in residues for atom in [*((name[0], x) for name, x in r.items()), ("C", beta_carbon(r))]]


def is_clear(new, old):
    pairs = ((a + b, x, y) for a, x in new for b, y in old if abs(x[2] - y[2]) < 0.4)
    return all(math.dist(x, y) > CLEAR["".join(sorted(kinds))] for kinds, x, y in pairs)


def place_first(site, length):
    """A helix along z, its middle at z = 0."""
    chain = helix_from(first_residue(), length)
    point, z = axis_at(chain, 1)
    x = unit(cross(z, [0.3, 0.5, 0.7]))
    y = cross(z, x)
    begin = [APART * site[0], APART * site[1], -RISE * (length - 3) / 2]
    def moved(at):
        return add(begin, [dot(axis, add(at, point, -1)) for axis in (x, y, z)])

    return [{name: moved(at) for name, at in residue.items()} for residue in chain]


def attempt(chain, target, length, obstacles, later, rng):
    """(Last residue of the chain with its new O, loop and helix), or None where this draw leads to atoms too close.
    later: sites of helices that come after."""
    draw = [PSI]
    for _ in range(LOOP):
        draw += rng.uniform(-150, -50), rng.choice((-45, 130)) + rng.uniform(-30, 30)
    torsions, off = close_loop(chain[-1], draw, target)
    if off > 0.05:
        return None
    parts = bridge(chain[-1], torsions)
    loop, helix = parts[1:-1], helix_from(parts[-1], length)
    in_the_way = (abs(x[2]) < RISE * length / 2 and math.dist(x[:2], scale(site, APART)) < 0.45
                  for _, x in heavy_of(loop) for site in later)
    if any(in_the_way) or not is_clear(heavy_of(loop[:2]), heavy_of(helix[1:])):
        return None
    if not is_clear(heavy_of(loop + helix), heavy_of(chain[:-2]) + obstacles):
        return None
    return parts[0], loop + helix


def backbone(sites, length, obstacles=(), seed=2026):
    """Helices of `length` residues at these sites, joined by loops. obstacles: [(element, x)] that the chain keeps
    clear of. Returns (residues, kind of each: "helix" or "loop")."""
    rng, chain, kinds = random.Random(seed), place_first(sites[0], length), ["helix"] * length
    for k, (x, y) in enumerate(sites[1:], 1):
        along = (-1) ** k
        target = APART * x, APART * y, -along * RISE * (length - 1) / 2, along
        for _ in range(3000):
            found = attempt(chain, target, length, list(obstacles), sites[k + 1:], rng)
            if found:
                break
        else:
            raise RuntimeError(f"no loop was found to the helix at {x}, {y}")
        chain[-1:] = [found[0], *found[1]]
        kinds += ["loop"] * LOOP + ["helix"] * length
    grow(chain[-1], PSI, PHI)  # its O
    return chain, kinds
