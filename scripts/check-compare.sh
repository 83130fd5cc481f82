#!/usr/bin/env bash
# Counts how often dlbench compare is wrong on this machine.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/check-compare.sh [-n RUNS] [-r RESTARTS] [-o DIR] [-- FLAGS of dlbench run...]

Runs the same RUNS times (8), of so many RESTARTS (6) each, and compares each pair of
reports: what is called better or worse there is false. Then the second report of each
pair is made 5 % slower, which is to be found. Prints a table in Markdown and ends with
exit code 1 when more than 5 % are false or less than 90 % found. Without FLAGS it runs
the preprocess suite on one thread.

  -o DIR   keep the reports there
END
}

runs=8 restarts=6 out=''
while getopts hn:r:o: o; do
	case $o in
	h) usage; exit 0 ;;
	n) runs=$OPTARG ;;
	r) restarts=$OPTARG ;;
	o) out=$OPTARG ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- --suite preprocess -a threads=1 -a decoder=turbo,go
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${out:-$work}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
go build -o "$work/dlbench" ./cmd/dlbench
go build -o "$work/comparecheck" ./scripts/comparecheck
reports=()
for i in $(seq "$runs"); do
	"$work/dlbench" run --quick --repeat "$restarts" -o "$out/$i" "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
	reports+=("$out/$i/report.json")
done
echo "$runs times: dlbench run --quick --repeat $restarts $*"
"$work/comparecheck" "${reports[@]}"
