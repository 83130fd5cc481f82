#!/usr/bin/env bash
# Runs the adapters of torchvision, OpenCV and tf.data, in the versions that
# bench/external/python/requirements.txt names, and fails where one of them does not run.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/check-loaders.sh [-o DIR]

Measures torchvision, OpenCV and tf.data beside dlbench's own loader over the data set that
dlbench makes, and checks that each of them was measured. The exit code is 1 when a package
cannot be installed or imported, or a loader could not run.

  -o DIR   keep the report there

The Python packages (torch brings 3 GB) are installed from PyPI into a virtual environment
that is removed at the end, or kept in $DLBENCH_LOADERS_VENV, where that is set.
END
}

die() { echo "check-loaders: $*" >&2; exit 1; }

out=''
while getopts ho: o; do
	case $o in
	h) usage; exit 0 ;;
	o) out=$OPTARG ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -eq 0 ] || { usage >&2; exit 2; }
python=${PYTHON:-python3}
command -v go >/dev/null || die "install Go"
command -v "$python" >/dev/null || die "install $python"
command -v jq >/dev/null || die "install jq"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
out=${out:-$work/run}
mkdir -p "$out"
out=$(cd "$out" && pwd)
venv=${DLBENCH_LOADERS_VENV:-$work/venv}
cd "$(dirname "$0")/.."

grep -E '^(torch|torchvision|opencv-python-headless|tensorflow-cpu|pillow|numpy)==' \
	bench/external/python/requirements.txt >"$work/requirements.txt"
if ! cmp -s "$work/requirements.txt" "$venv/dlbench-requirements.txt"; then
	echo "check-loaders: installing $(paste -sd' ' "$work/requirements.txt") into $venv" >&2
	"$python" -m venv "$venv" || die "$python cannot make virtual environments (Debian: apt install python3-venv)"
	"$venv/bin/pip" install -q --disable-pip-version-check -r "$work/requirements.txt" ||
		die "the Python packages cannot be installed: is PyPI reachable?"
	cp "$work/requirements.txt" "$venv/dlbench-requirements.txt"
fi
for package in torch torchvision cv2 tensorflow PIL numpy; do
	"$venv/bin/python" -c "import $package" 2>"$work/log" || { cat "$work/log" >&2; die "$package cannot be imported"; }
done

go build -o "$work/dlbench" ./cmd/dlbench
"$work/dlbench" run --suite external --loader torchvision --loader opencv --loader tfdata --quick \
	--python "$venv/bin/python" -o "$out"
missing=$(jq -r '.results as $all | "torchvision", "opencv", "tfdata" | . as $loader
	| [$all[] | select(.suite == "external" and .params.loader == $loader)]
	| select(length == 0 or any(.status != "ok"))
	| "\($loader) was not measured: \((map(.reason // empty) + ["no case"])[0])"' "$out/report.json")
[ -z "$missing" ] || die "$missing"
