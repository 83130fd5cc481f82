package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dlbench/bench/theory"
)

// What the articles print of a machine follows to the digit, and stands beside it.
func TestTheoryGolden(t *testing.T) {
	golden, _ := filepath.Abs("testdata/theory.golden") // the command runs in a folder of its own
	code, text, _ := dlbench(t, "theory")
	if *update {
		os.WriteFile(golden, []byte(text), 0o644)
	}
	if want, err := os.ReadFile(golden); err != nil || code != exitOK || text != string(want) {
		t.Errorf("exit %d, %v; -update rewrites what was printed:\n%s", code, err, text)
	}
	exact := 0
	for _, f := range theory.Owning(theory.ArticleMachine(1), theory.ArticleMachine(4)) {
		if f.Unit != "x" || f.Article == "" {
			continue
		}
		exact++
		if f.Text() != f.Article {
			t.Errorf("%s: %s, the article prints %s", f.Name, f.Text(), f.Article)
		}
	}
	if exact != 5 {
		t.Errorf("%d factors of the articles, want 5", exact)
	}
}

// A machine of the user's own: what is not given is as in the articles for so many GPUs.
func TestTheoryOfAMachine(t *testing.T) {
	for line, want := range map[string][]string{
		"--gpus 2":                          {"2 GPUs: power supply 715 W", "2 GPUs: energy a year 11680 kWh", "0.9 months"},
		"--gpus 8 --gpu-watts 700":          {"8 GPUs: power supply 6325 W", "8 GPUs: energy a year 55407 kWh"},
		"--watts 500 --hours 2000":          {"1 GPU: energy a year 1000 kWh", "1 GPU: cost of the energy 200.00"},
		"--rent 0 --storage 0":              {"1 GPU: owning pays off after never", "1 GPU: rent on demand / own 0.0x"},
		"--price 0 --watts 0":               {"1 GPU: rent on demand / own -", "1 GPU: owning pays off after 0.0 months"},
		"--price 12000 --rent 30 --years 5": {"1 GPU: own, a year 4152"},
	} {
		code, text, stderr := dlbench(t, append([]string{"theory"}, strings.Fields(line)...)...)
		text = strings.Join(strings.Fields(text), " ")
		for _, w := range want {
			if code != exitOK || !strings.Contains(text, w) {
				t.Errorf("theory %s: exit %d %s; no %q in %s", line, code, stderr, w, text)
			}
		}
		if strings.Contains(text, "4 GPUs") || strings.Contains(text, "two weeks") {
			t.Errorf("theory %s shows the articles' machines too: %s", line, text)
		}
	}
	for _, name := range []string{"price", "watts", "hours", "kwh", "rent", "storage", "years", "gpu-watts", "cpu-watts"} {
		for _, x := range []string{"-1", "", "NaN", "Inf", "1e300", "5 EUR"} {
			refuses(t, exitUsage, []string{"theory", "--" + name, x}, "--"+name, "want a number")
		}
	}
	refuses(t, exitUsage, []string{"theory", "--hours", "9000"}, "--hours", "9000", "8784")
	refuses(t, exitUsage, []string{"theory", "--years", "0"}, "--years", `"0"`, "from 0.01")
}

// Nothing of a machine is infinite or not a number in JSON, whatever is 0.
func TestFiguresAreFinite(t *testing.T) {
	for _, m := range []theory.Machine{{}, {GPUs: 1, Years: 1}, theory.ArticleMachine(1)} {
		for _, f := range append(theory.Power(m), theory.Owning(m)...) {
			if f.Value != nil && (math.IsNaN(*f.Value) || math.IsInf(*f.Value, 0)) || f.Text() == "" {
				t.Errorf("%+v: %s is %v", m, f.Name, *f.Value)
			}
		}
	}
}

// Element types are taken by the names that people use, in every case, by each flag that takes one.
func TestDTypesByOtherNames(t *testing.T) {
	for name, want := range map[string]string{"fp16": "float16", "HALF": "float16", "bf16": "float16",
		"Float32": "float32", "FP32": "float32", "UINT8": "uint8"} {
		_, plain, _ := dlbench(t, "theory", "--format", "json", "--dtype", want)
		code, other, stderr := dlbench(t, "theory", "--format", "json", "--dtype", name)
		if code != exitOK || other != plain {
			t.Errorf("--dtype %s: exit %d, %s", name, code, stderr)
		}
		var all map[string][]string
		if err := axes(&all).Set("dtype=" + name + "," + want); err != nil || len(all["dtype"]) != 1 || all["dtype"][0] != want {
			t.Errorf("-a dtype=%s,%s: %v, %v", name, want, all, err)
		}
	}
}
