#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package's DataFrames against those that alchemlyb makes of the same files: equal, and good for its estimators.
Arguments: write_oscillators, the source root. Runs itself with SHOAL_TEST_PYTHON where that is set (a virtual environment made
from tests/requirements.txt); exit code 77 where there is no alchemlyb."""
import json
import os
import subprocess
import sys
import tempfile

# One component of lambda, no pressure, as a ladder in vacuum is written; two windows alike, and a row that is no number.
ONE = r"""@    xaxis  label "Time (ps)"
@ subtitle "T = 310.5 (K) \xl\f{} state 1: vdw-lambda = 0.5000"
@ s0 legend "dH/d\xl\f{} vdw-lambda = 0.5000"
@ s1 legend "\xD\f{}H \xl\f{} to 0.0000"
@ s2 legend "\xD\f{}H \xl\f{} to 0.5000"
@ s3 legend "\xD\f{}H \xl\f{} to 0.5000"
@ s4 legend "\xD\f{}H \xl\f{} to 1.0000"
0.0000 3.5000000 -1.2345678 0.0000000 0.0000000 7.5000000
0.1000 nan -1.2345678 0.0000000 0.0000000 7.5000000
0.2000 -4.5000000 -2.0000000 0.0000000 0.0000000 1.2500000e+08
"""


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def compare(frames, paths):
    """Each file, and all of them as one."""
    import pandas
    from alchemlyb import concat
    from alchemlyb.parsing.gmx import extract_dHdl, extract_u_nk

    dhdls = [frames.read_dhdl(read(path), path) for path in paths]
    for ours, theirs in ((frames.dhdl_frame, extract_dHdl), (frames.u_nk_frame, extract_u_nk)):
        made = [ours(dhdl) for dhdl in dhdls]
        wanted = [theirs(path, T=dhdl.temperature) for path, dhdl in zip(paths, dhdls)]
        for one, other in [*zip(made, wanted), (frames.join(made), concat(wanted))]:
            pandas.testing.assert_frame_equal(one, other, rtol=1e-13, atol=0)
            assert one.attrs == other.attrs and type(one.columns) is type(other.columns), (one.attrs, other.attrs)
            assert len(one) > 0 and list(one.index.names) == list(other.index.names)
    return frames.join([frames.dhdl_frame(dhdl) for dhdl in dhdls]), frames.join([frames.u_nk_frame(dhdl) for dhdl in dhdls])


def main():
    python = os.environ.get("SHOAL_TEST_PYTHON")
    if python and "SHOAL_TEST_INSIDE" not in os.environ:
        os.execve(python, [python, *sys.argv], dict(os.environ, SHOAL_TEST_INSIDE="1"))
    try:
        from alchemlyb.estimators import MBAR, TI
    except ModuleNotFoundError as e:
        print(f"skipped: no {e.name}")
        return 77
    sys.path.insert(0, os.path.join(sys.argv[2], "client/python"))
    from shoal import frames

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder, "0"], check=True)
        dhdl, u_nk = compare(frames, [f"{folder}/lambda_{k:02d}/dhdl.xvg" for k in range(5)])
        fits = {"TI": TI().fit(dhdl), "MBAR": MBAR().fit(u_nk)}
        for estimator in json.loads(read(f"{folder}/results.json"))["estimators"]:
            if estimator["name"] in fits:  # ours leaves out rows that drift
                ours, theirs = estimator["total"]["kT"], fits.pop(estimator["name"]).delta_f_.iloc[0, -1]
                assert abs(ours["value"] - theirs) < ours["error"], (ours, theirs)
        assert not fits
        with open(f"{folder}/one.xvg", "w", encoding="utf-8") as f:
            f.write(ONE)
        compare(frames, [f"{folder}/one.xvg"])
        hot = frames.read_dhdl(ONE.replace("310.5", "400"), "hot")
        try:
            frames.join([dhdl, frames.dhdl_frame(hot)])
        except ValueError as e:
            assert "several temperatures" in str(e)
        else:
            raise AssertionError("windows of two temperatures were joined")
    print("frames as alchemlyb's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
