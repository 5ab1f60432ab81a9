#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian package is built, installed below a folder, run from there and removed; it and the recipes of images name what there is.
Without dpkg-deb, or without root to install, that part is passed over, said in the output.

Usage: packages.py BUILD_FOLDER SOURCE_FOLDER SHOALD
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE, SHOALD = (os.path.abspath(p) for p in sys.argv[1:4])
RECIPES = "deploy/container/Containerfile", "deploy/container/shoal.def"
BUILT_IN = {"buildtype"}  # options of meson itself
ENVIRONMENT = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "DEBIAN_FRONTEND": "noninteractive"}


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=ENVIRONMENT, **more)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


# ---- what is named

LIB = read("deploy/lib.sh")
LISTS = {name: text.split() for name, text in re.findall(r"(?m)^(\w+_PACKAGES)=\(([^)]*)\)", LIB)}
FUNCTIONS = set(re.findall(r"(?m)^(\w+)\(\)", LIB))


def check_control():
    """It needs for its build what lib.sh installs for one."""
    field = re.search(r"(?m)^Build-Depends: (.*)$", read("deploy/debian/control"))[1]
    assert field.split(", ") == LISTS["BUILD_PACKAGES"], f"control: Build-Depends: expected {', '.join(LISTS['BUILD_PACKAGES'])}"
    for script in ("build", "postinst", "prerm"):
        assert os.access(os.path.join(SOURCE, "deploy/debian", script), os.X_OK), script
        run("bash", "-n", os.path.join(SOURCE, "deploy/debian", script))


def wrong_in_recipe(text):
    """What a recipe names and is not there."""
    lines = "\n".join(line for line in text.replace("\\\n", " ").splitlines() if not line.lstrip().startswith("#"))
    wrong = [f"no {path}" for path in re.findall(r"(?<![\w/.])deploy/[\w./]+", text) if not os.path.exists(os.path.join(SOURCE, path))]
    wrong += [f"no list {name}" for name in re.findall(r"\$\{(\w+_PACKAGES)\[@\]\}", lines) if name not in LISTS]
    wrong += [f"no function {name}" for name in re.findall(r"\b((?:need|build)_\w+)\b", lines) if name not in FUNCTIONS]
    known = {package for packages in LISTS.values() for package in packages}
    for line in re.findall(r"apt-get install ([^&\n]*)", lines):
        wrong += [f"no package {word}" for word in line.split() if word[0] not in "-/" and word not in known]
    options = set(re.findall(r"option\('(\w+)'", read("meson_options.txt"))) | BUILT_IN
    wrong += [f"no option {name}" for name in re.findall(r"-D(\w+)=", lines) if name not in options]
    for source in re.findall(r"(?m)^COPY (\S+) |^%files\n +(\S+) ", lines):
        path = "".join(source)
        wrong += [] if path.startswith("--from") or os.path.exists(os.path.join(SOURCE, path)) else [f"no {path} to copy"]
    made = set(re.findall(r'mv "[^\n]*" (/\S+)', lines))
    wrong += [f"{path} is not made" for path in re.findall(r"(?m)^COPY --from=build (\S+)|(?<=%files from build\n)    (\S+)", lines)
              for path in path if path and path not in made]
    for words in re.findall(r"(?m)^ENTRYPOINT (\[.*\])", lines):
        told = run(SHOALD, "--help")
        wrong += [f"shoald has no {word}" for word in json.loads(words) if word.startswith("--") and f"  {word} " not in told]
    for command in re.findall(r"(?m)^RUN (.*)$", lines) or re.findall(r"(?ms)^%post.*?\n(.*?)(?=^\S|\Z)", lines):
        done = subprocess.run(["bash", "-n"], input=command, capture_output=True, text=True, check=False)
        wrong += [done.stderr] if done.returncode else []
    return wrong


FAULTS = (("RUN . deploy/lib.sh", "RUN . deploy/lob.sh"), ("need_packages", "need_package"), ("BUILD_PACKAGES", "BILD_PACKAGES"),
          ("--no-recommends", "--no-recommends cowsay"), ("gpu_archs=", "gpu_arch="), ("COPY . ", "COPY none "),
          ("--from=build /shoal.deb", "--from=build /shaol.deb"), ('"--state"', '"--stat"'), ("&& mkdir", "&& ( mkdir"))


def check_recipes():
    for name in RECIPES:
        assert not wrong_in_recipe(read(name)), f"{name}: {wrong_in_recipe(read(name))}"
    good = read(RECIPES[0]).replace("--no-install-recommends", "--no-recommends")
    for right, fault in FAULTS:  # and each of these is found
        assert right in good and wrong_in_recipe(good.replace(right, fault)), f"not found: {fault}"


# ---- the package

def check_depends(package):
    """The libraries that the programs here were linked to are what it depends on."""
    depends = run("dpkg-deb", "--field", package, "Depends")
    for one in depends.strip().split(", "):
        name = one.split()[0]
        assert run("dpkg-query", "-W", "-f=${Status}", name).startswith("install ok"), f"depends on {name}, which is not installed here"
    assert "libsqlite3-0" in depends and "libuv1" in depends, depends


def check_installed(package, root):
    """dpkg takes it, with its scripts; what it has installed runs; and dpkg takes all of it away again."""
    for folder in ("etc", "admin/updates", "admin/info"):
        os.makedirs(os.path.join(root, folder))
    for name in ("admin/status", "admin/available", "etc/passwd", "etc/group"):
        open(os.path.join(root, name), "w", encoding="utf-8").close()
    dpkg = ["dpkg", f"--instdir={root}", f"--admindir={root}/admin", "--force-depends", "--force-script-chrootless", f"--log={root}/log"]
    run(*dpkg, "--install", package)
    files = run(*dpkg, "--listfiles", "shoal").split("\n")[:-1]
    files = [path for path in files if not os.path.isdir(root + path)]
    assert len(files) > 100 and all(os.path.lexists(root + path) for path in files), files
    shoal = root + next(path for path in files if path.endswith("/bin/shoal"))
    spec = root + next(path for path in files if path.endswith("/examples/methane/quickstart.yaml"))
    assert json.loads(run(shoal, "validate", spec, "--json"))["windows"] == 8
    if shutil.which("systemd-sysusers"):
        with open(os.path.join(root, "etc/passwd"), encoding="utf-8") as f:
            assert "\nshoal:" in "\n" + f.read(), "postinst made no user shoal"
    run(*dpkg, "--remove", "shoal")
    left = [path for path in files if os.path.lexists(root + path)]
    assert not left, f"left after the removal: {left}"


def check_package(folder):
    package = run(os.path.join(SOURCE, "deploy/debian/build"), folder, BUILD).split()[-1]
    assert os.path.isfile(package) and glob.glob(os.path.join(folder, "*.deb")) == [package]
    check_depends(package)
    owners = {line.split()[1] for line in run("dpkg-deb", "--contents", package).splitlines()}
    assert owners == {"root/root"}, owners
    with tempfile.TemporaryDirectory() as root:
        os.chmod(root, 0o755)
        if os.geteuid() == 0:
            check_installed(package, root)
        else:
            print("not installed: dpkg gives files to root, and this is another user")
            run("dpkg-deb", "--extract", package, root)


def main():
    check_control()
    check_recipes()
    print(f"{len(RECIPES)} recipes, {sum(map(len, LISTS.values()))} packages named, {len(FAULTS)} faults found")
    if all(shutil.which(program) for program in ("dpkg-deb", "dpkg-shlibdeps", "dpkg-gencontrol")):
        with tempfile.TemporaryDirectory() as folder:
            check_package(folder)
    else:
        print("no package was built: dpkg-dev is not installed")


if __name__ == "__main__":
    main()
