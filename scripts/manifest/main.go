// Command manifest says what is wrong with a Kubernetes Job on standard input: types, and fields that
// there are not. It is a module of its own, since nothing else of dlbench needs these packages.
package main

import (
	"fmt"
	"io"
	"os"

	batch "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	var job batch.Job
	if err == nil {
		err = yaml.UnmarshalStrict(text, &job)
	}
	if err == nil && (job.Kind != "Job" || job.Spec.Completions == nil || len(job.Spec.Template.Spec.Containers) != 1) {
		err = fmt.Errorf("a %q without completions, or not of one container", job.Kind)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manifest:", err)
		os.Exit(1)
	}
}
