package compare

import (
	"regexp"
	"slices"
	"strings"
)

// matchDevices returns which device of base each device of other stands against,
// where that is plain: one of the same specification, else the only one left of
// the same kind and link ("sim:gen3x4" and "sim:gen3x4:gbps=3"), else the only
// one left of its kind ("cuda:0" and "cuda:1").
func matchDevices(base, other []string) map[string]string {
	match := map[string]string{}
	base, other = slices.Clone(base), slices.Clone(other)
	for _, like := range []func(string) string{func(spec string) string { return spec }, deviceLink, deviceKind} {
		counts := map[string][2]int{}
		for i, specs := range [][]string{base, other} {
			for _, spec := range specs {
				n := counts[like(spec)]
				n[i]++
				counts[like(spec)] = n
			}
		}
		for _, spec := range slices.Clone(other) {
			if counts[like(spec)] != [2]int{1, 1} {
				continue
			}
			at := slices.IndexFunc(base, func(b string) bool { return like(b) == like(spec) })
			match[spec] = base[at]
			base = slices.Delete(base, at, at+1)
			other = slices.DeleteFunc(other, func(o string) bool { return o == spec })
		}
	}
	return match
}

var linkOfSpec = regexp.MustCompile(`gen[0-9]+x[0-9]+`)

func deviceLink(spec string) string { return deviceKind(spec) + ":" + linkOfSpec.FindString(spec) }

// deviceKind is "cuda" of "cuda:0:link=gen3x4".
func deviceKind(spec string) string {
	kind, _, _ := strings.Cut(spec, ":")
	return kind
}
