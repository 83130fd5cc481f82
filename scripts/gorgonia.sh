#!/usr/bin/env bash
# Runs a command with what cgo wants for -tags gorgonia.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/gorgonia.sh [--fake 12|13] COMMAND...

  scripts/gorgonia.sh go build -tags gorgonia ./cmd/dlbench
  scripts/gorgonia.sh --fake 13 go test -tags gorgonia ./cuda

Finds cuda.h and libcuda in the toolkit at $CUDA_HOME (/usr/local/cuda), of CUDA 12 or
13. With --fake there need be no toolkit, driver or GPU: the header comes from PyPI
(nvidia-cuda-runtime, pip downloads it once), and the fake driver of the tests stands in
for libcuda, at run time as well. Both are kept in ~/.cache/dlbench-cuda.
END
}

die() { echo "gorgonia: $*" >&2; exit 2; }

fake=''
case ${1:-} in
-h | --help) usage; exit 0 ;;
--fake) fake=${2:-} ; shift 2 || { usage >&2; exit 2; } ;;
esac
[ $# -gt 0 ] || { usage >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)

if [ -z "$fake" ]; then
	home=${CUDA_HOME:-/usr/local/cuda}
	[ -e "$home/include/cuda.h" ] || die "no cuda.h in $home/include: set CUDA_HOME to a CUDA toolkit, or use --fake"
	include=$home/include
	libraries="'-L$home/lib64' '-L$home/lib64/stubs'" # the stub is for linking only
else
	case $fake in
	12) package=nvidia-cuda-runtime-cu12==12.9.79 folder=nvidia/cuda_runtime/include ;;
	13) package=nvidia-cuda-runtime==13.5.37 folder=nvidia/cu13/include ;;
	*) die "--fake $fake: want 12 or 13" ;;
	esac
	# A fixed place, since cgo's flags are part of what Go's build cache goes by.
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/dlbench-cuda
	include=$cache/${package//==/-}/$folder
	mkdir -p "$cache/fakecuda"
	work=$(mktemp -d "$cache/work.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	if [ ! -e "$include/cuda.h" ]; then
		python=${PYTHON:-python3}
		"$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: -d "$work" "$package" >&2
		"$python" -m zipfile -e "$work"/*.whl "$work/wheel"
		rm -rf "${include%/"$folder"}"
		mv "$work/wheel" "${include%/"$folder"}"
	fi
	"${CC:-cc}" -O2 -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$work/libcuda.so.1" "$root/cuda/fakecuda/testdata/fakecuda.c" -lpthread
	mv "$work/libcuda.so.1" "$cache/fakecuda"
	ln -sf libcuda.so.1 "$cache/fakecuda/libcuda.so"
	export LD_LIBRARY_PATH=$cache/fakecuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	unset CUDA_VISIBLE_DEVICES # the fake driver heeds it
	# gorgonia.org/cu refers to far more functions than the fake driver has and dlbench calls.
	libraries="'-L$cache/fakecuda' -Wl,--unresolved-symbols=ignore-all -Wl,-z,lazy"
fi

export CGO_ENABLED=1
export CGO_CFLAGS="${CGO_CFLAGS:--g -O2} '-I$root/cuda/include' '-I$include'"
export CGO_LDFLAGS="${CGO_LDFLAGS:-} $libraries"
"$@"
