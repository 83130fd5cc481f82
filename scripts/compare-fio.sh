#!/usr/bin/env bash
# Compares what dlbench reads from a disk with what fio reads from the same files.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/compare-fio.sh [DATA_DIR] [-o FILE] [-n PAIRS] [-t SECONDS] [-c CASES]

Measures dlbench and fio in turn: the same file, block size, number of readers,
kind of buffer and length of a run. Prints benchstat's tables of rates and of the
depth of the device's queue, and a Markdown table: the median of the pairs' ratios with
its 95 % interval, the interquartile range of fio's own runs, and the verdict: PASS when
the whole interval lies in 0.95-1.05, DIFFERS when all of it does not, inconclusive else
and when fio's own range is wider than 10 %. Then what
a read of 4096 bytes from memory costs. The exit code is 1 when something could
not run, whatever the verdicts are.

DATA_DIR holds *.raw and *.tensor files (dlbench dataset make), in itself or in
folders of it; the largest of each kind is read. Without it, 470 MB are made in the
working directory, and removed at the end.

  -o FILE     write the table to FILE, too
  -n PAIRS    of runs, 7 or more (9)
  -t SECONDS  of reading a run (1)
  -c CASES    such as "raw/direct/4 tensor/warm/1": store, page cache, readers

DLBENCH names the dlbench binary, built from this checkout unless given.
END
}

die() { echo "compare-fio: $*" >&2; exit 2; }

data='' out='' pairs=9 seconds=1
cases='tensor/direct/1 tensor/warm/1 raw/direct/1 raw/direct/4 raw/direct/64'
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage; exit 0 ;;
	-o | -n | -t | -c)
		[ $# -ge 2 ] || die "$1 wants a value"
		case $1 in -o) out=$2 ;; -n) pairs=$2 ;; -t) seconds=$2 ;; -c) cases=$2 ;; esac
		shift 2
		;;
	-*) usage >&2; exit 2 ;;
	*) [ -z "$data" ] || die "one DATA_DIR, not also $1"; data=$1; shift ;;
	esac
done
[[ $pairs =~ ^([7-9]|[1-9][0-9]+)$ ]] || die "-n $pairs: want 7 pairs or more"
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "-t $seconds: want whole seconds"
for c in $cases; do
	[[ $c =~ ^(raw|tensor)/(direct|warm)/[1-9][0-9]*$ ]] || die "-c $c: want STORE/CACHE/READERS, such as raw/direct/4"
done
command -v fio >/dev/null || die "install fio"
command -v go >/dev/null || die "install Go"
[ -z "$data" ] || [ -d "$data" ] || die "$data: no such folder"
[ -z "$data" ] || data=$(cd "$data" && pwd)

here=$PWD
work=$(mktemp -d)
made='' shm=''
# shellcheck disable=SC2317 # the trap calls it
cleanup() { rm -rf "$work" ${made:+"$made"} ${shm:+"$shm"}; }
trap cleanup EXIT
trap 'exit 130' INT TERM
cd "$(dirname "$0")/.."
dlbench=${DLBENCH:-$work/dlbench}
[ -n "${DLBENCH:-}" ] || go build -o "$work/dlbench" ./cmd/dlbench
go build -o "$work/ratios" ./scripts/ratios
go build -o "$work/benchstat" golang.org/x/perf/cmd/benchstat
go test -c -o "$work/loader.test" ./loader
cd "$here"

failed=0
fail() { echo "compare-fio: $*" >&2; failed=1; }
say() { [ ! -t 2 ] || printf '%s\n' "$*" >&2; }

if [ -z "$data" ]; then
	made=$(mktemp -d "$here/compare-fio.XXXXXX")
	data=$made
	"$dlbench" dataset make "$made/raw" --store raw --images 512 >&2
	"$dlbench" dataset make "$made/tensor" --store tensor --images 256 >&2
	sync -f "$made"
fi

# records KIND: the largest file of records of a kind, and nothing if there is none.
records() {
	find "$data" -maxdepth 2 -type f -name "*.$1" -printf '%s %p\n' | sort -rn | while read -r _ path; do
		if [ "$(head -c 17 "$path" | tr -d '\0')" = 'DLBENCH-RECORDS 1' ]; then
			printf '%s\n' "$path"
			break
		fi
	done || true
}

# header FILE KEY: a value of the JSON in the first block of a file of records.
header() { head -c 4096 "$1" | tr -d '\0' | grep -aoE "\"$2\":\"?[a-z0-9]+" | head -n 1 | sed 's/.*[:"]//'; }

# queued: milliseconds that requests have spent in the disk's queue, all together.
queued() { if [ -r "$counters" ]; then awk '{ print $11 }' "$counters"; else echo 0; fi; }

page=$(getconf PAGESIZE)
huge=$(cat /sys/kernel/mm/transparent_hugepage/hpage_pmd_size 2>/dev/null || echo 2097152)
ramp=300 # ms that fio reads before it measures

# fio_job FILE ARGUMENT...: makes fio the command that reads the file.
fio_job() {
	local file=$1
	shift
	fio=(env ${tunables:+"$tunables"} fio --name=read "--filename=${file//:/\\:}" --readonly --thread --group_reporting
		--ioengine=psync --iodepth=1 --invalidate=0 --time_based "--ramp_time=${ramp}ms" "--runtime=${seconds}s"
		--output-format=terse --terse-version=3 "$@")
}

# fio_reads SIZE WORTH REPORT: WORTH of each read of SIZE bytes, a second, and the
# milliseconds of fio's jobs; nothing when one failed.
fio_reads() {
	awk -F ';' -v OFMT=%.3f -v size="$1" -v worth="$2" \
		'$1 == 3 && $5 == 0 && $7 > 0 { print $7 * 1024 / size * worth, $9 }' "$3"
}

# dlbench_mean LINES: the bytes a second of one case over all its samples, as fio gives no
# median, and the depth of the device's queue.
dlbench_mean() {
	awk '/^Benchmark/ {
		for (i = 3; i < NF; i += 2) v[$(i + 1)] = $i
		t = $2 * v["ns/op"]; time += t; read += t * v["B/s"]; depth += v["queue_depth"]; n++
	} END { if (time > 0) print read / time, depth / n }' "$1"
}

# huge_kib PID: KiB of huge pages of a process.
huge_kib() { awk '/^AnonHugePages:/ { print $2 }' "/proc/$1/smaps_rollup" 2>/dev/null || echo 0; }

# read_line RATE DEPTH: the line of a benchmark of reads; no depth below a twentieth.
read_line() {
	printf 'BenchmarkRead/store=%s/cache=%s/readers=%s/pages=%s 1 %s B/s' "$store" "$cache" "$readers" "$kind" "$1"
	awk -v d="$2" 'BEGIN { print (d >= 0.05 ? " " d " queue" : "") }'
}

# run_dlbench LINES: one run of the case in store, cache, readers, as lines of benchmarks.
run_dlbench() {
	rm -rf "$work/run"
	"$dlbench" run --suite disk --data "$file" --batch "$batch" -a store="$store" -a cache="$cache" -a readers="$readers" \
		--count "$samples" --min-time "${seconds}00ms" --timeout 5m -o "$work/run" --format gobench >"$1" 2>"$work/stderr"
}

compare() {
	store=$1 cache=$2 readers=$3
	local name=$store/$cache/$readers stride count images payload each kind got now want i before after direct order samples
	file=$(records "$store")
	[ -n "$file" ] || { fail "$name: no *.$store in $data"; return; }
	stride=$(header "$file" stride) count=$(header "$file" count) images=$(header "$file" images)
	case $(header "$file" dtype) in float32) payload=4 ;; float16) payload=2 ;; *) payload=1 ;; esac
	payload=$((payload * images * $(header "$file" height) * $(header "$file" width) * $(header "$file" channels)))
	each=$((count / readers)) # records a fio job has to itself
	[ "$each" -ge 4 ] || { fail "$name: $count records are less than 4 a reader"; return; }
	counters=/sys/dev/block/$(findmnt -no MAJ:MIN -T "$file" | tr -d ' ')/stat
	# Batches of dlbench that give every reader some.
	batch=32
	if [ "$store" = tensor ]; then
		batch=$images order=read
	else
		order=randread
		while [ "$batch" -gt 1 ] && [ $((batch * readers * 8)) -gt "$count" ]; do batch=$((batch / 2)); done
	fi
	# A sample of dlbench reads the file once at most, so many make a run.
	direct=1 samples=$((seconds * 2000000000 / (count * stride)))
	[ "$cache" = direct ] || direct=0 samples=$((samples * 4))
	[ "$samples" -ge 10 ] || samples=10

	# Runs that do not count: they say what buffers dlbench has, and whether fio's are alike.
	say "$name"
	run_dlbench "$work/lines" || { fail "$name: dlbench: $(tail -n 1 "$work/stderr")"; return; }
	kind=$(grep -oE '"pages": *"[a-z]+"' "$work/run/report.json" | head -n 1 | sed 's/.*: *"//; s/"//') || true
	kind=${kind:-unknown}
	# Buffers begin at a page, as dlbench's do: 16 bytes behind one, where malloc puts
	# them, copies from the page cache took 1.6 times as long. glibc asks for huge
	# pages if told to. Mappings begin at one only when they are whole huge pages:
	# fio's buffer fits the largest of its block sizes, so a size for writes, of which
	# there are none, makes it so.
	local block=$stride buffer=--iomem=mmap
	tunables=
	if [ "$kind" != base ]; then
		tunables=GLIBC_TUNABLES=glibc.malloc.hugetlb=1 buffer=--iomem_align=$page
		block=$stride,$(((stride / huge + 2) * huge - 4 * page))
	fi
	fio_job "$file" "--direct=$direct" "--rw=$order" "--bs=$block" "$buffer" --offset=4096 "--numjobs=$readers" \
		"--size=$((each * stride))" "--offset_increment=$((each * stride))"
	[ $direct = 1 ] || cat "$file" >/dev/null
	"${fio[@]}" >"$work/fio" 2>"$work/stderr" &
	local pid=$!
	got=0
	while kill -0 $pid 2>/dev/null; do
		sleep 0.2
		now=$(huge_kib $pid)
		[ "${now:-0}" -le "$got" ] || got=$now
	done
	wait $pid || { fail "$name: fio: $(tail -n 1 "$work/stderr")"; return; }
	want=0
	[ "$kind" = base ] || want=$((readers * stride * 9 / 10240))
	if [ "$got" -lt "$want" ]; then
		kind=$kind-fio-base
		echo "$name: inconclusive, since fio's buffers are no huge pages as dlbench's are." >>"$work/notes"
	fi

	local rate depth ms doubt='' report files=()
	for ((i = 0; i < pairs; i++)); do
		say "$name, pair $((i + 1)) of $pairs"
		report=$work/read-${name//\//-}-$i
		run_dlbench "$work/lines" || { fail "$name: dlbench: $(tail -n 1 "$work/stderr")"; return; }
		before=$(queued)
		"${fio[@]}" >"$work/fio" 2>"$work/stderr" || { fail "$name: fio: $(tail -n 1 "$work/stderr")"; return; }
		after=$(queued)
		read -r rate depth < <(dlbench_mean "$work/lines") || { fail "$name: dlbench: no time and bandwidth"; return; }
		read_line "$rate" "$depth" >"$report.dlbench"
		read -r rate ms < <(fio_reads "$stride" "$payload" "$work/fio") || { fail "$name: fio: nothing was read"; return; }
		if grep -q '"proven": *false' "$work/run/report.json"; then
			doubt=$(sed -n 's/.*"why": *"\(.*\)".*/\1/p' "$work/run/report.json" | head -n 1)
		fi
		depth=$(awk -v q=$((after - before)) -v t=$((ms + ramp)) 'BEGIN { print q / t }')
		read_line "$rate" "$depth" >"$report.fio"
		files+=("$report.dlbench" "$report.fio")
	done
	[ -z "$doubt" ] || echo "$name: unproven: $doubt" >>"$work/notes"
	case $kind in *-fio-base) ;; *) read_pairs+=("${files[@]}") ;; esac
}

# small compares reads of 4096 bytes from memory.
small() {
	local i iops
	shm=$(mktemp -d /dev/shm/compare-fio.XXXXXX 2>/dev/null) || { fail "reads of 4096 bytes: no /dev/shm"; return; }
	head -c 16M /dev/urandom >"$shm/data"
	tunables=
	fio_job "$shm/data" --rw=randread --bs=4096 --size=16M --iomem=mmap
	for ((i = 0; i < pairs; i++)); do
		say "reads of 4096 bytes, pair $((i + 1)) of $pairs"
		TMPDIR=$shm "$work/loader.test" -test.run '^$' -test.bench '^BenchmarkOverhead$' -test.benchtime "${seconds}s" |
			awk '$1 ~ /\/pread/ { p = $3 / 1000 } $1 ~ /\/reader/ { r = $3 / 1000 }
				END { if (p && r) print "BenchmarkSmallRead 1", r, "us", p, "us-bare-pread" }' >"$work/small-$i.dlbench"
		[ -s "$work/small-$i.dlbench" ] || { fail "reads of 4096 bytes: the loader's benchmark did not run"; return; }
		"${fio[@]}" >"$work/fio" || { fail "reads of 4096 bytes: fio"; return; }
		read -r iops _ < <(fio_reads 4096 1 "$work/fio") || { fail "reads of 4096 bytes: fio read nothing"; return; }
		awk -v r="$iops" 'BEGIN { print "BenchmarkSmallRead 1", 1e6 / r, "us" }' >"$work/small-$i.fio"
		small_pairs+=("$work/small-$i.dlbench" "$work/small-$i.fio")
	done
}

# tables KIND FLAGS... -- PAIRS...: benchstat's tables of all pairs of a kind, and what
# ratios FLAGS says of the PAIRS, which may be fewer.
tables() {
	local kind=$1 flags=()
	shift
	while [ "$1" != -- ]; do flags+=("$1"); shift; done
	shift
	cat "$work/$kind"-*.fio >"$work/fio" 2>/dev/null || return 0
	cat "$work/$kind"-*.dlbench >"$work/dlbench-lines"
	echo '```'
	"$work/benchstat" fio="$work/fio" dlbench="$work/dlbench-lines" 2>/dev/null
	echo '```'
	[ $# -eq 0 ] || { echo; "$work/ratios" "${flags[@]}" "$@"; }
}

about() {
	local model device load
	model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
	device=$(findmnt -no SOURCE,FSTYPE -T "$data" | tr -s ' ')
	grep -qw hypervisor /proc/cpuinfo && model="${model:-CPU}, a virtual machine"
	read -r load _ </proc/loadavg
	cat <<END
## Disk reads beside fio

- Date: $(date -u +%Y-%m-%d)
- Machine: $(nproc) CPUs, ${model:-unknown}, $(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)
- Disk: $device
- Software: Linux $(uname -r), $(fio --version), $("$dlbench" --version | head -n 1), $(go env GOVERSION)
- Load average when it began: $load (a busy machine makes the ratios wide)
- $pairs pairs of runs of $seconds s, in turn; fio: psync, a thread a reader, each in a part of the file of its own

END
}

about >"$work/table"
read_pairs=() small_pairs=()
for c in $cases; do
	IFS=/ read -r s k r <<<"$c"
	compare "$s" "$k" "$r"
done
small
{
	tables read -least 0.95 -most 1.05 -spread 0.10 -- "${read_pairs[@]}" || failed=1
	if [ -f "$work/notes" ]; then
		echo
		sed 's/^/- /' "$work/notes"
	fi
	printf '\nA read of 4096 bytes from memory (tmpfs), at most 2 us more than fio wanted:\n\n'
	tables small -unit us -minus -most 2 -- "${small_pairs[@]}" || failed=1
} >>"$work/table"
cat "$work/table"
if [ -n "$out" ]; then cp "$work/table" "$out"; fi
exit $failed
