package page

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// element is a start tag of a page.
type element struct {
	name  string
	attrs map[string]string
}

// parse reads a page as strictly as XML is read and returns its elements in order.
func parse(t *testing.T, page string) (all []*element) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if tok, ok := tok.(xml.StartElement); ok {
			e := &element{name: tok.Name.Local, attrs: map[string]string{}}
			for _, a := range tok.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			all = append(all, e)
		}
	}
}

// checkPage holds a page against what every page must keep to.
func checkPage(t *testing.T, page string) []*element {
	t.Helper()
	if len(page) > 3_000_000 {
		t.Errorf("%d bytes, more than 3 MB", len(page))
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
	}
	return all
}

// elements and attributeNames are all that a page may consist of.
var (
	elements = strings.Fields(`html head meta link title style body header main nav section h1 h2 h3 p a b i br span div ul li dl dt dd code
		table caption thead tbody tr th td figure picture source img pre details summary`)
	attributeNames = strings.Fields(`lang charset http-equiv content name rel href id class scope role tabindex download
		aria-label aria-labelledby alt src srcset media open`)
)
