package page

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dlbench/results"
)

// browser returns a Chromium, and skips the test where there is none.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium on PATH: pages are looked at where there is one")
	return ""
}

// open shows the file at path and returns the document as it then is and what the
// browser logged.
func open(t *testing.T, path string, flags ...string) (dom, log string) {
	t.Helper()
	args := []string{"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking", "--user-data-dir=" + t.TempDir(),
		"--enable-logging=stderr", "--v=0", "--virtual-time-budget=2000", "--dump-dom"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // which root cannot have
	}
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	cmd := exec.CommandContext(t.Context(), browser(t), append(append(args, flags...), file.String())...)
	cmd.WaitDelay = 5 * time.Second // children may hold the pipes
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return out.String(), errs.String()
}

// measuring reports on the page that it stands in to the page around it.
//
//go:embed testdata/measure.js
var measuring string

// measures are what measuring reports of a page in a window that many CSS pixels wide.
type measures struct {
	Width, Drawings int
	Dark            bool
	Faults          []string
}

var policy = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)

// widths are those at which pages are looked at: a phone's and a desktop's.
var widths = []int{360, 1200}

// measure lays page out in windows of each width.
func measure(t *testing.T, page string, dark bool) (all []measures) {
	t.Helper()
	dir := t.TempDir()
	page = policy.ReplaceAllString(page, "") // it forbids to measure
	page = strings.Replace(page, "</body>", "<script>"+measuring+"</script></body>", 1)
	// A window of a headless browser is no narrower than 500 pixels: a frame is.
	frames := `<!DOCTYPE html><meta name="color-scheme" content="light dark"/><output></output>
<script>addEventListener("message", e => { document.querySelector("output").textContent += e.data + " " })</script>`
	for _, width := range widths {
		frames += fmt.Sprintf(`<iframe src="page.html" style="border:0;width:%dpx;height:2000px"></iframe>`, width)
	}
	for name, text := range map[string]string{"page.html": page, "frames.html": frames} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	scheme := 1
	if dark {
		scheme = 0
	}
	dom, log := open(t, filepath.Join(dir, "frames.html"),
		fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), "--window-size=1600,2000")
	_, text, _ := strings.Cut(dom, "<output>")
	text, _, _ = strings.Cut(text, "</output>")
	d := json.NewDecoder(strings.NewReader(html.UnescapeString(text)))
	for range widths {
		var m measures
		if err := d.Decode(&m); err != nil {
			t.Fatalf("measures in %q: %v\n%s", text, err, log)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b measures) int { return a.Width - b.Width })
	return all
}

func TestInABrowser(t *testing.T) {
	browser(t)
	long := sample(t)
	long.Label = strings.Repeat("AVeryLongLabelWithoutASpace", 3)
	long.Results[0].Warnings = []string{strings.Repeat("x", 200)}
	long.Verdict = &results.Verdict{Bottleneck: "preprocess", Feeds: results.Finite(812), Next: "copy"}
	long.Status = results.Interrupted
	for _, v := range []string{results.Fails, results.Inconclusive} {
		long.Findings = append(long.Findings, results.Finding{Claim: "A2", Verdict: v, Text: "so it is"})
	}
	one, several := drawn(t, sample(t)), drawn(t, long, sample(t), sample(t))
	several.Comparison = compared
	for _, c := range []struct {
		name string
		page string
	}{
		{"one", write(t, one)},
		{"several", write(t, several)},
	} {
		for _, dark := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/dark=%t", c.name, dark), func(t *testing.T) {
				for i, m := range measure(t, c.page, dark) {
					if m.Width != widths[i] || m.Dark != dark || m.Drawings != 3 {
						t.Errorf("laid out as %+v: want %d wide, dark %t, 3 drawings", m, widths[i], dark)
					}
					for _, fault := range m.Faults {
						t.Errorf("%d wide: %s", widths[i], fault)
					}
				}
			})
		}
	}
}

// TestInABrowserQuietly opens the page itself, with its policy.
func TestInABrowserQuietly(t *testing.T) {
	browser(t)
	show := func(page string) (dom, log string) {
		file := filepath.Join(t.TempDir(), "report 1.html")
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return open(t, file)
	}
	page := write(t, drawn(t, sample(t), sample(t)))
	dom, log := show(page)
	if strings.Contains(log, "CONSOLE") {
		t.Errorf("the console says:\n%s", log)
	}
	if !strings.Contains(dom, "<img alt=") || !strings.Contains(dom, "</table>") {
		t.Errorf("the page is not there:\n%.300s", dom)
	}
	dom, log = show(hostilePage(t, 2))
	if strings.Contains(log, "CONSOLE") || strings.Contains(dom, "<script") || strings.Contains(dom, "<img src") {
		t.Errorf("hostile texts had an effect:\n%s", log)
	}
	// Would the console tell? A script that slipped in is refused by the policy.
	dom, log = show(strings.Replace(page, "</body>", "<script>document.title = 'broken in'</script></body>", 1))
	if !strings.Contains(log, "CONSOLE") || strings.Contains(dom, "<title>broken in") {
		t.Errorf("a script ran, or the console kept silent:\n%s", log)
	}
}
