#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What other cards will take for a step, PREDICTED: nothing here was measured on them.

On consumer cards an instruction in double precision takes 32 times as long as on an H200. This counts such instructions in the machine code of a CUDA
build, kernel by kernel, and reckons what they make of the instructions that a step was measured to have (tests/bench/LOG.md, ncu).

Usage: doubles.py BUILD --disassembler CUOBJDUMP [--kernels]

CUOBJDUMP: of CUDA 13, with nvdisasm beside it; the wheel `triton` of PyPI has both in triton/backends/nvidia/bin. --kernels: a row for each kernel,
too. Exit code 77: there is no such program, or BUILD has no kernels.

The model. A card has `processors` multiprocessors at `clock`; each issues four instructions of a warp a clock, and has `lanes` for double precision,
so that one of those occupies them for 32/lanes clocks. A step has so many million instructions (of warps) of each family, of which a part is double.

    issue  = instructions / (4 x processors x clock x used)     used: the part of issue slots that the H200 was measured to use with that load
    double = double instructions x 32 / lanes / (processors x clock)

If other warps hide all of the double instructions, a step takes the longer of the two; if they hide none of them, the sum. The truth is between.
On an H200 this gives what was measured by construction, as `used` is from it. What is not in it: less shared memory on consumer cards (99 of 227 KB a
block, so systems of 5,000 atoms may be cut into regions), memory and caches, PCIe, the clock under load, samples. The part of double instructions is
counted where the code has loops, for terms everywhere: how often each is run is not known, which is worth a factor of 1.5 either way. Of timesteps most
of the code is for what few bodies are, so what a warp of waters runs was counted line by line (RUN).
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys

INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P[0-9T]+\s+)?([A-Z][A-Z0-9_.]*)(.*?);")
FUNCTION = re.compile(r"Function : (?:cuda_)?(\S+)")
DOUBLE = re.compile(r"(DADD|DMUL|DFMA|DSETP|DMNMX)(\.|$)|(F2F|F2I|I2F|FRND)\..*64")  # MUFU.RCP64H and RSQ64H: a unit of its own

Kernel = collections.namedtuple("Kernel", "all double looped double_looped")

# Card: processors, GHz (boost), lanes for double precision of a multiprocessor. Data sheets, and the CUDA programming guide's table of
# throughputs (compute capability 8.0, 8.9, 9.0, 10.0, 12.0).
CARDS = {"H200": (132, 1.98, 64), "A100": (108, 1.41, 32), "B200": (148, 1.96, 64), "L40S": (142, 2.52, 2), "RTX 4090": (128, 2.52, 2),
         "RTX 5090": (170, 2.41, 2)}

# Load: microseconds a replica-step on an H200, and million instructions of warps a step by kernel. Of 5,166 atoms: LOG.md, 24 November 2026
# (a list of 2.06 M every 5.7 steps; terms are reckoned). Of the protein: LOG.md, 26 November 2026; its mesh is shared out as that of 36,492 atoms was
# on the 23rd.
LOADS = {"5,166 atoms x 24": (5.9, {"pairs_shared": 2.21, "list_build": 0.36, "mesh_block": 0.46, "langevin": 0.215, "terms": 0.05}),
         "a protein, 23,057 atoms, 0.9 nm x 12": (59.0, {"pairs_regions": 14.1, "list_build": 6.2, "mesh_spread": 0.86, "mesh_gather": 0.90,
                                                         "mesh_forward": 0.43, "mesh_backward": 0.43, "mesh_solve": 0.48, "langevin": 1.1,
                                                         "terms": 0.6})}
STRAIGHT = ("terms",)  # of whose instructions most are in no loop
# Instructions that 32 rigid waters take in a timestep, double and all, with their part of what a block does once (engine/cuda/motion/timestep.cu):
# 18 double ones for each of three atoms (position to whole numbers 3, and again where it is written 3, and back 3; velocity from and to single
# precision 6; on the grid 3), and 20; 850 of all kinds for each atom, 740 for the constraints, 250. Stars, which other atoms are in, take as large a part.
RUN = {"langevin": (74, 3540)}


def count(listing):
    """Kernel -> its counts, of the disassembler's words."""
    code, name = collections.defaultdict(list), None
    for line in listing.splitlines():
        if found := FUNCTION.search(line):
            name = found[1]
        elif (found := INSTRUCTION.match(line)) and name and found[2] != "NOP":
            code[name].append((int(found[1], 16), found[2], found[3]))
    return {name: counts(instructions) for name, instructions in code.items()}


def counts(instructions):
    looped, at = [False] * len(instructions), {address: i for i, (address, _, _) in enumerate(instructions)}
    for i, (address, operation, rest) in enumerate(instructions):
        to = re.search(r"0x([0-9a-f]+)", rest)
        if operation.startswith("BRA") and to and int(to[1], 16) < address:
            for k in range(at.get(int(to[1], 16), i), i + 1):
                looped[k] = True
    double = [bool(DOUBLE.match(operation)) for _, operation, _ in instructions]
    return Kernel(len(instructions), sum(double), sum(looped), sum(d and l for d, l in zip(double, looped)))


def part(name, kernel):
    """Of a kernel's instructions, those that are double."""
    if name in RUN:
        return RUN[name][0] / RUN[name][1]
    if name in STRAIGHT or not kernel.looped:
        return kernel.double / kernel.all
    return kernel.double_looped / kernel.looped


def predicted(card, load, parts):
    """(least, most) microseconds of a replica-step, and what double instructions take of them."""
    (processors, clock, lanes), (measured, families) = CARDS[card], LOADS[load]
    all_of_it = sum(families.values())
    used = all_of_it / (4 * CARDS["H200"][0] * CARDS["H200"][1] * 1e-3 * measured)
    issue = all_of_it / (4 * processors * clock * 1e-3 * used)
    double = sum(millions * parts[name] for name, millions in families.items()) * 32 / lanes / (processors * clock * 1e-3)
    return max(issue, double), issue + double if lanes < CARDS["H200"][2] else max(issue, double), double


def self_test():
    listing = ("\t\tFunction : cuda_a\n        /*0000*/                   DADD R2, R2, R4 ;   /* 0x0 */\n"
               "        /*0010*/              @!P0 DFMA R2, R2, R4, R6 ;   /* 0x0 */\n        /*0020*/                   I2F.F64.S64 R2, R4 ;\n"
               "        /*0030*/                   FADD R2, R2, R4 ;\n        /*0040*/                   I2F.U32 R2, R4 ;\n"
               "        /*0050*/               @P0 BRA 0x10 ;\n        /*0060*/                   EXIT ;\n        /*0070*/                   NOP ;\n")
    found = count(listing)
    assert found == {"a": Kernel(7, 3, 5, 2)}, found
    none = collections.defaultdict(float)
    for load, (measured, _) in LOADS.items():
        assert abs(predicted("H200", load, none)[0] - measured) < 1e-9, load
    half = collections.defaultdict(lambda: 0.5)
    assert predicted("RTX 4090", "5,166 atoms x 24", half)[2] > 25 * predicted("H200", "5,166 atoms x 24", half)[2]


def disassembled(o):
    rows, folder = {}, os.path.join(o.build, "engine/cuda")
    environment = dict(os.environ, PATH=os.path.dirname(os.path.abspath(o.disassembler)) + ":" + os.environ["PATH"])  # it calls nvdisasm
    for at, _, names in os.walk(folder):
        for name in sorted(name for name in names if name.endswith(".cu.o")):
            run = subprocess.run([o.disassembler, "-sass", os.path.join(at, name)], capture_output=True, text=True, check=True, env=environment)
            rows.update(count(run.stdout))
    return rows


def print_kernels(rows):
    print("| kernel | instructions | double | % | in loops | double | % |\n|---|---|---|---|---|---|---|")
    for name, k in sorted(rows.items()):
        print(f"| {name} | {k.all} | {k.double} | {100 * k.double / k.all:.1f} | {k.looped} | {k.double_looped} | "
              f"{100 * k.double_looped / max(1, k.looped):.1f} |")


def print_cards(rows):
    parts = {name: part(name, kernel) for name, kernel in rows.items()}
    print("| card | " + " | ".join(f"{load}, us | of them double" for load in LOADS) + " |\n|---" + "|---" * 2 * len(LOADS) + "|")
    for card in CARDS:
        cells = []
        for load in LOADS:
            least, most, double = predicted(card, load, parts)
            cells += [f"{least:.3g}" + (f" to {most:.3g}" if most > least * 1.005 else ""), f"{double:.2g}"]
        print(f"| {card} | " + " | ".join(cells) + " |")


def main():
    self_test()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--disassembler", default=shutil.which("cuobjdump") or "cuobjdump", metavar="CUOBJDUMP")
    parser.add_argument("--kernels", action="store_true")
    o = parser.parse_args()
    if not os.access(o.disassembler, os.X_OK):
        print(f"skipped: {o.disassembler}: no such program; expected CUDA's cuobjdump, see --help")
        return 77
    rows = disassembled(o)
    if not rows:
        print(f"skipped: {o.build} has no CUDA kernels: expected a build with -Dcuda=enabled")
        return 77
    if o.kernels:
        print_kernels(rows)
    print_cards(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
