#!/usr/bin/env bash
# Compiles the kernels with NVIDIA's ptxas for every GPU architecture that it knows: the
# driver does so only on a machine with that GPU.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/check-ptx.sh [FILE.ptx...]

Without FILE, cuda/kernels.ptx. ptxas comes from NVIDIA's packages on PyPI, once for CUDA
12, which knows sm_50 and newer, and once for CUDA 13, sm_75 and newer: 120 MB that stay in
DLBENCH_PTXAS, or dlbench/ptxas in the user's cache folder. PYTHON is python3 unless given.
END
}

die() { echo "check-ptx: $*" >&2; exit 1; }

case ${1:-} in
-h | --help) usage; exit 0 ;;
-*) usage >&2; exit 2 ;;
esac
[ $# -gt 0 ] || set -- "$(dirname "$0")/../cuda/kernels.ptx"
cache=${DLBENCH_PTXAS:-${XDG_CACHE_HOME:-$HOME/.cache}/dlbench/ptxas}
python=${PYTHON:-python3}

for package in nvidia-cuda-nvcc-cu12==12.9.86 nvidia-cuda-nvcc==13.5.37; do
	dir=$cache/$package
	if [ ! -d "$dir" ]; then
		echo "check-ptx: installing $package into $dir" >&2
		rm -rf "$dir.part"
		"$python" -m pip install -q --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary=:all: --target "$dir.part" "$package" ||
			die "$package cannot be installed: is there pip, and is PyPI reachable?"
		mv "$dir.part" "$dir"
	fi
	ptxas=$(find "$dir" -type f -name ptxas | head -n 1)
	[ -n "$ptxas" ] || die "$package holds no ptxas"
	chmod +x "$ptxas"
	architectures=$("$ptxas" --help | grep -oE "'sm_[0-9]+'" | tr -d "'" | sort -t_ -k2n -u)
	[ -n "$architectures" ] || die "$package: ptxas names no architectures"
	for arch in $architectures; do
		for file in "$@"; do
			"$ptxas" --warning-as-error -arch="$arch" -o /dev/null "$file" || die "$file does not compile for $arch with $package"
		done
	done
	echo "$package: $(tr '\n' ' ' <<<"$architectures")"
done
