#!/usr/bin/env bash
# Runs dlbench on four nodes of Slurm and four ranks of Open MPI, all on this one host, and kills one.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/check-cluster.sh

Starts four Slurm nodes on this host (Debian: slurm-wlm, munge; wants root), measures one store from all of
them by dlbench run --join, and again with a rank killed on the way; then the same by mpirun (openmpi-bin).
Checks that each node's report and the joined one are there, that all nodes measured each case, and that a
killed one ends nobody's results. It says nothing of how fast a cluster is: one host has one store.
END
}

die() { echo "check-cluster: $*" >&2; exit 1; }

[ $# -eq 0 ] || { usage; [ "$1" = -h ] && exit 0; exit 2; }
for program in munged slurmctld slurmd srun mpirun jq; do
	command -v "$program" >/dev/null || die "no $program: apt-get install slurm-wlm munge openmpi-bin jq"
done
cd "$(dirname "$0")/.."
work=$(mktemp -d)
pids=()
stop() {
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
	wait 2>/dev/null || true
	rm -rf "$work"
}
trap stop EXIT
go build -o "$work/bin/dlbench" ./cmd/dlbench
export XDG_CACHE_HOME=$work/cache
"$work/bin/dlbench" dataset make "$work/data" --images 64 >/dev/null

slurm() { # starts four nodes
	mkdir -p "$work"/{m,run,log,state,spool}
	chmod 755 "$work" "$work/m"
	head -c 128 /dev/urandom >"$work/munge.key"
	chmod 400 "$work/munge.key"
	munged -F --force --key-file="$work/munge.key" --socket="$work/m/socket" --pid-file="$work/m/pid" \
		--log-file="$work/m/log" --seed-file="$work/m/seed" &
	pids+=($!)
	local host
	host=$(hostname -s)
	cat >"$work/slurm.conf" <<C
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/m/socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool/%n
SlurmctldPidFile=$work/run/slurmctld.pid
SlurmdPidFile=$work/run/slurmd.%n.pid
SlurmctldLogFile=$work/log/slurmctld.log
SlurmdLogFile=$work/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmdParameters=config_overrides
$(for i in 1 2 3 4; do echo "NodeName=node$i NodeHostname=$host NodeAddr=127.0.0.1 Port=1700$i CPUs=2 RealMemory=1000"; done)
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
C
	export SLURM_CONF=$work/slurm.conf
	sleep 1
	slurmctld -D -i >"$work/log/ctl.out" 2>&1 &
	pids+=($!)
	for i in 1 2 3 4; do
		mkdir -p "$work/spool/node$i"
		slurmd -D -N "node$i" >"$work/log/d$i.out" 2>&1 &
		pids+=($!)
	done
	for _ in $(seq 60); do
		[ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 4 ] && return
		sleep 0.5
	done
	die "the Slurm nodes do not come up: $(tail -n 3 "$work"/log/*.out)"
}

run=("$work/bin/dlbench" run "$work/data" --suite disk --quick -a cache=warm --join)
check() { # folder, lost rank or none
	local report
	report=$(echo "$1"/run*/report.json)
	[ -e "$report" ] || die "$1: no joined report"
	jq -e '.nodes.size == 4 and (.nodes.cases | length > 0) and .nodes.skew.median < 1' "$report" >/dev/null ||
		die "$report: not of 4 nodes: $(jq -c .nodes "$report" | cut -c1-300)"
	if [ "$2" = none ]; then
		jq -e '(.nodes | has("lost") | not) and all(.nodes.cases[]; .nodes | length == 4)' "$report" >/dev/null ||
			die "$report: nodes are missing"
	else
		jq -e --argjson lost "$2" '.nodes.lost == [.nodes.lost[] | select(.rank == $lost)] and (.nodes.lost | length == 1)
			and all(.nodes.cases[]; [.nodes[].rank] - [$lost] | length == 3)' "$report" >/dev/null ||
			die "$report: want rank $2 lost alone: $(jq -c .nodes "$report" | cut -c1-300)"
	fi
	"$work/bin/dlbench" show "$report" | tail -n +2
}
# What starts the ranks, and in the second run kills rank 2 once it has begun to measure.
# shellcheck disable=SC2016 # the ranks expand it
killer='dir=$1; shift; rank=${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}
"$@" "$dir" & p=$!
if [ "$rank" = 2 ]; then
	until grep -q "\"turn\":\[0,[1-9]" "$dir"/run*/.rank-2 2>/dev/null; do sleep 0.05; done
	kill -9 $p
	wait $p || exit 0
fi
wait $p'

slurm
echo "== srun, four nodes"
srun -N4 "${run[@]}" "$work/srun"
check "$work/srun" none
echo "== srun, rank 2 killed"
srun -N4 --no-kill bash -c "$killer" - "$work/srun-killed" "${run[@]}"
check "$work/srun-killed" 2
echo "== the script of dlbench help cluster, with fewer cases"
mkdir -p "$work/imagenet"
ln -s ../data "$work/imagenet/train"
# shellcheck disable=SC2016 # the fences of Markdown
sed -n '/^```sh$/,/^```$/{/^```/d;p}' cmd/dlbench/help/cluster.md | sed 's/--suite [^ ]*/--suite disk --quick -a cache=warm/' >"$work/dlbench.sbatch"
HOME=$work PATH=$work/bin:$PATH sbatch --wait --output="$work/sbatch.out" "$work/dlbench.sbatch" || die "sbatch: $(tail -n 3 "$work/sbatch.out")"
check "$work/dlbench" none
echo "== mpirun, four ranks"
mpirun=(mpirun --allow-run-as-root --oversubscribe -n 4)
"${mpirun[@]}" "${run[@]}" "$work/mpirun"
check "$work/mpirun" none
echo "== mpirun, rank 2 killed"
"${mpirun[@]}" bash -c "$killer" - "$work/mpirun-killed" "${run[@]}"
check "$work/mpirun-killed" 2
echo "check-cluster: all runs are right"
