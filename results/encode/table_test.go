package encode

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	var got []string
	for _, s := range Tables(sampleReport()) {
		var heads []string
		for _, c := range s.Columns {
			heads = append(heads, c.Head)
			if len(c.Cells) != s.Rows || c.Spread != nil && len(c.Spread) != s.Rows {
				t.Errorf("%s: column %s has %d cells and %d intervals for %d rows", s.Suite, c.Head, len(c.Cells), len(c.Spread), s.Rows)
			}
		}
		got = append(got, fmt.Sprintf("%s assumed %q, %s: %d rows of %s; %d sources, %d demands", s.Suite, s.Assumed, s.Common, s.Rows, strings.Join(heads, ","), len(s.Sources), len(s.Demands)))
		for _, n := range s.Notes {
			got = append(got, n.Kind+" "+n.Name)
		}
	}
	want := []string{
		`pcie assumed "link", dtype float32, source warm, size 19.44 MB: 7 rows of device,dir,mem,time,bandwidth,of line rate,lateness,submit,line rate,protocol band,article theory,article practice; 4 sources, 0 demands`,
		"failed pcie/device=sim:gen3x16/dir=d2h/mem=pinned/bytes=19440000",
		"warning pcie/device=sim:gen3x4/dir=h2d/mem=pageable/bytes=19440000",
		`pcie assumed "", : 0 rows of ; 0 sources, 0 demands`,
		"skipped pcie/device=cuda:0/dir=h2d/mem=pinned/bytes=19440000",
		`disk assumed "", : 4 rows of store,cache,size,proven,time,bandwidth,article disk; 1 sources, 0 demands`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("tables:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
