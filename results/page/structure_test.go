package page

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

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
	if len(page) > maxSize {
		t.Errorf("%d bytes, more than %d", len(page), maxSize)
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
	level, captions, tables, policies := 0, 0, 0, 0
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
		case "meta":
			policies += strings.Count(e.attrs["content"], "default-src 'none';") - strings.Count(e.attrs["content"],
				"script-src")
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
	if policies != 1 {
		t.Error("no policy that forbids scripts")
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
