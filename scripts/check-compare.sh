#!/usr/bin/env bash
# Counts how often dlbench compare is wrong on this machine.
set -euo pipefail
export LC_ALL=C # decimal points, for printf

usage() {
	cat <<'END'
usage: scripts/check-compare.sh [-n COMPARISONS] [-r RUNS] [-o DIR] [-- FLAGS of dlbench run...]

Makes so many COMPARISONS (5) of two sides that run the same, each of so many RUNS (64)
made in turn: what is called better or worse there is false. Then the second side is made
5 % slower, which is to be found. Prints how often each case came out how, and ends with
exit code 1 when more than 5 % are false or less than 90 % found. Without FLAGS it prepares
images online on one thread, which takes about 25 minutes.

  -o DIR   keep the reports there

DLBENCH names the dlbench binary, built from this checkout unless given. Wants jq.
END
}

die() { echo "check-compare: $*" >&2; exit 1; }

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
command -v jq >/dev/null || die "install jq"
[ $# -gt 0 ] || set -- --suite preprocess -a threads=1 -a decoder=turbo -a strategy=online
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${out:-$work/out}
mkdir -p "$out"
out=$(cd "$out" && pwd)
dlbench=${DLBENCH:-$work/dlbench}
[ -n "${DLBENCH:-}" ] || go build -C "$(dirname "$0")/.." -o "$work/dlbench" ./cmd/dlbench

# verdicts A B: of each time and throughput that was measured its case, its name and, last, the verdict.
verdicts() {
	local a=("$1"/*/report.json) b=("$2"/*/report.json)
	"$dlbench" compare "${a[@]/#/a=}" "${b[@]/#/b=}" --format json | jq -r '
		.cases[] | select(.sides[0].assumed | not) | .sides[0].name as $case
		| .metrics[] | select(.name == "time" or .name == "throughput")
		| select(.sides[1].verdict | . != null and . != "not compared") | "\($case) \(.name): \(.sides[1].verdict)"'
}

# slower FROM TO: the runs in FROM as if all that was measured had taken 5 % longer.
slower() {
	local report run
	for report in "$1"/*/report.json; do
		run=$2/$(basename "$(dirname "$report")")
		mkdir -p "$run"
		jq '(.results[].metrics[]? | select(.better == "lower").samples[]?.value) *= 1.05
			| (.results[].metrics[]? | select(.better == "higher").samples[]?.value) /= 1.05' "$report" >"$run/report.json"
	done
}

# share VERDICTS FILE: per cent of the lines that have one of the VERDICTS.
share() { awk -v "these= $1 " 'index(these, " " $NF " ") { n++ } END { print 100 * n / NR }' "$2"; }

for i in $(seq "$comparisons"); do
	for k in $(seq "$runs"); do
		sides='a b'
		[ $((k % 2)) = 1 ] || sides='b a' # so that neither is always the first
		for side in $sides; do
			"$dlbench" run --quick -o "$out/$i/$side/$k" "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
		done
	done
	verdicts "$out/$i/a" "$out/$i/b" >>"$work/equal"
	slower "$out/$i/b" "$work/$i"
	verdicts "$out/$i/a" "$work/$i" >>"$work/slowed"
	for ((before = 1; before < i; before++)); do verdicts "$out/$before/a" "$out/$i/b" >>"$work/apart"; done
done
[ -s "$work/equal" ] || die "nothing measured is in the reports"

echo "$comparisons comparisons of $runs runs a side, in turn: dlbench run --quick $*"
for what in 'equal both sides the same, in turn' 'slowed the second one 5 % slower, in turn' \
	'apart both sides the same, one after the other'; do
	[ -s "$work/${what%% *}" ] || continue
	printf '\n%s:\n\n' "${what#* }"
	sort "$work/${what%% *}" | uniq -c
done
wrong=$(share 'better worse' "$work/equal") found=$(share worse "$work/slowed")
printf '\nFalse better or worse: %.1f %% of %d (at most 5 %%). Slow-downs found: %.1f %% (at least 90 %%).\n' \
	"$wrong" "$(wc -l <"$work/equal")" "$found"
awk -v wrong="$wrong" -v found="$found" 'BEGIN { exit !(wrong <= 5 && found >= 90) }' ||
	die "compare is wrong too often"
