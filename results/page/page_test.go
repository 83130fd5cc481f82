package page

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dlbench/results"
)

var update = flag.Bool("update", false, "write golden files")

// sample is the report that package results tests its encodings with: assumed and
// measured cases, one failed and one skipped.
func sample(t testing.TB) *results.Report {
	t.Helper()
	r, err := results.ReadFile("../testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// drawings are charts as package chart draws them.
func drawings(t testing.TB) (all []Chart) {
	t.Helper()
	for _, name := range []string{"pcie-batch-time", "pipeline-feed", "preprocess-scaling"} {
		files, _ := filepath.Glob("../chart/testdata/*" + name + ".svg")
		if len(files) == 0 {
			t.Fatalf("no drawing of %s", name)
		}
		svg, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Chart{Name: name, Title: "About " + name, SVG: svg})
	}
	return all
}

func write(t testing.TB, o Options, reports ...*results.Report) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, reports, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// element is a start tag of a page with the text that stands in it directly.
type element struct {
	name  string
	attrs map[string]string
	text  string
	in    []string // names of the elements around it
}

// parse reads a page as strictly as XML is read and returns its elements in order.
func parse(t *testing.T, page string) (all []*element) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	var open []*element
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			e := &element{name: tok.Name.Local, attrs: map[string]string{}}
			for _, o := range open {
				e.in = append(e.in, o.name)
			}
			for _, a := range tok.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			all, open = append(all, e), append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text += string(tok)
			}
		}
	}
}

// checkPage holds a page against what every page must keep to.
func checkPage(t *testing.T, page string) []*element {
	t.Helper()
	if len(page) > MaxSize {
		t.Errorf("%d bytes, more than %d", len(page), MaxSize)
	}
	all := parse(t, page)
	ids := map[string]bool{}
	for _, e := range all {
		if id, ok := e.attrs["id"]; ok {
			if ids[id] {
				t.Errorf("id %q is there twice", id)
			}
			ids[id] = true
		}
	}
	level, captions, tables := 0, 0, 0
	for _, e := range all {
		if !slices.Contains(elements, e.name) {
			t.Errorf("element %s", e.name)
		}
		for name, value := range e.attrs {
			switch {
			case !slices.Contains(attributeNames, name):
				t.Errorf("attribute %s of %s", name, e.name)
			case strings.HasPrefix(name, "aria-") && name != "aria-label":
				if !ids[value] {
					t.Errorf("%s of %s points to no %q", name, e.name, value)
				}
			case name == "href" && strings.HasPrefix(value, "#") && !ids[value[1:]]:
				t.Errorf("link to no %q", value)
			case name == "href" && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "data:"):
				t.Errorf("link to %q", value)
			}
		}
		switch e.name {
		case "html":
			if e.attrs["lang"] == "" {
				t.Error("no language")
			}
		case "h1", "h2", "h3":
			n := int(e.name[1] - '0')
			if n > level+1 {
				t.Errorf("%s %q follows h%d", e.name, e.text, level)
			}
			level = n
		case "table":
			tables++
		case "caption":
			captions++
		case "th":
			if e.attrs["scope"] == "" {
				t.Errorf("head %q without scope", e.text)
			}
		case "svg":
			if e.attrs["role"] != "img" || e.attrs["aria-labelledby"] == "" || e.attrs["aria-describedby"] == "" {
				t.Errorf("a drawing without text: %v", e.attrs)
			}
		}
	}
	if tables != captions {
		t.Errorf("%d tables, %d captions", tables, captions)
	}
	return all
}

// elements and attributeNames are all that a page may consist of.
var (
	elements = strings.Fields(`html head meta link title style body header main nav section h1 h2 h3 p a b i br span div ul li dl dt dd code
		table caption thead tbody tr th td figure figcaption svg g path text`)
	attributeNames = strings.Fields(`lang charset http-equiv content name rel href id class scope role tabindex download
		aria-label aria-labelledby aria-describedby x y d transform viewBox width height`)
)

// texts joins the text of all elements of that name, each on a line.
func texts(all []*element, name string) string {
	var lines []string
	for _, e := range all {
		if e.name == name {
			lines = append(lines, strings.TrimSpace(e.text))
		}
	}
	return strings.Join(lines, "\n")
}

var (
	dataURL    = regexp.MustCompile(`(href="data:[a-z/]+;base64,)[^"]*`)
	styleSheet = regexp.MustCompile(`(?s)<style>.*</style>\n`)
)

func TestWriteGolden(t *testing.T) {
	svg := `<?xml version="1.0"?><svg viewBox="0 0 60 40"><title>x</title><g><path d="M0,0L60,40" style="fill:none;stroke:#1A1A1A"/><text x="1" y="9">1.542 ms</text></g></svg>`
	page := write(t, Options{Charts: []Chart{{"pcie-batch-time", "Time to copy one batch", []byte(svg)}}}, sample(t))
	checkPage(t, page)
	got := styleSheet.ReplaceAllString(dataURL.ReplaceAllString(page, "$1"), "") // tested below and in a browser
	const file = "testdata/sample.html"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range g {
			if i >= len(w) || g[i] != w[i] {
				t.Fatalf("line %d differs from %s (-update writes it anew):\n%s", i+1, file, g[i])
			}
		}
		t.Fatalf("%s has more lines", file)
	}
}

func TestWriteOrder(t *testing.T) {
	all := checkPage(t, write(t, Options{Charts: drawings(t), Tables: []Table{{Caption: "Compared", Head: []string{"case", "change"}, Numbers: []bool{false, true}, Rows: [][]string{{"pcie", "+3 %"}}}}}, sample(t)))
	if got, want := texts(all, "h2"), "Findings\nComparison\nMachine\nResults\nCharts\nWarnings\nMethod\nJSON"; got != want {
		t.Errorf("sections:\n%s\nwant:\n%s", got, want)
	}
	if n := strings.Count(texts(all, "svg")+texts(all, "figcaption"), "The figures are in the"); n != 1 {
		t.Errorf("%d drawings point to their tables, want that of pcie alone: there is no other suite", n)
	}
}

func TestWriteSaysWhatHappened(t *testing.T) {
	interrupted := sample(t)
	interrupted.Status = results.Interrupted
	missing := sample(t)
	missing.Config.Suites = []string{"pcie", "pipeline"}
	empty := &results.Report{SchemaVersion: 1, Status: results.Complete}
	verdict := sample(t)
	verdict.Findings = append(verdict.Findings,
		results.Finding{Claim: "bound", Verdict: results.Fails, Text: "the disk"},
		results.Finding{Claim: "feeds", Verdict: results.Inconclusive, Text: "feeds a little"})
	verdict.Verdict = &results.Verdict{Bound: "preprocessing", Feeds: results.Finite(812), Margin: results.Finite(0.25), Next: "the disk", Changes: []string{"4 more cores"}}
	verdict.Predictions = []results.Prediction{{Change: "8 lanes", Metric: "step", Unit: "s", Value: results.Finite(0.2), Lo: results.Finite(0.19), Hi: results.Finite(0.21)}}
	for _, c := range []struct {
		name   string
		report *results.Report
		want   []string // in this order
	}{
		{"sample", sample(t), []string{
			">assumed: link<", `<span class="badge none">not measured</span>`, "<b>A1</b> batch time by lanes <span class=\"assumed\">assumed: link</span>",
			`<span class="badge holds">holds</span>`, "AMD EPYC 7763 64-Core Processor", "quota 2", "6.1.0-13-amd64", "image/jpeg", "dlbench v0.3.0, commit 0123abc, go1.26.0",
			`<span class="assumed">assumed link</span> dtype`, `<span class="badge failed">failed</span> p95 of the lateness is 3.1 %`, `<span class="badge none">skipped</span> no CUDA device`,
			"no GPU here: links and step are assumed", "a noisy round was repeated", "10 measured, 1 skipped, 1 failed", "dlbench run --suite pcie,disk --device sim:gen3x4", "--min-time 0.005s --seed 1", "report.json",
		}},
		{"interrupted", interrupted, []string{"Interrupted: only the cases that were finished"}},
		{"missing", missing, []string{`<h3 id="suite-3">pipeline</h3>`, "this suite was asked for, but the report has no case of it"}},
		{"empty", empty, []string{"unnamed machine", "No results at all", "No verdict", "No findings", "unknown model", "There are no results", "<p>None.</p>", "0 measured"}},
		{"verdict", verdict, []string{"812 images/s", "preprocessing", "25.00 %", "the disk", "4 more cores", "feeds a little", "the disk", "A1", "8 lanes", "200.0 ms (190.0..210.0 ms)"}},
	} {
		page := write(t, Options{}, c.report)
		checkPage(t, page)
		rest := page
		for _, want := range c.want {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s: no %q in its place", c.name, want)
				continue
			}
			rest = after
		}
	}
}

func TestWriteSeveral(t *testing.T) {
	a, b, c := sample(t), sample(t), sample(t)
	b.Label, b.Status, b.Results = "", results.Interrupted, b.Results[:6]
	b.Config.Suites = []string{"pcie", "disk"}
	c.Findings[1].Verdict = results.Fails
	all := checkPage(t, write(t, Options{Charts: drawings(t), Notes: []string{"A chart of two."}}, a, b, c))
	const names = "workstation | bench\nAMD EPYC 7763 64-Core Processor\nworkstation | bench (2)"
	if got, want := texts(all, "h1"), "dlbench: 3 reports"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	if got, want := texts(all, "h3"), names+"\npcie\ndisk\n"+names+"\n"+names; got != want {
		t.Errorf("headings:\n%s\nwant:\n%s", got, want)
	}
	notes := texts(all, "p")
	for _, want := range []string{"AMD EPYC 7763 64-Core Processor: this suite was asked for", "Interrupted:", "Left out of this page: A chart of two."} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in:\n%s", want, notes)
		}
	}
	var verdicts []string
	for _, e := range all {
		if e.name == "span" && strings.HasPrefix(e.attrs["class"], "badge") && slices.Contains(e.in, "table") {
			verdicts = append(verdicts, e.text)
		}
	}
	if got, want := strings.Join(verdicts, ", "), "not measured, not measured, not measured, holds, holds, fails"; got != want {
		t.Errorf("verdicts side by side: %s, want %s", got, want)
	}
}

// hostile is a text that a careless page would run, or let break its frame.
const hostile = `</style></title></svg>--><script>alert(1)</script><img src="x" onerror='alert(2)'>` + "&quot;\u202e\x00\x1b[2J\u2028{{.}}${7}javascript:alert(3)"

// poison sets every text of v to hostile but those that keep decides on.
func poison(v reflect.Value, keep func(string) bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Kind() == reflect.Pointer {
			poison(v.Elem(), keep)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && !keep(v.Type().Name()+"."+v.Type().Field(i).Name) {
				poison(v.Field(i), keep)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), keep)
		}
	case reflect.String:
		v.SetString(hostile)
	}
}

func TestWriteHostile(t *testing.T) {
	r := sample(t)
	r.Verdict = &results.Verdict{Changes: []string{""}, Feeds: results.Finite(1)}
	r.Predictions = []results.Prediction{{}}
	r.Host.GPUs = []results.GPU{{Shares: []string{""}}}
	r.Host.Disks = []results.Disk{{Notes: []string{""}, MountOptions: []string{""}}}
	r.Host.Notes = []string{""}
	poison(reflect.ValueOf(r), func(field string) bool {
		return slices.Contains([]string{"Report.Status", "Result.Status", "Time.loc"}, field)
	})
	for i := range r.Results {
		r.Results[i].Params = results.Params{{Key: hostile, Value: hostile}, {Key: "n", Value: int64(i)}}
	}
	r.Config.Axes = map[string][]string{hostile: {hostile}}
	svg := `<svg viewBox="0 0 1 1"><text style="fill:#123;background:url(x)">` + "&lt;/style&gt;&lt;script&gt;alert(1)&lt;/script&gt;" + `</text></svg>`
	o := Options{
		Charts: []Chart{{hostile, hostile, []byte(svg)}},
		Tables: []Table{{Caption: hostile, Head: []string{hostile}, Rows: [][]string{{hostile}}, Notes: []string{hostile}}},
		Notes:  []string{hostile},
	}
	for n := 1; n <= 2; n++ {
		page := write(t, o, slices.Repeat([]*results.Report{r}, n)...)
		all := checkPage(t, page)
		for _, bad := range []string{"<script", "<img", "\u202e", "\x00", "\x1b", "\u2028", "ZgotmplZ"} {
			if i := strings.Index(page, bad); i >= 0 {
				t.Errorf("%q in ...%s...", bad, page[max(i-80, 0):i+40])
			}
		}
		if n := strings.Count(page, "&lt;script&gt;alert(1)&lt;/script&gt;"); n < 40 {
			t.Errorf("hostile text is there %d times: was it dropped?", n)
		}
		for _, e := range all {
			if class := e.attrs["class"]; strings.ContainsAny(class, `<>"'&`) {
				t.Errorf("class %q", class)
			}
		}
	}
}

func TestWriteForbidsScripts(t *testing.T) {
	all := parse(t, write(t, Options{}, sample(t)))
	i := slices.IndexFunc(all, func(e *element) bool { return e.attrs["http-equiv"] == "Content-Security-Policy" })
	if i < 0 || !strings.HasPrefix(all[i].attrs["content"], "default-src 'none';") || strings.Contains(all[i].attrs["content"], "script-src") {
		t.Errorf("no policy that forbids scripts")
	}
}

func TestWriteReportsErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	if _, err := Write(failing{broken}, []*results.Report{sample(t)}, Options{}); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// downloadsOf decodes the reports in a page.
func downloadsOf(t *testing.T, page string) (all [][]byte) {
	t.Helper()
	for _, e := range parse(t, page) {
		if _, ok := e.attrs["download"]; !ok {
			continue
		}
		_, data, _ := strings.Cut(e.attrs["href"], ";base64,")
		b, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func TestDownloadIsTheReport(t *testing.T) {
	want := sample(t)
	all := downloadsOf(t, write(t, Options{}, want, sample(t)))
	if len(all) != 2 {
		t.Fatalf("%d reports in the page, want 2", len(all))
	}
	got, err := results.Read(bytes.NewReader(all[0]))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("the report in the page is another one")
	}
}

func TestDownloadsFit(t *testing.T) {
	reports := []*results.Report{sample(t), sample(t), sample(t)}
	d := newDocument(reports, Options{})
	sizeOf := func(p packing) int {
		all, used, err := d.pack(reports, p, MaxSize)
		if err != nil || len(all) != 3 {
			t.Fatalf("%d packed, %v", len(all), err)
		}
		return used
	}
	plain, zipped := sizeOf(plainJSON), sizeOf(gzipJSON)
	if zipped > plain*2/3 {
		t.Errorf("compressed %d of %d bytes", zipped, plain)
	}
	for _, c := range []struct {
		room, want int
		extension  string
		left       []string
	}{
		{plain, 3, ".json", nil},
		{plain - 1, 3, ".json.gz", nil},
		{zipped, 3, ".json.gz", nil},
		{zipped - 1, 2, ".json.gz", []string{"The JSON of workstation | bench (3) would not fit, not even compressed."}},
		{0, 0, "", []string{"The JSON of the reports would not fit, not even compressed."}},
	} {
		room := c.room
		d.Downloads = nil
		left, err := d.addDownloads(reports, &room)
		if err != nil || !slices.Equal(left, c.left) || len(d.Downloads) != c.want || room < 0 {
			t.Errorf("room %d: %d reports, left %q, room %d, %v; want %d, %q", c.room, len(d.Downloads), left, room, err, c.want, c.left)
		}
		for i, x := range d.Downloads {
			if want := fmt.Sprintf("report-%d-workstation-bench", i+1); !strings.HasPrefix(x.File, want) || !strings.HasSuffix(x.File, c.extension) {
				t.Errorf("room %d: file %q, want %s...%s", c.room, x.File, want, c.extension)
			}
		}
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		config results.Config
		want   string
	}{
		{results.Config{Batch: 32, Shape: []int{225, 225, 3}, DType: "float32", Repeat: 1, Seed: 1}, "dlbench run --batch 32 --shape 225x225x3 --dtype float32 --seed 1"},
		{results.Config{Suites: []string{"pcie", "disk"}, Devices: []string{"cuda:0", "sim:gen3x16:gbps=12.1"}, Quick: true, Count: 5, MinTime: 0.005, Timeout: 90, Repeat: 3},
			"dlbench run --suite pcie,disk --device cuda:0 --device sim:gen3x16:gbps=12.1 --quick --count 5 --min-time 0.005s --timeout 90s --repeat 3 --seed 0"},
		{results.Config{Axes: map[string][]string{"mem": {"pinned", "a b"}, "cache": {"it's"}}}, `dlbench run -a 'cache=it'\''s' -a 'mem=pinned,a b' --seed 0`},
	} {
		if got := command(c.config); got != c.want {
			t.Errorf("command(%+v) =\n%s, want\n%s", c.config, got, c.want)
		}
	}
}
