#!/usr/bin/env bash
# Counts how often dlbench compare is wrong on this machine.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/check-compare.sh [-n COMPARISONS] [-r RUNS] [-o DIR] [-- FLAGS of dlbench run...]

Makes so many COMPARISONS (5) of two sides that run the same, each of so many RUNS (64)
made in turn: what is called better or worse there is false. Then the second side is made
5 % slower, which is to be found. Prints tables in Markdown and ends with exit code 1 when
more than 5 % are false or less than 90 % found. Without FLAGS it prepares images online
on one thread, which takes about 25 minutes.

  -o DIR   keep the reports there
END
}

comparisons=5 runs=64 out=''
while getopts hn:r:o: o; do
	case $o in
	h) usage; exit 0 ;;
	n) comparisons=$OPTARG ;;
	r) runs=$OPTARG ;;
	o) out=$OPTARG ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ "$runs" -ge 9 ] || { echo "check-compare: -r $runs: fewer than 9 runs a side are not compared in turn" >&2; exit 2; }
[ $# -gt 0 ] || set -- --suite preprocess -a threads=1 -a decoder=turbo -a strategy=online
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${out:-$work}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
go build -o "$work/dlbench" ./cmd/dlbench
go build -o "$work/comparecheck" ./scripts/comparecheck
made=()
for i in $(seq "$comparisons"); do
	for k in $(seq "$runs"); do
		sides='a b'
		[ $((k % 2)) = 1 ] || sides='b a' # so that neither is always the first
		for side in $sides; do
			"$work/dlbench" run --quick -o "$out/$i/$side/$k" "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
		done
	done
	made+=("$out/$i")
done
echo "$comparisons comparisons of $runs runs a side, in turn: dlbench run --quick $*"
"$work/comparecheck" "${made[@]}"
