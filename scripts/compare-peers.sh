#!/usr/bin/env bash
# Compares dlbench's preprocessing with that of torchvision, OpenCV and Pillow on the
# same files, in turn.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/compare-peers.sh [DATA_DIR] [-o DIR] [-r ROUNDS] [-c CORES] [-p PEERS]

Measures dlbench's loader, torchvision's ImageFolder with Pillow, torchvision.io and
OpenCV as they prepare the same JPEG files for training: decode, random resized crop to
225x225, flip, normalise, float32, batches of 32. Prints a Markdown table: images/s by
wall and by CPU time, and the ratios, round by round, with their 95 % intervals. The
exit code is 1 when something could not run, whatever the ratios are.

DATA_DIR holds JPEG files, or class folders of them; $DLBENCH_TESTDATA/photos unless
given.

  -o DIR      keep report.json and table.md there
  -r ROUNDS   of a pass of each peer (15)
  -c CORES    numbers of cores (1,2, or 1 where there is one)
  -p PEERS    some of dlbench-turbo, dlbench-go, torchvision-pil, torchvision-io,
              opencv-linear, opencv-area, opencv-lut, pillow-decode, opencv-decode

The Python packages of scripts/peers/requirements.txt are installed from PyPI into a
virtual environment that is removed at the end (3 GB, mostly of torch), or kept in
$DLBENCH_PEERS_VENV, where that is set.
END
}

die() { echo "compare-peers: $*" >&2; exit 2; }

data=${DLBENCH_TESTDATA:+$DLBENCH_TESTDATA/photos} out='' rounds=15 cores='' peers=''
given=''
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage; exit 0 ;;
	-o | -r | -c | -p)
		[ $# -ge 2 ] || die "$1 wants a value"
		case $1 in -o) out=$2 ;; -r) rounds=$2 ;; -c) cores=$2 ;; -p) peers=$2 ;; esac
		shift 2
		;;
	-*) usage >&2; exit 2 ;;
	*) [ -z "$given" ] || die "one DATA_DIR, not also $1"; given=$1; data=$1; shift ;;
	esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || die "-r $rounds: want a number of rounds"
[ -n "$data" ] || die "name a folder of JPEG files, or set DLBENCH_TESTDATA"
[ -d "$data" ] || die "$data: no such folder"
command -v go >/dev/null || die "install Go"
python=${PYTHON:-python3}
command -v "$python" >/dev/null || die "install $python"
data=$(cd "$data" && pwd)
if [ -z "$cores" ]; then
	cores=1
	[ "$(nproc)" -lt 2 ] || cores=1,2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
venv=${DLBENCH_PEERS_VENV:-$work/venv}
here=$PWD
cd "$(dirname "$0")/.."
[ -n "$out" ] || out=$work/out
case $out in /*) ;; *) out=$here/$out ;; esac
requirements=scripts/peers/requirements.txt
if ! cmp -s "$requirements" "$venv/dlbench-requirements.txt"; then
	echo "compare-peers: installing $(paste -sd' ' "$requirements") into $venv" >&2
	"$python" -m venv "$venv" || die "$python cannot make virtual environments (Debian: apt install python3-venv)"
	"$venv/bin/pip" install -q --disable-pip-version-check -r "$requirements" || die "the Python packages cannot be installed: is PyPI reachable?"
	cp "$requirements" "$venv/dlbench-requirements.txt"
fi
go build -o "$work/peers" ./scripts/peers
"$work/peers" -data "$data" -o "$out" -python "$venv/bin/python" -script scripts/peers/peers.py -rounds "$rounds" -cores "$cores" ${peers:+-peers "$peers"}
