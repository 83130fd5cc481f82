package cluster

import (
	"errors"
	"strings"
	"testing"
)

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		env  string
		want Place
		err  string
	}{
		{"", Place{}, "srun, mpirun"},
		{"DLBENCH_RANK=1 DLBENCH_SIZE=4 DLBENCH_RUN=x SLURM_PROCID=3 SLURM_NTASKS=9", Place{1, 4, "x"}, ""},
		{"SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_JOB_ID=77 SLURM_STEP_ID=0", Place{2, 4, "77.0"}, ""},
		{"SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=77", Place{}, "by srun"},
		{"SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=77 SLURM_STEP_ID=4294967291", Place{}, "by srun"},
		// mpirun in a Slurm job: Slurm counts nodes.
		{"OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 PMIX_NAMESPACE=n1 SLURM_PROCID=1 SLURM_NTASKS=2", Place{5, 8, "n1"}, ""},
		{"PMI_RANK=0 PMI_SIZE=2", Place{0, 2, ""}, ""},
		{"JOB_COMPLETION_INDEX=3 WORLD_SIZE=4", Place{3, 4, ""}, ""},
		{"RANK=3 WORLD_SIZE=4", Place{3, 4, ""}, ""},
		{"RANK=4 WORLD_SIZE=4", Place{}, `RANK="4", WORLD_SIZE="4"`},
		{"RANK=-1 WORLD_SIZE=4", Place{}, "want a rank"},
		{"RANK=x WORLD_SIZE=4", Place{}, "want a rank"},
		{"RANK=0", Place{}, `WORLD_SIZE=""`},
		{"RANK=0 WORLD_SIZE=0", Place{}, "want a rank"},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		p, err := FromEnv(func(name string) string { return env[name] })
		switch {
		case c.err == "" && (err != nil || p != c.want):
			t.Errorf("%s: %+v, %v; want %+v", c.env, p, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, want one with %q", c.env, err, c.err)
		case c.env == "" && !errors.Is(err, ErrNoPlace):
			t.Errorf("error %v, want ErrNoPlace", err)
		}
	}
}
