#!/usr/bin/env bash
# Installs from the distribution's packages what building, testing and the demo need, and the packages named
# as arguments. Repeating it is harmless: when nothing is missing, it asks dpkg and ends.
set -euo pipefail

needed=(g++ make cmake ninja-build pkg-config python3
        libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev libxxhash-dev libhwy-dev libgtest-dev)

# What Stoker builds without, and what is then missing.
declare -A optional=(
  [libdnnl-dev]="convolutions and matrix products run on Stoker's own, slower kernels"
  [libbenchmark-dev]="the benchmarks are not built"
  [ccache]="building again takes longer"
  [dataset-fashion-mnist]="the demo and some tests need its four .gz files in /usr/share/datasets/fashion-mnist"
)

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this system has no dpkg; install the equivalents of: ${needed[*]} ${!optional[*]} $*"
  exit 0
fi

wanted=("${needed[@]}" "${!optional[@]}" "$@")
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/ installed$//p' || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qx "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: as root, type: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"; }

apt update
present=()
for package in "${missing[@]}"; do
  if apt-cache show "$package" >/dev/null 2>&1; then
    present+=("$package")
  elif [ -n "${optional[$package]:-}" ]; then
    echo "setup: this distribution has no package $package: ${optional[$package]}" >&2
  else
    echo "setup: this distribution has no package $package, which Stoker needs" >&2
    exit 1
  fi
done
if [ ${#present[@]} -gt 0 ]; then
  apt install --no-install-recommends "${present[@]}"
fi
