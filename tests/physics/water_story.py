#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/water at full length beside averages that GROMACS made of the same model with the same settings: within three combined
errors; and from 2 ns at constant pressure on, density and energy within 0.1 %, the peak of g(r) and diffusion where they are known
to be. Hours on a small machine, minutes on a GPU; said again with the same output it only looks.

Usage: water_story.py EXAMPLES BUILD OBSERVABLES.json [options of examples/water/run]      exit code 77: no such file of averages
"""
import json
import os
import subprocess
import sys
from pathlib import Path

ENOUGH = 2.0  # ns
SHARE = 1e-3
PEAK, PLACE, DIFFUSION = (3.05, 3.15), (0.272, 0.278), (2.4, 2.6)


def check(name, value, error, reference, reference_error, bounds):
    """bounds: where it has to be once there is enough, or None."""
    off = value - reference if reference is not None else 0.0
    allowed = 3 * (error ** 2 + reference_error ** 2) ** 0.5 if reference is not None else 0.0
    good = abs(off) <= allowed and (bounds is None or bounds[0] <= value <= bounds[1])
    beside = f", GROMACS {reference:.6g} +- {reference_error:.2g}" if reference is not None else ""
    print(f"{'ok  ' if good else 'FAIL'} {name}: {value:.6g} +- {error:.2g}{beside}" + (f", expected in {bounds}" if bounds else ""))
    return good


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    examples, build, reference, options = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4:]
    if not reference.exists():
        print(f"skipped: no {reference}")
        return 77
    output = options[options.index("--output") + 1] if "--output" in options else os.path.join(build, "tests/physics/water_story")
    subprocess.run([examples / "water/run", "--build", build, "--output", output, "--molecules", "900", *options], check=True)
    sys.path.insert(0, str(examples / "water"))
    import quantities

    results = {name: json.loads(Path(output, "900", name, "results.json").read_text()) for name in ("npt", "nvt")}
    ours = {q.name.strip(): quantities.measured(q, results, 900) for q in quantities.QUANTITIES}
    npt = json.loads(reference.read_text())["npt"]
    sampled = sum(w["sampled"]["magnitude"] for w in results["npt"]["windows"])
    enough = sampled > 0.99 * ENOUGH
    print(f"{sampled:.3g} ns at constant pressure: " + ("all bounds" if enough else f"too little for bounds, which begin at {ENOUGH:g} ns"))
    good = True
    for name, key, scale, added in (("density", "Density", 1, 0), ("energy of a molecule", "Potential", 1 / 900, quantities.POLARIZATION),
                                    ("pressure, npt", "Pressure", 1, 0)):
        value, theirs, their_error = ours[name], npt[key]["average"] * scale + added, npt[key]["err_est"] * scale
        room = SHARE * abs(npt[key]["average"] * scale)
        bounds = (theirs - room, theirs + room) if enough and key != "Pressure" else None
        good &= check(name, value.value, value.error, theirs, their_error, bounds)
    for name, bounds in (("g(r) of oxygens, highest", PEAK), ("at", PLACE), ("diffusion, this box", DIFFUSION)):
        good &= check(name, ours[name].value, ours[name].error, None, 0, bounds if enough else None)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
