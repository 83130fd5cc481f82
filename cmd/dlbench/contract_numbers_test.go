package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dlbench/bench"
	"dlbench/bench/advise"
	"dlbench/bench/suites"
	"dlbench/bench/theory"
	"dlbench/cuda"
	"dlbench/results"
)

// numbersGolden holds the numbers that follow from the samples of the published reports,
// as far as the reports do not hold them: a line for each object, with its path and those
// of its fields that differ from the report's. An absent number is null.
const numbersGolden = "testdata/contract/numbers.golden"

// The functions down to commandJSON are all that knows types and functions of other
// packages.

// reportAnew is a report with all that follows from its samples made anew: summaries,
// metrics that follow from several cases, findings, predictions, and the verdict against
// a demand.
func reportAnew(t *testing.T, path, demand string) map[string]any {
	t.Helper()
	rep, err := results.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	env := environmentOf(t, rep)
	rep.Findings = nil
	for i := range rep.Results {
		r := &rep.Results[i]
		r.Fit = results.Record{}
		derived := func(m results.Metric) bool { return len(m.Samples) == 0 && m.Median != 0 }
		r.Metrics = slices.DeleteFunc(r.Metrics, derived)
		linear := func(f results.Reference) bool { return f.Name == "linear" }
		r.References = slices.DeleteFunc(r.References, linear)
		for j := range r.Metrics {
			assumed := strings.HasPrefix(r.Metrics[j].Reason, results.ReasonAssumed)
			results.Summarize(&r.Metrics[j], results.SummaryOptions{NoInterval: assumed})
		}
	}
	for _, s := range suites.All {
		if slices.Contains(rep.Config.Suites, s.Name) {
			rep.Findings = append(rep.Findings, s.Findings(env, rep.Results)...)
		}
	}
	advise.Conclude(rep, questionOf(demand))
	return treeOf(t, rep).(map[string]any)
}

// questionOf is what a verdict is made against: a GPU, a step, or "" for the default.
func questionOf(text string) advise.Question {
	if step, err := time.ParseDuration(text); err == nil {
		return advise.Question{Step: step}
	}
	return advise.Question{GPU: text}
}

// environmentOf is what a report was measured with. A device that is not assumed is
// stood in for by one that has its name only.
func environmentOf(t *testing.T, rep *results.Report) bench.Env {
	t.Helper()
	c := rep.Config
	env := bench.Env{Options: bench.Options{Seed: c.Seed, Quick: c.Quick, Step: bench.DefaultStep}, Host: rep.Host,
		Data: &bench.Data{}}
	if len(rep.Host.Disks) > 0 {
		env.Data.Disk = rep.Host.Disks[0]
	}
	h, w, channels := c.Shape[0], c.Shape[1], c.Shape[2]
	env.Batch = theory.Batch{Images: c.Batch, Height: h, Width: w, Channels: channels, DType: c.DType}
	for _, text := range c.Devices {
		spec, err := theory.ParseDevice(text)
		if err != nil {
			t.Fatal(err)
		}
		if !spec.Sim() {
			env.Devices = append(env.Devices, namedDevice{name: text})
			continue
		}
		opened, _, err := cuda.Open([]theory.Device{spec})
		if err != nil {
			t.Fatal(err)
		}
		env.Devices = append(env.Devices, opened...)
	}
	for _, r := range rep.Results {
		if disk, err := theory.ParseDisk(r.Params.Text("disk")); err == nil && r.Suite == "disk" {
			env.Disk = disk
		}
	}
	return env
}

// namedDevice is a GPU of which only the name is known.
type namedDevice struct {
	cuda.Device
	name string
}

func (d namedDevice) Info() cuda.Info { return cuda.Info{Spec: d.name, Name: d.name} }

// mergedReports is one report of those at paths, as runs of one machine.
func mergedReports(t *testing.T, paths []string) map[string]any {
	t.Helper()
	var args []string
	for _, path := range paths {
		args = append(args, "runs="+path)
	}
	reps, err := readReports(t.Context(), nil, args, 1)
	if err != nil {
		t.Fatal(err)
	}
	return treeOf(t, reps[0]).(map[string]any)
}

// summaryOf sums up values in that order, perRun of them in each restart.
func summaryOf(t *testing.T, values []float64, perRun int) any {
	m := results.Metric{Name: "made", Unit: results.Seconds}
	for i, x := range values {
		m.Samples = append(m.Samples, results.Sample{Value: x, N: 1, T: float64(i), Run: i / perRun})
	}
	results.Summarize(&m, results.SummaryOptions{Resolution: 1e-9})
	return treeOf(t, m)
}

// quantilesOf are the usual quantiles of observations.
func quantilesOf(t *testing.T, obs []float64) any {
	return treeOf(t, results.Quantiles(obs, 0.01, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999))
}

// treeOf is what v is as JSON; a report is written as it is saved.
func treeOf(t *testing.T, v any) any {
	t.Helper()
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(v)
	if rep, ok := v.(*results.Report); ok {
		b.Reset()
		err = results.WriteCompact(&b, rep)
	}
	if err != nil {
		t.Fatal(err)
	}
	return parseTree(t, b.Bytes())
}

// commandJSON is what a command line prints as JSON; where it fails, its exit code and
// what it says.
func commandJSON(t *testing.T, args ...string) any {
	t.Helper()
	code, stdout, stderr := in(t, append(args, "--format", "json")...)
	tree := any(map[string]any{})
	if stdout != "" {
		tree = parseTree(t, []byte(stdout))
	}
	if object, ok := tree.(map[string]any); ok && code != exitOK {
		object["exit"], object["text"] = json.Number(strconv.Itoa(code)), stderr
	}
	return tree
}

func parseTree(t *testing.T, data []byte) (tree any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// publishedReports are the reports whose samples are summed up anew, by name.
func publishedReports(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../results/published/*/report.json")
	if err != nil || len(paths) < 8 {
		t.Fatal(paths, err)
	}
	all := map[string]string{"v1": "../../results/testdata/v1.json"}
	for _, path := range paths {
		all[filepath.Base(filepath.Dir(path))] = path
	}
	return all
}

// The numbers that follow from the samples of published reports stay what they are.
func TestContractNumbers(t *testing.T) {
	got := numberLines{}
	addStatistics(t, got)
	addReports(t, got)
	addWhatIfs(t, got)
	addComparisons(t, got)
	addMadeComparisons(t, got)
	if *update {
		save(t, ".", numbersGolden, got.text(t))
		return
	}
	got.compare(t, readNumberLines(t, numbersGolden))
}

// noise is a sequence of numbers from 0 to 1 that is the same everywhere, for ever.
type noise uint64

func (n *noise) next() float64 {
	*n = *n*6364136223846793005 + 1442695040888963407
	return float64(*n>>11) / (1 << 53)
}

// shuffle puts values into another order.
func (n *noise) shuffle(values []float64) {
	for i := len(values) - 1; i > 0; i-- {
		j := int(n.next() * float64(i+1))
		values[i], values[j] = values[j], values[i]
	}
}

// addStatistics adds summaries of samples that no report has: few, many, even and odd
// numbers of them, equal ones, ones that drift, restarts, outliers, and no finite ones.
func addStatistics(t *testing.T, got numberLines) {
	random := noise(1)
	shapes := map[string]func(i int) float64{
		"even":     func(int) float64 { return 1 + random.next() },
		"steps":    func(int) float64 { return math.Floor(3 * random.next()) },
		"equal":    func(int) float64 { return 0.25 },
		"drifting": func(i int) float64 { return 2 + 0.1*float64(i) + 0.3*random.next() },
		"negative": func(int) float64 { return random.next() - 0.5 },
		"outliers": func(i int) float64 { return 1e-3 * (1 + 0.01*random.next() + math.Floor(float64(i%7)/6)) },
		"huge":     func(int) float64 { return math.MaxFloat64 * (random.next() - 0.5) },
		"broken":   func(i int) float64 { return []float64{1 + random.next(), math.NaN(), math.Inf(1)}[i%3] },
	}
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		for _, n := range []int{1, 2, 3, 5, 6, 7, 10, 11, 24, 101} {
			values := make([]float64, n)
			for i := range values {
				values[i] = shapes[name](i)
			}
			got.add(fmt.Sprintf("statistics/%s/%d", name, n), summaryOf(t, values, n))
			got.add(fmt.Sprintf("statistics/%s/%d in restarts", name, n), summaryOf(t, values, max(1, n/4)))
		}
	}
	for _, n := range []int{19, 20, 100, 101, 1000, 1003, 10000} {
		obs := make([]float64, n)
		for i := range obs {
			obs[i] = shapes["even"](i)
		}
		got.add(fmt.Sprintf("statistics/observations/%d", n), quantilesOf(t, obs))
	}
}

// addReports adds what follows from the samples of a report where the report does not say
// the same, and verdicts against other demands.
func addReports(t *testing.T, got numberLines) {
	all := publishedReports(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		file, anew := numberLines{}, numberLines{}
		file.add(name, parseTree(t, mustRead(t, all[name])))
		tree := reportAnew(t, all[name], "")
		anew.add(name, tree)
		maps.Copy(got, anew.without(file))
		if tree["verdict"] == nil {
			continue
		}
		for _, demand := range []string{"h100-mlperf", "10ms", "46ms"} {
			got.add(name+" against "+demand+"/verdict", reportAnew(t, all[name], demand)["verdict"])
		}
	}
	got.add("everything with GPUs/findings", reportAnew(t, withGPUs(t, all["everything"]), "")["findings"])
}

// withGPUs saves a report whose assumed links of 8 and 16 lanes are GPUs, with what real
// ones have besides: the latency of the smallest copy, what pinning takes, and copies at
// once.
func withGPUs(t *testing.T, path string) string {
	t.Helper()
	text := strings.NewReplacer("sim:gen3x8", "cuda:0", "sim:gen3x16", "cuda:1").Replace(string(mustRead(t, path)))
	rep := parseTree(t, []byte(text)).(map[string]any)
	var more []any
	for _, res := range jsonObjects(rep["results"]) {
		name := res["name"].(string)
		if res["suite"] != "pcie" || !strings.Contains(name, "cuda:") {
			continue
		}
		delete(res, "assumed")
		if !strings.Contains(name, "dir=h2d/mem=pinned/bytes=") {
			continue
		}
		time := res["metrics"].([]any)[0]
		pin := changed(t, time, func(v float64) float64 { return 20 * v }).(map[string]any)
		pin["name"] = "pin"
		res["metrics"] = append(res["metrics"].([]any), pin)
		together := changed(t, res, func(v float64) float64 { return 1.25 * v }).(map[string]any)
		together["name"] = name + "/concurrent=devices"
		together["params"].(map[string]any)["concurrent"] = "devices"
		together["proof"].(map[string]any)["samples_with_gap"] = 5
		least := changed(t, res, func(v float64) float64 { return v / 200 }).(map[string]any)
		least["name"] = strings.Replace(name, "19440000", "4096", 1)
		least["params"].(map[string]any)["bytes"] = 4096
		least["metrics"].([]any)[0].(map[string]any)["name"] = "latency"
		more = append(more, together, least)
	}
	rep["results"] = append(rep["results"].([]any), more...)
	return saveTree(t, rep)
}

// numbersOfSamples are the fields of a metric that are in its unit.
var numbersOfSamples = []string{"value", "median", "min", "max", "lo", "hi", "mad"}

// changed is a copy of a tree with all values of samples, and what sums them up, changed.
func changed(t *testing.T, tree any, change func(float64) float64) any {
	t.Helper()
	switch v := tree.(type) {
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = changed(t, x, change)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, x := range v {
			n, isNumber := x.(json.Number)
			if isNumber && slices.Contains(numbersOfSamples, key) {
				x = json.Number(strconv.FormatFloat(change(floatOf(t, n)), 'g', -1, 64))
			} else {
				x = changed(t, x, change)
			}
			out[key] = x
		}
		return out
	}
	return tree
}

// saveTree saves a report and returns its path.
func saveTree(t *testing.T, tree any) string {
	t.Helper()
	data, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return save(t, t.TempDir(), "report.json", string(data))
}

// whatIfs are changes that are predicted from each report with a loader.
var whatIfs = []string{
	"", "--step 100ms", "--gpu a100",
	"--prefetch 0", "--prefetch 1 --step 60ms", "--prefetch 4 --workers 2 --cores 4", "--workers 3",
	"--cores 0.5", "--cores 1 --gpu h100-mlperf", "--cores 16",
	"--mem pageable", "--mem staged --step 50ms", "--mem pinned",
	"--link gen3x4", "--link gen4x8 --cores 8 --gpu a100", "--link gen5x16 --mem pageable",
	"--disk hdd", "--disk hdd --tar", "--disk nvme", "--disk sata3 --side 256", "--disk 250MB/s:2ms --step 40ms",
	"--disk stream100 --prepared", "--ram", "--cold", "--cold --tar --step 30ms", "--tar",
	"--dtype float16", "--dtype uint8 --link gen3x4 --gpus 4", "--side 256", "--side 128 --cores 4",
	"--prepared", "--prepared --cold", "--gpus 2", "--gpus 4 --step 20ms", "--cores 100000", "--ram --cold",
}

func addWhatIfs(t *testing.T, got numberLines) {
	all := publishedReports(t)
	got.add("whatif without a pipeline", commandJSON(t, "whatif", all["assumed-hdd"]))
	for _, name := range []string{"everything", "pipeline", "v1"} {
		for _, flags := range whatIfs {
			args := append([]string{"whatif", all[name]}, strings.Fields(flags)...)
			got.add(strings.TrimSpace("whatif "+name+" "+flags), commandJSON(t, args...))
		}
	}
}

// addComparisons compares each report with itself and with others that have cases of it.
// What a comparison says of a report by itself is kept once.
func addComparisons(t *testing.T, got numberLines) {
	all := publishedReports(t)
	pairs := [][]string{
		{"assumed-hdd", "assumed-stream100"}, {"assumed-gen3", "everything"}, {"disk-virtio", "everything"},
		{"pipeline", "everything"}, {"preprocess-photos", "everything"}, {"v1", "everything"},
		{"everything", "v1", "pipeline"},
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, []string{name, name})
	}
	for _, pair := range pairs {
		args := []string{"compare", "--fail-on", "5%"}
		for i, name := range pair {
			args = append(args, fmt.Sprintf("%d=%s", i, all[name]))
		}
		compared := numberLines{}
		compared.add("compare "+strings.Join(pair, " "), commandJSON(t, args...))
		maps.DeleteFunc(compared, func(at place, _ any) bool {
			once := pair[0] != pair[1] || strings.HasSuffix(at.path, "/sides[0]")
			return strings.Contains(at.path, "/metrics[") &&
				(at.key == "unit" || once && slices.Contains(ofOneReport, at.key))
		})
		maps.Copy(got, compared)
	}
}

// ofOneReport are the fields of a compared metric that do not depend on other reports.
var ofOneReport = []string{"median", "lo", "hi", "n", "effective", "runs"}

// madeCases are cases of v1.json with few samples and many, of all suites.
var madeCases = []string{
	"pcie/device=host/dir=h2h/mem=bounce/bytes=19440000",
	"disk/store=tensor/cache=direct/readers=1",
	"preprocess/threads=2/decoder=turbo/strategy=online",
	"pipeline/device=sim:gen3x16/mem=pinned/prefetch=1/workers=1/strategy=online/step=0s",
}

// madeMetrics are those of their metrics that are kept: lower, higher and derived ones.
var madeMetrics = []string{"time", "bandwidth", "throughput", "efficiency", "queue_depth"}

// addMadeComparisons compares a report with itself made slower by shares, as single runs,
// as restarts, and as ten that were made in turn or one side after the other, on a
// quiet machine and on one that is busy now and then.
func addMadeComparisons(t *testing.T, got numberLines) {
	base := parseTree(t, mustRead(t, "../../results/testdata/v1.json")).(map[string]any)
	base["results"] = onlyNamed(base["results"], madeCases)
	for _, res := range jsonObjects(base["results"]) {
		delete(res, "series")
		res["metrics"] = onlyNamed(res["metrics"], madeMetrics)
	}
	for _, made := range []struct {
		name   string
		runs   int
		inTurn bool
		busy   float64 // by how much most of a run is slower at most
	}{
		{"single", 1, false, 0}, {"three restarts", 3, false, 0}, {"five restarts, busy", 5, false, 0.06},
		{"ten in turn", 10, true, 0}, {"ten in turn, busy", 10, true, 0.5}, {"ten, not in turn", 10, false, 0},
	} {
		random := noise(made.runs)
		for _, factor := range []float64{1, 1.03, 1.05, 1.1} {
			args := []string{"compare", "--fail-on", fmt.Sprintf("%.0f%%", 100*(factor-1))} // within intervals
			var news []string
			for run := range made.runs {
				for side, scale := range []float64{1, factor} {
					scale *= 1 + 0.01*random.next()
					rep := disturbed(t, base, scale, made.busy*random.next(), &random)
					minute := side*made.runs + run
					if made.inTurn {
						minute = 2*run + side
					}
					rep["started"] = time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC).Format(time.RFC3339)
					path := saveTree(t, rep)
					args = append(args, []string{"old=", "new="}[side]+path)
					if side == 1 {
						news = append(news, path)
					}
				}
			}
			got.add(fmt.Sprintf("compare %s by %g", made.name, factor), commandJSON(t, args...))
			if factor == 1.03 && made.runs > 1 {
				got.add("merged "+made.name, mergedReports(t, news))
			}
		}
	}
}

// onlyNamed are the elements of a list that have these names.
func onlyNamed(list any, names []string) (kept []any) {
	for _, x := range jsonObjects(list) {
		if slices.Contains(names, x["name"].(string)) {
			kept = append(kept, x)
		}
	}
	return kept
}

// disturbed is a copy of a report of single runs with all values scaled, all but the
// fastest fifth of each metric's samples made slower yet, and all of them in another order.
func disturbed(t *testing.T, rep any, scale, busy float64, random *noise) map[string]any {
	t.Helper()
	tree := changed(t, rep, func(v float64) float64 { return v * scale }).(map[string]any)
	for _, res := range jsonObjects(tree["results"]) {
		for _, m := range jsonObjects(res["metrics"]) {
			samples := jsonObjects(m["samples"])
			values := make([]float64, len(samples))
			for i, s := range samples {
				values[i] = floatOf(t, s["value"])
			}
			slices.Sort(values)
			slower := 1 + busy
			if m["better"] == "higher" {
				slices.Reverse(values)
				slower = 1 / slower
			}
			for i := range values {
				if i >= len(values)/5 {
					values[i] *= slower
				}
			}
			random.shuffle(values)
			for i, s := range samples {
				s["value"] = values[i]
			}
		}
	}
	return tree
}

func floatOf(t *testing.T, x any) float64 {
	t.Helper()
	f, err := x.(json.Number).Float64()
	if err != nil {
		t.Fatal(err)
	}
	return f
}
