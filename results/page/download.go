package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
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

// addDownloads puts the reports into the page, as they are if that fits into room
// bytes, else compressed. Those that do not fit either are left out,
// with a sentence that names them.
func (d *document) addDownloads(reports []*results.Report, room int) (left []string, err error) {
	for _, pack := range []packing{plainJSON, gzipJSON} {
		if d.Downloads, _, err = d.pack(reports, pack, room); err != nil {
			return nil, err
		}
		if len(d.Downloads) == len(reports) {
			break
		}
	}
	var names []string
	for i := len(d.Downloads); i < len(reports); i++ {
		names = append(names, d.Reports[i].Name)
	}
	switch {
	case len(names) == 0:
		return nil, nil
	case len(d.Downloads) == 0:
		names = []string{"the reports"}
	}
	return []string{fmt.Sprintf("The JSON of %s would not fit, not even compressed.", strings.Join(names, ", "))}, nil
}

// packing is a form in which a report stands in a page.
type packing struct {
	extension, mediaType string
	encode               func(io.Writer, *results.Report) error
}

var (
	plainJSON = packing{"json", "application/json", results.WriteCompact}
	gzipJSON  = packing{"json.gz", "application/gzip", func(w io.Writer, r *results.Report) error {
		z := gzip.NewWriter(w)
		if err := results.WriteCompact(z, r); err != nil {
			return err
		}
		return z.Close()
	}}
)

// pack returns the reports up to the first that does not fit, and their size.
func (d *document) pack(reports []*results.Report, p packing, room int) (all []download, used int, err error) {
	var b bytes.Buffer
	for i, r := range reports {
		b.Reset()
		if err := p.encode(&b, r); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", d.Reports[i].Name, err)
		}
		file := "report." + p.extension
		if len(reports) > 1 {
			file = fmt.Sprintf("report-%d-%s.%s", i+1, slug(d.Reports[i].Name), p.extension)
		}
		size := base64.StdEncoding.EncodedLen(b.Len()) + len(d.Reports[i].Name) + 500
		if used+size > room {
			return all, used, nil
		}
		used += size
		link := fmt.Sprintf(`download="%s" href="data:%s;base64,%s"`, file, p.mediaType,
			base64.StdEncoding.EncodeToString(b.Bytes()))
		all = append(all, download{d.Reports[i].Name, file, results.FormatValue(float64(b.Len()), results.Bytes),
			template.HTMLAttr(link)})
	}
	return all, used, nil
}

var notInFileNames = regexp.MustCompile(`[^a-z0-9]+`)

// slug is name as a part of a file's name on any system.
func slug(name string) string {
	s := notInFileNames.ReplaceAllString(strings.ToLower(name), "-")
	return strings.Trim(s[:min(len(s), 40)], "-")
}
