# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Shared by deploy/quickstart, deploy/test and what makes packages and images: the packages Shoal needs, and how it is built. Sourced by bash.
# shellcheck disable=SC2034

# To build and run Shoal.
BUILD_PACKAGES=(gcc g++ meson ninja-build pkg-config python3 libuv1-dev libsqlite3-dev libyaml-dev libmicrohttpd-dev
    libcurl4-openssl-dev libjansson-dev libkissfft-dev zlib1g-dev nettle-dev libarchive-dev scdoc)
# To test it: the unit test library, the programs it is held against, and a browser without a window that looks at pages.
TEST_PACKAGES=(libcmocka-dev clang clang-format libclang-rt-14-dev gromacs python3-numpy python3-yaml python3-venv python3-pip
    python3-setuptools python3-wheel mypy sqlite3 curl valgrind zsh fish systemd man-db
    chromium-headless-shell)

# To make a package of it (deploy/debian/build).
PACKAGE_PACKAGES=(dpkg-dev git binutils)

say() { printf '%s\n' "$*" >&2; }

# Installs those of the named Debian packages that are missing.
need_packages() {
    local missing=()
    if ! command -v dpkg-query >/dev/null; then
        say "deploy: this is not Debian: please make sure that these are installed: $*"
        return 0
    fi
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "deploy: installing ${missing[*]}"
    local as_root=() log
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { say "deploy: run as root, or install: ${missing[*]}"; return 1; }
        as_root=(sudo)
    fi
    log=$(mktemp)
    if ! { "${as_root[@]}" apt-get update -q &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        say "deploy: installing packages failed"
        return 1
    fi
    rm -f "$log"
}

# need_promtool FOLDER: Prometheus' checker of metrics, into FOLDER, out of Debian's package `prometheus`. The package is not installed: that
# would start a server. Without it a test is skipped.
need_promtool() {
    ! command -v promtool >/dev/null && [ ! -x "$1/promtool" ] || return 0
    say "deploy: fetching promtool"
    local scratch
    scratch=$(mktemp -d)
    mkdir -p "$1"
    if (cd "$scratch" && apt-get download -q prometheus >/dev/null 2>&1 &&
        dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xO ./usr/bin/promtool >promtool); then
        install -m 755 "$scratch/promtool" "$1/promtool"
    else
        say "deploy: no promtool: metrics are not checked by it"
    fi
    rm -rf "$scratch"
}

# build_tree FOLDER [meson options]: configures it, by what the machine has now (an nvcc may have come since), and brings it up to date.
build_tree() {
    local folder=$1 again=()
    shift
    PATH="$PATH:/usr/local/cuda/bin"
    [ ! -f "$folder/build.ninja" ] || again=(--reconfigure)
    if ! meson setup "${again[@]}" "$folder" "$@" >"$folder.log" 2>&1; then
        cat "$folder.log" >&2
        return 1
    fi
    grep -E 'WARNING: .*(CUDA|gpu_archs)' "$folder.log" >&2 || true
    rm -f "$folder.log"
    ninja -C "$folder" --quiet >&2
}

# say_devices FOLDER: what a service of that build would run on, after why it would leave a GPU out.
say_devices() {
    local found
    found=$("$1/daemon/worker/shoal-worker" devices)
    say "deploy: devices: ${found//$'\n'/ }"
}
