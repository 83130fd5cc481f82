#!/usr/bin/env bash
# Checks that this version of dlbench measures what the first one did, as fast.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/check-first-version.sh [-n PAIRS] [-m PERCENT] [-o DIR] [COMMIT] [-- FLAGS of dlbench run...]

Builds dlbench as it was at COMMIT, the last one before it was restructured unless
given, and as it is here, and runs both in turn over the same data: dlbench run --quick
FLAGS, all suites without FLAGS, which takes three minutes a pair. Prints what --help and
the preprocess suite cost, and what dlbench compare says of the time, throughput, bandwidth
and step_time of each case, simulated ones as if they were measured. Ends with its exit
code 3 when the first version has a case or a figure that this one lacks, or when one is
worse with its whole interval beyond PERCENT.

  -n PAIRS    of runs, 6 or more (6); from 9 on they are compared in pairs
  -m PERCENT  by which a figure may be worse (2)
  -o DIR      keep the reports there, in a new folder

Wants GNU time and jq.
END
}

die() { echo "check-first-version: $*" >&2; exit 2; }

commit=132a6f936c40d236ed5fc0d4a2400e45a782e85a
pairs=6 margin=2 out=''
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage; exit 0 ;;
	-n | -m | -o)
		[ $# -ge 2 ] || die "$1 wants a value"
		case $1 in -n) pairs=$2 ;; -m) margin=$2 ;; -o) out=$2 ;; esac
		shift 2
		;;
	--) shift; break ;;
	-*) usage >&2; exit 2 ;;
	*) commit=$1; shift ;;
	esac
done
[[ $pairs =~ ^([6-9]|[1-9][0-9]+)$ ]] || die "-n $pairs: want 6 pairs or more, which intervals need"
[[ $margin =~ ^[0-9]+([.][0-9]+)?$ ]] || die "-m $margin: want per cent, such as 2"
[ -x /usr/bin/time ] || die "install GNU time"
command -v jq >/dev/null || die "install jq"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${out:-$work/out}
[ ! -e "$out" ] || die "$out: want a new folder"
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
	[ "$(git rev-parse --is-shallow-repository)" = false ] || die "$commit: not in this shallow clone: git fetch --unshallow"
	die "$commit: not in this clone"
fi
mkdir "$work/tree"
git archive "$commit" | tar -x -C "$work/tree"
(cd "$work/tree" && go build -buildvcs=false -o "$work/first" ./cmd/dlbench)
go build -buildvcs=false -o "$work/current" ./cmd/dlbench
go build -o "$work/benchstat" golang.org/x/perf/cmd/benchstat

# run SIDE NAME FLAG...: a run in which a case fails, as it may on a busy machine, counts.
run() {
	local side=$1 name=$2
	shift 2
	"$work/$side" run --quick -o "$out/$side/$name" "$@" >"$work/log" 2>&1 || true
	[ -f "$out/$side/$name/report.json" ] || { cat "$work/log" >&2; exit 1; }
}

# cost SIDE: adds what --help and the preprocess suite take, as lines of Go benchmarks.
cost() {
	local start=$EPOCHREALTIME n=50
	for ((k = 0; k < n; k++)); do "$work/$1" --help >/dev/null; done
	echo "BenchmarkHelp $n $(((${EPOCHREALTIME/./} - ${start/./}) * 1000 / n)) ns/op" \
		"$(/usr/bin/time -f %M "$work/$1" --help 2>&1 >/dev/null)e3 peak-B" >>"$out/$1.cost"
	/usr/bin/time -f %U -o "$work/user" "$work/$1" run --quick --suite preprocess --count 5 -o "$work/cost" >"$work/log" 2>&1 || true
	echo "BenchmarkPreprocess 1 $(tail -n 1 "$work/user")e9 user-ns/op" >>"$out/$1.cost"
}

# Both read the set of data that the first version makes in its cache, unless FLAGS name one.
export XDG_CACHE_HOME=$work/cache
run first warm-up "$@"
run current warm-up "$@"
rm -r "$out"/*/warm-up
for ((i = 1; i <= pairs; i++)); do
	sides='first current'
	[ $((i % 2)) = 1 ] || sides='current first' # so that neither is always the first
	for side in $sides; do run "$side" "$i" "$@"; done
	for side in $sides; do cost "$side"; done
	[ ! -t 2 ] || echo "pair $i of $pairs" >&2
done
echo "$pairs pairs of runs in turn, of $commit and this tree: dlbench run --quick $*"
echo
"$work/benchstat" first="$out/first.cost" current="$out/current.cost"
echo
speed='.results[] |= (del(.assumed)
	| .metrics |= map(select(.name | IN("time", "throughput", "bandwidth", "step_time"))))'
for report in "$out"/*/*/report.json; do
	run=$work/speed/${report#"$out/"}
	mkdir -p "$(dirname "$run")"
	jq "$speed" "$report" >"$run"
done
first=("$work"/speed/first/*/report.json) current=("$work"/speed/current/*/report.json)
"$work/current" compare "${first[@]/#/first=}" "${current[@]/#/current=}" --fail-on "$margin%"
