package results

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "",
		"NVIDIA H100 80GB HBM3":              "NVIDIA H100 80GB HBM3",
		"  two\n lines\tand tabs ":           "two lines and tabs",
		"a\x00b\x1b[31mc\u200b\u202ed\ufeff": "ab[31mcd",
		"\xff\xfeok":                         "\uFFFD\uFFFDok",
		"Grüße, 机器 <&>":                      "Grüße, 机器 <&>",
		"\u2028\u0085":                       "",
	} {
		if got := Words(in, 200); got != want {
			t.Errorf("%q: have %q, want %q", in, got, want)
		}
	}
	if got := []rune(Words(strings.Repeat("é", 5000), 200)); len(got) != 200 || got[199] != '…' {
		t.Errorf("5000 letters become %d, want %d with an ellipsis", len(got), 200)
	}
}
