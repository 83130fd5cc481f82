package results

// sampleReport is a report as the pcie and disk suites write it, over assumed links of
// three widths, with a case that failed, one that was skipped and one of few samples.
func sampleReport() *Report {
	r, err := ReadFile("testdata/report.json")
	if err != nil {
		panic(err)
	}
	return r
}

func newResult(suite string, p Params) Result {
	return Result{Suite: suite, Name: p.Name(suite), Params: p, Status: OK}
}
