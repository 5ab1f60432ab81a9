#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenMM's throughput on the inputs of make_proteins.py: N processes on one card, each with one replica of plain MD of
state A, in mixed precision. `shoal bench SPEC --replicas N` on the same card is the other side.

prepare needs openmm, PyYAML and shoal, and reads specs with their .top and .gro. It writes NAME.KIND.xml.xz (KIND:
system, integrator, state) and prints the potential energy beside Shoal's in window 0, of a finer mesh and without a
shift of Coulomb, so that what differs below is left out. They agree to 1e-5 where the two programs run the same system.
run needs those files, numpy and openmm, and prints wall time * 1e6 / sum of steps of all replicas. --mps runs them
under NVIDIA's Multi-Process Service where it can be started, --share limits each to a part of the GPU's threads.

What both share: cut-offs, switch, PME's splitting and mesh spacing, h-bonds, rigid water, timestep, LangevinMiddle,
barostat, virtual sites. What differs: OpenMM has B-splines of order 5 where the spec says 4, does not shift Coulomb at
the cut-off, and computes no other window's energy. It computes its own energy every 250 steps.

Usage: vs_openmm.py prepare SPEC... FOLDER [--shoal PROGRAM]
       vs_openmm.py run FOLDER [NAME...] [--replicas 1,12] [--seconds 30] [--platform CUDA] [--mps] [--share PERCENT]"""
import argparse
import contextlib
import glob
import itertools
import json
import lzma
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHUNK = 250  # steps between two looks at the clock, each with an energy: half a picosecond, as the specs sample
KINDS = "system", "integrator", "state"
OFF_FACES = 0.00043, 0.00031, 0.00029  # nm; OpenMM's CPU platform errs where a coordinate is exactly that of a face
FINER = 2  # times as many points along an edge of the mesh, where energies are compared
PARTS = {"bonds": ["bond", "urey_bradley"], "angles": ["angle"], "dihedrals": ["proper_dihedral", "improper_dihedral"],
         "nonbonded": ["lj", "lj_14", "dispersion_correction", "coulomb", "coulomb_14", "coulomb_reciprocal"]}
PART_OF = {"HarmonicBondForce": "bonds", "HarmonicAngleForce": "angles", "PeriodicTorsionForce": "dihedrals",
           "RBTorsionForce": "dihedrals", "CustomTorsionForce": "dihedrals", "NonbondedForce": "nonbonded"}


# ---- prepare ----

def number(text):
    """The number of a quantity such as 1.0 nm, in the units that specs are written in."""
    return float(str(text).split()[0])


def mesh(length, spacing):
    """The smallest number of mesh points that the spacing allows and that fast Fourier transforms like."""
    n = math.ceil(length / spacing)
    while n != math.prod(p ** next(e for e in range(20) if n % p ** (e + 1)) for p in (2, 3, 5, 7)):
        n += 1
    return n


def splitting(cutoff, tolerance):
    """PME's beta in 1/nm: erfc(beta * cutoff) = tolerance."""
    low, high = 0.0, 20.0 / cutoff
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(middle * cutoff) > tolerance else (low, middle)
    return low


def exclude_unlisted(topology, nonbonded):
    """Excludes atoms three bonds apart that [ pairs ] lacks: OpenMM gives them scaled interactions, GROMACS none."""
    listed, first = set(), 0
    for name, count in topology._molecules:
        kind = topology._moleculeTypes[name]
        for _ in range(count):
            listed |= {frozenset(first + int(i) - 1 for i in fields[:2]) for fields in kind.pairs}
            first += len(kind.atoms)
    changed = 0
    for k in range(nonbonded.getNumExceptions()):
        i, j, charge, _, epsilon = nonbonded.getExceptionParameters(k)
        if frozenset((i, j)) not in listed and (charge._value or epsilon._value):
            nonbonded.setExceptionParameters(k, i, j, 0, 1, 0)
            changed += 1
    return changed


def whole(positions, bonds, box):
    """Positions with every molecule in one piece, as OpenMM wants them: a .gro may have them cut by the box. All are
    moved by OFF_FACES."""
    near = [[] for _ in positions]
    for a, b in bonds:
        near[a.index].append(b.index)
        near[b.index].append(a.index)
    x, done = [[y + off for y, off in zip(at, OFF_FACES)] for at in positions], [False] * len(positions)
    for first in range(len(x)):
        waiting = [] if done[first] else [first]
        done[first] = True
        while waiting:
            i = waiting.pop()
            for j in near[i]:
                if not done[j]:
                    done[j] = True
                    x[j] = beside(x[i], x[j], box)
                    waiting.append(j)
    return x


def beside(at, x, box):
    """The image of x that is nearest to `at`, for two atoms much closer than half a box."""
    for d in (2, 1, 0):
        n = round((x[d] - at[d]) / box[d][d])
        x = [y - n * edge for y, edge in zip(x, box[d])]
    return x


def set_pme(system, coulomb, finer):
    """Shoal's splitting and mesh, or one with `finer` times as many points; they are returned."""
    spacing = number(coulomb["grid-spacing"]) / finer
    edges = [math.sqrt(sum(x * x for x in edge._value)) for edge in system.getDefaultPeriodicBoxVectors()]
    points = [mesh(length, spacing) for length in edges]
    nonbonded_of(system).setPMEParameters(splitting(number(coulomb["cutoff"]), float(coulomb["tolerance"])), *points)
    return points


def nonbonded_of(system):
    return next(force for force in system.getForces() if type(force).__name__ == "NonbondedForce")


def make_system(spec, folder):
    """(system, positions, what is to be said). GromacsTopFile reads state A: it passes over columns of state B."""
    from openmm import app
    gro = app.GromacsGroFile(str(folder / spec["system"]["coordinates"]))
    box = gro.getPeriodicBoxVectors()
    topology = app.GromacsTopFile(str(folder / spec["system"]["topology"]), periodicBoxVectors=box)
    vdw, coulomb = spec["nonbonded"]["vdw"], spec["nonbonded"]["coulomb"]
    if number(vdw["cutoff"]) != number(coulomb["cutoff"]) or spec["constraints"] != "h-bonds":
        sys.exit("vs_openmm.py: two cut-offs, or constraints other than h-bonds: not a spec of make_proteins.py")
    start = number(vdw["switch-start"]) if vdw["modifier"] == "potential-switch" else None
    system = topology.createSystem(nonbondedMethod=app.PME, nonbondedCutoff=number(vdw["cutoff"]), switchDistance=start,
                                   constraints=app.HBonds, removeCMMotion=False)
    excluded = exclude_unlisted(topology, nonbonded_of(system))
    sites = sum(system.isVirtualSite(i) for i in range(system.getNumParticles()))
    positions = whole(gro.getPositions(asNumpy=True)._value, topology.topology.bonds(), [edge._value for edge in box])
    return system, positions, (
        f"{system.getNumParticles()} atoms, {sites} virtual sites, {system.getNumConstraints()} constraints, "
        f"{excluded} pairs excluded that OpenMM would scale"
        + ("" if start else "; Lennard-Jones ends unshifted at the cut-off"))


def energies(system, positions):
    """{part: kJ/mol}, and the State with virtual sites placed."""
    import openmm
    for force in system.getForces():
        force.setForceGroup(list(PARTS).index(PART_OF[type(force).__name__]))
    context = openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatform("CPU"))
    context.setPositions(positions)
    context.computeVirtualSites()
    energy = lambda k: context.getState(energy=True, groups={k}).getPotentialEnergy()._value
    return {part: energy(k) for k, part in enumerate(PARTS)}, context.getState(positions=True)


def energies_of_shoal(spec, folder, shoal):
    """Of the spec with a finer mesh and without a shift of Coulomb at the cut-off."""
    import yaml
    system = {key: str((folder / name).resolve()) for key, name in spec["system"].items()}
    coulomb = spec["nonbonded"]["coulomb"]
    finer = {**coulomb, "modifier": "none", "order": 6, "grid-spacing": f"{number(coulomb['grid-spacing']) / FINER} nm"}
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        yaml.dump({**spec, "system": system, "nonbonded": {**spec["nonbonded"], "coulomb": finer}}, f)
        f.flush()
        done = subprocess.run([shoal, "energy", f.name, "--window", "0", "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["energies"]


def compare(name, ours, parts):
    total = sum(parts.values())
    print(f"{name:12s}{'Shoal':>16s}{'OpenMM':>16s}{'difference':>12s}  kJ/mol")
    for part, terms in PARTS.items():
        mine = sum(ours[term] for term in terms)
        print(f"  {part:10s}{mine:16.3f}{parts[part]:16.3f}{parts[part] - mine:12.3f}")
    print(f"  {'all':10s}{ours['potential']:16.3f}{total:16.3f}{total - ours['potential']:12.3f}  "
          f"{(total / ours['potential'] - 1):.1e} of it", flush=True)


def prepare(args):
    import openmm
    import yaml
    args.folder.mkdir(parents=True, exist_ok=True)
    for path in args.specs:
        spec = yaml.safe_load(path.read_text())
        system, positions, said = make_system(spec, path.parent)
        set_pme(system, spec["nonbonded"]["coulomb"], FINER)
        parts, state = energies(system, positions)
        points = set_pme(system, spec["nonbonded"]["coulomb"], 1)
        print(f"{spec['name']}: {said}, mesh {' x '.join(map(str, points))}")
        compare(spec["name"], energies_of_shoal(spec, path.parent, args.shoal), parts)
        md = spec["integrator"]
        kelvin = number(md["temperature"])
        if "barostat" in spec:
            system.addForce(openmm.MonteCarloBarostat(number(spec["barostat"]["pressure"]), kelvin,
                                                      int(number(spec["barostat"]["every"]))))
        integrator = openmm.LangevinMiddleIntegrator(kelvin, number(md["friction"]), number(md["timestep"]) / 1000)
        for kind, value in zip(KINDS, (system, integrator, state)):
            text = openmm.XmlSerializer.serialize(value).encode()
            (args.folder / f"{spec['name']}.{kind}.xml.xz").write_bytes(lzma.compress(text))


# ---- one replica, a process of its own ----

def replica(args):
    """Says `ready ATOMS` after a warm-up, reads when to begin and to end, and prints steps and seconds."""
    import openmm
    read = lambda kind: openmm.XmlSerializer.deserialize(lzma.open(f"{args.prefix}.{kind}.xml.xz", "rt").read())
    system, integrator, state = map(read, KINDS)
    properties = {"Precision": "mixed"} if args.platform in ("CUDA", "OpenCL") else {"Threads": "1"}
    integrator.setRandomNumberSeed(args.number + 1)
    context = openmm.Context(system, integrator, openmm.Platform.getPlatform(args.platform), properties)
    context.setState(state)
    openmm.LocalEnergyMinimizer.minimize(context, maxIterations=args.minimize)
    context.setVelocitiesToTemperature(integrator.getTemperature(), args.number + 1)
    context.applyConstraints(integrator.getConstraintTolerance())
    advance(context, args.warm_up)
    print("ready", system.getNumParticles(), flush=True)
    begin, end = map(float, sys.stdin.readline().split())
    while time.monotonic() < begin:
        advance(context, CHUNK)
    steps, since = 0, time.monotonic()
    while not steps or time.monotonic() < end:
        advance(context, CHUNK)
        steps += CHUNK
    seconds = time.monotonic() - since
    while time.monotonic() < end + args.cool_down:
        advance(context, CHUNK)
    print(steps, seconds, flush=True)


def advance(context, steps):
    """Steps, and an energy, which waits for the device."""
    context.getIntegrator().step(steps)
    if not math.isfinite(context.getState(energy=True).getPotentialEnergy()._value):
        sys.exit("vs_openmm.py: the energy is not a finite number")


# ---- all of them ----

def libraries():
    """LD_LIBRARY_PATH with the CUDA libraries that Python packages bring."""
    found = [folder for path in sys.path for folder in sorted(glob.glob(os.path.join(path, "nvidia", "*", "lib")))]
    return os.pathsep.join([*found, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])


@contextlib.contextmanager
def mps(wanted, share):
    """(environment of the replicas, what is to be said)."""
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries()}
    with tempfile.TemporaryDirectory() as folder:
        own = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        if not wanted or not start_mps({**environment, **own}):
            yield environment, "without MPS"
            return
        try:
            limit = {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": str(share)} if share else {}
            yield {**environment, **own, **limit}, f"MPS, {share} % of the threads each" if share else "MPS"
        finally:
            control({**environment, **own}, "quit")


def start_mps(environment):
    try:
        started = subprocess.run(["nvidia-cuda-mps-control", "-d"], env=environment, check=False).returncode == 0
    except OSError as e:
        print(f"MPS cannot be started: {e}")
        return False
    print("MPS is started" if started else "MPS cannot be started", flush=True)
    return started


def control(environment, word):
    return subprocess.run(["nvidia-cuda-mps-control"], input=word + "\n", env=environment, text=True, check=False)


def start(prefix, args, environment, k):
    return subprocess.Popen([sys.executable, __file__, "replica", prefix, str(k), "--platform", args.platform,
                             "--minimize", str(args.minimize), "--warm-up", str(args.warm_up)],
                            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def measure(prefix, args, environment, replicas):
    """(atoms, us per replica-step), or None where a replica failed; it has said why."""
    children = [start(prefix, args, environment, k) for k in range(replicas)]
    try:
        atoms = [child.stdout.readline().split()[1:] for child in children]
        if not all(atoms):
            return None
        begin = time.monotonic() + 1
        for child in children:
            print(begin, begin + args.seconds, file=child.stdin, flush=True)
        told = [child.stdout.readline().split() for child in children]
        if not all(told):
            return None
        return int(atoms[0][0]), 1e6 / sum(int(steps) / float(seconds) for steps, seconds in told)
    finally:
        for child in children:
            child.kill()
            child.wait()


def rows(args, share, with_mps):
    """Prints a line for each system and number of replicas; the number of those that failed."""
    names = args.names or sorted(p.name.split(".")[0] for p in args.folder.glob("*.system.xml.xz"))
    failed = 0
    with mps(with_mps, share) as (environment, how):
        for name, replicas in itertools.product(names, args.replicas):
            got = measure(args.folder / name, args, environment, replicas)
            failed += not got
            result = f"{got[0]} atoms, {got[1]:.1f} us per replica-step" if got else "failed"
            print(f"{name:12s} x {replicas:3d}  {args.platform}, {how}: {result}", flush=True)
    return failed


def run(args):
    failed = rows(args, args.share, args.mps)
    if failed and args.mps:
        print("without MPS, because replicas failed under it")
        failed = rows(args, 0, False)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("prepare")
    one.add_argument("specs", nargs="+", type=Path)
    one.add_argument("folder", type=Path)
    one.add_argument("--shoal", default="shoal")
    one.set_defaults(command=prepare)
    numbers = lambda text: [int(n) for n in text.split(",")]
    for name, command in ("run", run), ("replica", replica):
        p = commands.add_parser(name)
        p.add_argument("--platform", default="CUDA")
        p.add_argument("--minimize", type=int, default=200)
        p.add_argument("--warm-up", type=int, default=2000)
        p.set_defaults(command=command)
        if command is replica:
            p.add_argument("prefix")
            p.add_argument("number", type=int)
            p.add_argument("--cool-down", type=float, default=2)
            continue
        p.add_argument("folder", type=Path)
        p.add_argument("names", nargs="*")
        p.add_argument("--replicas", type=numbers, default=[1, 12])
        p.add_argument("--seconds", type=float, default=30)
        p.add_argument("--mps", action="store_true")
        p.add_argument("--share", type=int, default=0)
    args = parser.parse_args()
    return args.command(args)


if __name__ == "__main__":
    sys.exit(main())
