#!/usr/bin/env bash
# Checks dlbench on a machine with a GPU that needs no Go: does the driver do what the
# devices promise, what do copies and the pipeline take, and is a copy as fast as
# nvbandwidth's or PyTorch's.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/gpu-check.sh build DIR
       DIR/gpu-check.sh [-d N] [-o OUT] [-s MIB] [-r ROUNDS] [BIN] [-- FLAGS of dlbench run...]

build, on a machine with Go, fills DIR with what the check needs: dlbench, the tests of
./cuda and ./bench as binaries, and this script. GOARCH chooses the processor. With
DLBENCH_GORGONIA it adds dlbench and the tests with the other back end, by the header of
CUDA 12 or 13 (the value; scripts/gorgonia.sh --fake) or of the toolkit that is installed
(toolkit), for this processor. Carry DIR to the machine with the GPU.

The check, there, in under three minutes:

  conformance  the devices' tests against the driver
  copies       dlbench's copies and those of nvbandwidth, in turn; where that is neither
               on PATH nor named by NVBANDWIDTH, those of PyTorch; alone without either
  run          dlbench run --suite pcie,pipeline
  benchmarks   one Go benchmark: a batch of 19.44 MB

It prints benchstat's table of the rates and a Markdown table of the ratios: PASS when all
rounds are 0.99 of the peer's rate or more, SLOWER when none is. It writes them
(gpu-check.md), reports, charts and what the parts printed (*.log) to OUT. A part that
fails is named, the others go on, and the exit code is 1.

  -d N        number of the GPU (0)
  -o OUT      folder, new or empty (gpu-check-UTC TIME)
  -s MIB      sizes of copies in MiB (16,64,512)
  -r ROUNDS   of copies (2)
  BIN         folder of the binaries, that of this script unless given
  FLAGS       more flags for dlbench run, such as --data DIR

NVBANDWIDTH_SRC names a checkout of nvbandwidth to build first, outside the three
minutes, with cmake, nvcc and Boost's program_options. PYTHON is python3 unless given.
END
}

die() { echo "gpu-check: $*" >&2; exit 2; }

# build DIR: makes the folder.
build() {
	local dir=$1
	command -v go >/dev/null || die "install Go"
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	cd "$(dirname "$0")/.."
	export GOOS=linux
	CGO_ENABLED=0 go build -trimpath -o "$dir/dlbench" ./cmd/dlbench
	CGO_ENABLED=0 go build -trimpath -o "$dir/ratios" ./scripts/ratios
	CGO_ENABLED=0 go build -trimpath -o "$dir/benchstat" golang.org/x/perf/cmd/benchstat
	CGO_ENABLED=0 go test -trimpath -c -o "$dir/cuda.test" ./cuda
	CGO_ENABLED=0 go test -trimpath -c -o "$dir/bench.test" ./bench
	if [ -n "${DLBENCH_GORGONIA:-}" ]; then
		local with=(scripts/gorgonia.sh)
		[ "$DLBENCH_GORGONIA" = toolkit ] || with+=(--fake "$DLBENCH_GORGONIA")
		"${with[@]}" go build -tags gorgonia -o "$dir/dlbench-gorgonia" ./cmd/dlbench
		"${with[@]}" go test -tags gorgonia -c -o "$dir/cuda-gorgonia.test" ./cuda
	fi
	cp scripts/gpu-check.sh scripts/gpucheck/torchcopy.py "$dir/"
	echo "made: $dir; on the machine with the GPU: $(basename "$dir")/gpu-check.sh"
}

if [ "${1:-}" = build ]; then
	[ $# -eq 2 ] || die "build wants one folder"
	build "$2"
	exit 0
fi

device=0 out='' sizes=16,64,512 rounds=2 bin=''
flags=()
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage; exit 0 ;;
	-d | -o | -s | -r)
		[ $# -ge 2 ] || die "$1 wants a value"
		case $1 in -d) device=$2 ;; -o) out=$2 ;; -s) sizes=$2 ;; -r) rounds=$2 ;; esac
		shift 2
		;;
	--) shift; flags=("$@"); break ;;
	-*) usage >&2; exit 2 ;;
	*) [ -z "$bin" ] || die "one folder of binaries, not also $1"; bin=$1; shift ;;
	esac
done
[[ $device =~ ^[0-9]+$ ]] || die "-d $device: want the number of a GPU"
[[ $rounds =~ ^[1-9][0-9]?$ ]] || die "-r $rounds: want a number of rounds up to 99"
[[ $sizes =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || die "-s $sizes: want whole MiB, such as 16,64,512"
bin=$(cd "${bin:-$(dirname "$0")}" && pwd)
[ -x "$bin/dlbench" ] || die "$bin/dlbench: not there; make the folder with: scripts/gpu-check.sh build DIR"
out=${out:-gpu-check-$(date -u +%Y%m%dT%H%M%SZ)}
mkdir -p "$out"
[ -z "$(ls -A "$out")" ] || die "$out: want a new or an empty folder"
out=$(cd "$out" && pwd)
IFS=, read -ra mib <<<"$sizes"

nvbandwidth=${NVBANDWIDTH:-}
if [ -z "$nvbandwidth" ] && [ -n "${NVBANDWIDTH_SRC:-}" ]; then
	if cmake -S "$NVBANDWIDTH_SRC" -B "$out/nvbandwidth-build" >"$out/nvbandwidth-build.log" 2>&1 &&
		cmake --build "$out/nvbandwidth-build" --parallel >>"$out/nvbandwidth-build.log" 2>&1; then
		nvbandwidth=$out/nvbandwidth-build/nvbandwidth
	else
		echo "gpu-check: nvbandwidth does not build: $(tail -n 1 "$out/nvbandwidth-build.log")" >&2
	fi
fi
nvbandwidth=$(command -v "${nvbandwidth:-nvbandwidth}") || nvbandwidth=''
python=${PYTHON:-python3}

SECONDS=0
budget=170 # s for all parts; a run takes 90, on a busy machine 120, a quick one 20
failed=0
parts=$out/parts

# note NAME RESULT [SECONDS]: a line of the table of parts.
note() {
	case $2 in failed*) failed=1 ;; esac
	printf '| %s | %s | %s s |\n' "$1" "$2" "${3:-0}" >>"$parts"
	printf 'gpu-check: %s: %s\n' "$1" "$2" >&2
}

# part NAME MOST COMMAND...: runs a part for MOST seconds, or as many as are left.
part() {
	local name=$1 most=$2 left=$((budget - SECONDS)) start=$SECONDS result=ok rc=0
	shift 2
	[ "$left" -ge "$most" ] || most=$left
	if [ "$most" -lt 3 ]; then
		result="failed: no time was left"
	else
		# Told to stop, dlbench saves what is finished.
		timeout -s INT -k 5 "$most" "$@" >"$out/$name.out" 2>"$out/$name.log" || rc=$?
		case $rc in
		0) ;;
		124 | 130 | 137) result="failed: it took more than $most s" ;;
		*) result="failed (exit code $rc): $(cat "$out/$name.out" "$out/$name.log" | grep -iE 'fail|error|panic|cannot' | head -n 1 | cut -c1-200 | tr '|' '/')" ;;
		esac
	fi
	note "$name" "$result" $((SECONDS - start))
	[ "$result" = ok ]
}

# conformance BACKEND: of "" or "-gorgonia".
conformance() { DLBENCH_CONFORMANCE=real part "conformance$1" 45 "$bin/cuda$1.test" -test.v -test.run '^TestConformance$' -test.timeout 60s; }

# copies BACKEND ROUND
copies() {
	local bytes
	bytes=$(printf ',%sMiB' "${mib[@]}")
	part "dlbench$1-$2" 45 "$bin/dlbench$1" run --suite pcie --device "cuda:$device" -a "bytes=${bytes#,}" -a dir=h2d,d2h -a "mem=$mem" \
		-a source=warm -a dtype=float32 -a concurrent=none -a numa=local --count 8 --format gobench -o "$out/dlbench$1-$2"
}

# nvbandwidth_lines BYTES REPORT: lines of Go benchmarks from a report (nvbandwidth -j) whose
# matrices have one row, the host, and a column a GPU, of 10^9 B/s.
nvbandwidth_lines() {
	tr -d '\n' <"$2" | awk -v RS='}' -v bytes="$1" -v column=$((device + 1)) '
		/"name" *: *"(host_to_device|device_to_host)_memcpy_ce"/ && /"status" *: *"Passed"/ {
			dir = /host_to_device/ ? "h2d" : "d2h"
			if (!match($0, /"bandwidth_matrix" *: *\[[ \t]*\[[^]]*\]/)) next
			row = substr($0, RSTART, RLENGTH)
			gsub(/.*\[|[]" \t]/, "", row)
			split(row, rate, ",")
			if (rate[column] + 0 > 0) printf "BenchmarkCopy/dir=%s/mem=pinned/bytes=%d 1 %.0f B/s\n", dir, bytes, 1e9 * rate[column]
		}'
}

# peers ROUND: the same copies by somebody else.
peers() {
	local m name bytes=()
	case $peer in
	nvbandwidth)
		for m in "${mib[@]}"; do
			name=nvbandwidth-$1-$m
			part "$name" 15 "$nvbandwidth" -j -b "$m" -i 7 -t host_to_device_memcpy_ce device_to_host_memcpy_ce || continue
			nvbandwidth_lines $((m << 20)) "$out/$name.out" >"$out/$name.lines"
			[ "$(wc -l <"$out/$name.lines")" -eq 2 ] || note "$name-figures" "failed: none for GPU $device in $name.out"
			cat "$out/$name.lines" >>"$out/peer-$1.out"
		done
		;;
	torch)
		for m in "${mib[@]}"; do bytes+=($((m << 20))); done
		if part "torch-$1" 30 "$python" "$bin/torchcopy.py" "$device" "${bytes[@]}"; then
			cp "$out/torch-$1.out" "$out/peer-$1.out"
		fi
		;;
	esac
}

# compared PROGRAM: how its rounds of copies stand to the peer's.
compared() {
	local i in_turn=() all=()
	for ((i = 1; i <= rounds; i++)); do
		in_turn+=("$out/$1-$i.out" "$out/peer-$i.out")
		cat "$out/peer-$i.out" >>"$out/peer-all" 2>/dev/null || true
		cat "$out/$1-$i.out" >>"$out/$1-all" 2>/dev/null || true
	done
	[ ! -s "$out/peer-all" ] || all=("$peer=$out/peer-all")
	echo '```'
	# No columns to compare: of so few rounds benchstat gives p-values above 1.
	"$bin/benchstat" -filter "$copied" -row "$shared .file" -col '' -table '' "${all[@]}" "$1=$out/$1-all" 2>/dev/null || true
	echo '```'
	echo
	if ! "$bin/ratios" -filter "$copied" -row "$shared" -least 0.99 "${in_turn[@]}"; then
		failed=1
		echo "No table of copies."
	fi
	rm -f "$out/peer-all" "$out/$1-all"
	echo
}

cd "$out" # whatever a part leaves lying about
peer=none mem=pinned,pageable
if [ -n "$nvbandwidth" ]; then
	peer=nvbandwidth
	mem=pinned # as nvbandwidth's
elif timeout 20 "$python" "$bin/torchcopy.py" --probe >"$out/torch.log" 2>&1; then
	peer=torch
fi
# The copies of the device, without those in main memory, and what tells them apart.
copied='.unit:B/s /dir:(h2d OR d2h)' shared='/dir /mem /bytes'
backends=('')
[ ! -x "$bin/dlbench-gorgonia" ] || backends+=(-gorgonia)

for b in "${backends[@]}"; do
	if [ -x "$bin/cuda$b.test" ]; then conformance "$b" || true; fi
done
for ((i = 1; i <= rounds; i++)); do
	for b in "${backends[@]}"; do copies "$b" "$i" || true; done
	peers "$i" || true
done
[ $((budget - SECONDS)) -ge 125 ] || flags+=(--quick)
part run $budget "$bin/dlbench" run --suite pcie,pipeline --device "cuda:$device" -o "$out/run" "${flags[@]}" || true
if [ -x "$bin/bench.test" ]; then
	DLBENCH_DEVICE=cuda:$device part benchmarks 60 "$bin/bench.test" -test.run '^$' -test.benchtime 20x \
		-test.bench "^BenchmarkSuite\$/^pcie\$/^device=cuda:$device\$/^dir=h2d\$/^mem=pinned\$/^bytes=19440000\$" || true
fi

{
	echo "## dlbench on a GPU"
	echo
	echo "- Date: $(date -u +%Y-%m-%d)"
	echo "- Software: $("$bin/dlbench" --version | head -n 1), Linux $(uname -r)"
	"$bin/dlbench" info 2>/dev/null | grep -m1 -F "cuda:$device" | sed 's/^\(GPU\)\? */- GPU: /' || true
	echo
	echo "| part | result | time |"
	echo "| --- | --- | --- |"
	cat "$parts"
	echo
	for b in "${backends[@]}"; do compared "dlbench$b"; done
	[ "$peer" != none ] || echo "Nothing is here to compare with: neither nvbandwidth nor a PyTorch that reaches the GPU."
} >"$out/gpu-check.md"
rm "$parts"
cat "$out/gpu-check.md"
exit $failed
