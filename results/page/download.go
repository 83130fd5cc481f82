package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"dlbench/results"
)

// download is a report in the page.
type download struct {
	Machine string
	File    string // its name: report.json
	Size    string
	Link    template.HTMLAttr // href and download
}

// addDownloads puts the reports into the page, as they are if all fit into room bytes, else
// compressed. Those that do not fit either are left out, with a sentence that names them.
func (d *document) addDownloads(room int) error {
	for _, compress := range []bool{false, true} {
		if err := d.pack(compress, room); err != nil {
			return err
		}
		if len(d.Downloads) == len(d.Reports) {
			return nil
		}
	}
	var names []string
	for _, r := range d.Reports[len(d.Downloads):] {
		names = append(names, r.Name)
	}
	if len(d.Downloads) == 0 {
		names = []string{"the reports"}
	}
	d.Left = append(d.Left, "The JSON of "+strings.Join(names, ", ")+" would not fit, not even compressed.")
	return nil
}

// pack makes the downloads of the reports up to the first that does not fit into room bytes.
func (d *document) pack(compress bool, room int) error {
	d.Downloads = nil
	for _, r := range d.Reports {
		name := "report"
		if d.Several() {
			name = fmt.Sprintf("report-%d-%s", r.ID, slug(r.Name))
		}
		one, err := newDownload(r, name, compress)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		if room -= one.room(); room < 0 {
			return nil
		}
		d.Downloads = append(d.Downloads, one)
	}
	return nil
}

// newDownload is r as a file of that name, without extension.
func newDownload(r summary, name string, compress bool) (download, error) {
	var b bytes.Buffer
	if err := results.WriteCompact(&b, r.Report); err != nil {
		return download{}, err
	}
	file, media := name+".json", "application/json"
	if compress {
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		z.Write(b.Bytes()) // into memory, which takes all
		z.Close()
		file, media, b = file+".gz", "application/gzip", zipped
	}
	data := base64.StdEncoding.EncodeToString(b.Bytes())
	link := fmt.Sprintf(`download="%s" href="data:%s;base64,%s"`, file, media, data)
	return download{r.Name, file, results.FormatValue(float64(b.Len()), results.Bytes), template.HTMLAttr(link)}, nil
}

// room is how many bytes of a page x takes at most.
func (x download) room() int { return len(x.Link) + len(x.Machine) + 500 }

var notInFileNames = regexp.MustCompile(`[^a-z0-9]+`)

// slug is name as a part of a file's name on any system.
func slug(name string) string {
	s := notInFileNames.ReplaceAllString(strings.ToLower(name), "-")
	return strings.Trim(s[:min(len(s), 40)], "-")
}
