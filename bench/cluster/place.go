package cluster

import (
	"errors"
	"fmt"
	"strconv"
)

// Place is which of the processes of a run this one is.
type Place struct {
	Rank, Size int
	Run        string // tells runs in one folder apart; "" where the environment does not
}

// ErrNoPlace says that nothing started this process as one of several.
var ErrNoPlace = errors.New("no rank in the environment: start it by srun, mpirun or an indexed Kubernetes Job, " +
	"or set DLBENCH_RANK and DLBENCH_SIZE")

// starters are the variables by which those that start processes say their place. Open MPI comes before
// Slurm, whose variables are there too where a Slurm job calls mpirun and then count nodes.
var starters = []struct{ rank, size, run string }{
	{"DLBENCH_RANK", "DLBENCH_SIZE", "DLBENCH_RUN"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"},
	{"PMI_RANK", "PMI_SIZE", "PMI_JOBID"}, // MPICH and Intel MPI, and srun --mpi=pmi2
	{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID"},
	{"JOB_COMPLETION_INDEX", "WORLD_SIZE", ""},
	{"RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
}

// FromEnv is the place that getenv's variables tell.
func FromEnv(getenv func(string) string) (Place, error) {
	for _, s := range starters {
		rank := getenv(s.rank)
		if rank == "" {
			continue
		}
		p := Place{Run: getenv(s.run)}
		var err, sizeErr error
		p.Rank, err = strconv.Atoi(rank)
		p.Size, sizeErr = strconv.Atoi(getenv(s.size))
		if err != nil || sizeErr != nil || p.Size < 1 || p.Rank < 0 || p.Rank >= p.Size {
			return p, fmt.Errorf("%s=%q, %s=%q: want a rank from 0, and a size above it", s.rank, rank, s.size, getenv(s.size))
		}
		if s.rank == "SLURM_PROCID" {
			if step := getenv("SLURM_STEP_ID"); step == "" || step == batchStep {
				return p, errors.New("a Slurm script runs on one node: start dlbench in it by srun")
			}
			p.Run += "." + getenv("SLURM_STEP_ID")
		}
		return p, nil
	}
	return Place{}, ErrNoPlace
}

// batchStep is the step of a script that sbatch started, which counts as rank 0 of all tasks.
const batchStep = "4294967291"
