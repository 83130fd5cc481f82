#!/usr/bin/env bash
# Makes the reports and charts under results/published anew, on this machine.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/publish.sh [-o DIR] NAME...

Runs what is behind the published reports of those names and keeps report.json, the
charts as PNG and the printed table in DIR/NAME (results/published). A run that fails
leaves what was there.

  assumed-gen3        the article's three links, assumed
  disk-virtio         the disk of this machine
  assumed-stream100   the article's hard disk: 100 MB/s, without seeks
  assumed-hdd         the same with seeks
  preprocess-photos   images per second of each core, of photographs
  pipeline            loading against a GPU step
  everything          dlbench run, all suites, with its verdict
  loaders             torchvision and others next to dlbench's loader, one worker and two

The names with photos want $DLBENCH_TESTDATA, a folder that has photographs in photos.
All else on the machine should rest: a busy one makes intervals wide.
END
}

die() { echo "publish: $*" >&2; exit 2; }

root=$(cd "$(dirname "$0")/.." && pwd)
out=$root/results/published
while getopts ho: o; do
	case $o in
	h) usage; exit 0 ;;
	o) out=$OPTARG ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { usage >&2; exit 2; }
command -v go >/dev/null || die "install Go"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$root" && go build -o "$work/dlbench" ./cmd/dlbench)

photos() { [ -d "${DLBENCH_TESTDATA:-}/photos" ] || die "$name wants photographs: set DLBENCH_TESTDATA"; echo "$DLBENCH_TESTDATA/photos"; }

run() { # keeps what dlbench run makes
	"$work/dlbench" run "$@" -o "$work/$name" >"$work/table.txt" || { cat "$work/table.txt"; die "$name failed"; }
	# The paths of this run mean nothing to a reader.
	sed '/^report /,$d' "$work/table.txt" >"$work/$name/table.txt"
	"$work/dlbench" plot "$work/$name/report.json" -o "$work/$name" >/dev/null # run draws those that answer alone
	rm -f "$work/$name"/*.log "$work/$name/report.html"
	mkdir -p "$out"
	rm -rf "${out:?}/$name"
	mv "$work/$name" "$out/$name"
	echo "$out/$name"
}

make() {
	case $name in
	assumed-gen3) run --suite pcie --device sim:gen3x4 --device sim:gen3x8 --device sim:gen3x16 ;;
	disk-virtio) run --suite disk ;;
	assumed-stream100) run --suite disk --disk stream100 ;;
	assumed-hdd) run --suite disk --disk hdd ;;
	preprocess-photos) run --suite preprocess --data "$(photos)" ;;
	pipeline) run --suite pipeline ;;
	everything) run ;;
	loaders)
		[ -x "${DLBENCH_LOADERS_VENV:-}/bin/python" ] || die "$name wants the Python packages of bench/external/python/requirements.txt: set DLBENCH_LOADERS_VENV"
		run --suite external --python "$DLBENCH_LOADERS_VENV/bin/python" --loader torchvision --loader torchvision-io \
			--loader opencv --loader dali --loader webdataset --loader tfdata --loader ffcv -a workers=1,2 -a step=0s
		;;
	*) die "no report is called $name: see scripts/publish.sh -h" ;;
	esac
}

for name; do
	make
done
