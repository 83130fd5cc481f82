package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"dlbench/results"
	"dlbench/results/chart"
)

// dataURL is the address of data that stand in the page itself.
func dataURL(media string, data []byte) template.URL {
	return template.URL("data:" + media + ";base64," + base64.StdEncoding.EncodeToString(data))
}

// drawing is a chart as it stands in a page.
type drawing struct {
	Title  string
	Src    template.URL
	Narrow template.Srcset // "" where it does not fit: it is moved sideways then
	Media  string          // where Narrow stands in
}

// draw adds drawings of the charts but those that show mainly a simulation.
func (d *document) draw(ctx context.Context, charts []chart.Chart) error {
	for _, c := range charts {
		if c.Simulated {
			d.Simulated = append(d.Simulated, c.Name)
			continue
		}
		var svg, narrow bytes.Buffer
		if err := cmp.Or(ctx.Err(), c.Write(&svg, chart.SVG)); err != nil {
			return err
		}
		x := drawing{Title: c.Title, Src: dataURL("image/svg+xml", svg.Bytes())}
		to := d.placeOf(c.Name)
		if to == &d.Top {
			if err := c.Write(&narrow, chart.Narrow); err != nil {
				return err
			}
			x.Media = "(max-width: 40rem)" // a telephone's
			if !d.Several() {
				x.Media += ", (min-width: 76rem)" // next to the answer
			}
			x.Narrow = template.Srcset(dataURL("image/svg+xml", narrow.Bytes()))
		}
		*to = append(*to, x)
	}
	return ctx.Err()
}

// placeOf is where the chart of that name stands: on top, with the checks, or with its
// suite, which its name begins with.
func (d *document) placeOf(name string) *[]drawing {
	kind, _, _ := strings.Cut(name, "-")
	if kind == "loaders" {
		kind = "external"
	}
	if name == "pipeline-time" || name == "verdict-whatifs" {
		return &d.Top
	}
	if i := slices.IndexFunc(d.Suites, func(s suite) bool { return s.Name == kind }); i >= 0 {
		return &d.Suites[i].Charts
	}
	return &d.Checks
}

// download is a report in the page.
type download struct {
	Machine string
	File    string // its name: report.json
	Size    string
	Link    template.URL
}

// Bytes of reports in a page: as they are, and compressed.
const (
	maxPlain = 2_000_000
	maxJSON  = 4_000_000
)

// addDownloads puts the reports into the page, compressed where they would be too much else, as
// far as there is room.
func (d *document) addDownloads() error {
	texts, total := make([]bytes.Buffer, len(d.Reports)), 0
	for i, r := range d.Reports {
		if err := results.WriteCompact(&texts[i], r.Report); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		total += texts[i].Len()
	}
	room := maxJSON
	for i, r := range d.Reports {
		file, media, data := "report.json", "application/json", texts[i].Bytes()
		if d.Several() {
			file = fmt.Sprintf("report-%d.json", r.ID)
		}
		if total > maxPlain {
			file, media, data = file+".gz", "application/gzip", zipped(data)
		}
		if room -= len(data); room < 0 {
			d.Left = append(d.Left, fmt.Sprintf("The JSON of %s would not fit, not even compressed.", r.Name))
			continue
		}
		d.Downloads = append(d.Downloads, download{r.Name, file, results.Size(int64(len(data))), dataURL(media, data)})
	}
	return nil
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data) // into memory, which takes all
	z.Close()
	return b.Bytes()
}
