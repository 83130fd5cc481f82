package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dlbench/bench/theory"
	"dlbench/results"
	"dlbench/results/encode"
)

// theoryReport is what `dlbench theory --format json` prints. Times are in
// seconds, rates in bytes per second of host-to-device payload or line.
type theoryReport struct {
	Batch   theoryBatch    `json:"batch"`
	Links   []theoryLink   `json:"links"`
	Disk    []theoryDisk   `json:"disk"`
	Demands []theoryDemand `json:"demands"`

	Power  []theory.Figure    `json:"power"`
	Memory []theory.MemoryUse `json:"memory"`
	Owning []theory.Figure    `json:"owning"`
}

type theoryBatch struct {
	theory.Batch
	Bytes int64 `json:"bytes"`
}

type theoryLink struct {
	Link            string   `json:"link"`
	LineRate        float64  `json:"line_rate"`
	LineTime        float64  `json:"line_time"`
	BandLow         *float64 `json:"band_low"`
	BandHigh        *float64 `json:"band_high"`
	ArticleTheory   *float64 `json:"article_theory"`
	ArticlePractice *float64 `json:"article_practice"`
}

type theoryDisk struct {
	Name        string   `json:"name"`
	Rate        float64  `json:"rate"`
	Time        float64  `json:"time"`
	ArticleTime *float64 `json:"article_time"`
}

type theoryDemand struct {
	Name   string  `json:"name"`
	Batch  int     `json:"batch"`
	Step   float64 `json:"step"`
	Rate   float64 `json:"rate"` // images/s
	Source string  `json:"source"`
}

func newTheory() *cobra.Command {
	var b theory.Batch
	var own theory.Machine
	machine := machineFlags(&own)
	c := &cobra.Command{Use: "theory"}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := b.Check(); err != nil {
			return usagef("--batch, --shape %s: %w", b, err)
		}
		t := theoryOf(b)
		t.addMachines(machine, own)
		text := func(w io.Writer) error { return encode.WriteText(w, textWidth(c), t.tables()...) }
		return forms{"text": text, "json": jsonOf(t)}.print(c)
	}
	addBatch(c, &b)
	c.Flags().AddFlagSet(machine)
	addFormat(c, "text", "json")
	return c
}

// machineFlags describe a machine of the user's own.
func machineFlags(m *theory.Machine) *pflag.FlagSet {
	*m = theory.ArticleMachine(1)
	fl := pflag.NewFlagSet("machine", pflag.ContinueOnError)
	fl.Var(count(&m.GPUs, 1, 0), "gpus", "GPUs in your machine, instead of the articles' machines with 1 and 4")
	const most = 1e12
	fl.Var(amount(&m.GPUWatts, 0, most), "gpu-watts", "watts that one GPU draws at most")
	fl.Var(amount(&m.CPUWatts, 0, most), "cpu-watts", "watts that the CPU draws at most")
	fl.Var(amount(&m.Watts, 0, most), "watts",
		"watts that the machine draws while it trains (1000, and 333 for each GPU but one)")
	fl.Var(amount(&m.Hours, 0, 366*24), "hours", "hours of training in a year")
	fl.Var(amount(&m.KWh, 0, most), "kwh", "price of 1 kWh")
	fl.Var(amount(&m.Price, 0, most), "price",
		"price of the machine with its GPUs (3000, and 700 for each GPU but one)")
	fl.Var(amount(&m.Years, 0.01, most), "years", "years over which the machine is written off")
	fl.Var(amount(&m.Rent, 0, most), "rent", "price of renting one GPU for an hour")
	fl.Var(amount(&m.Storage, 0, most), "storage", "price of rented storage for a month")
	fl.Lookup("watts").DefValue, fl.Lookup("price").DefValue = "", "" // by the number of GPUs
	return fl
}

// addMachines adds what follows for the machine of the flags, or for those of the articles
// where no flag describes one. What no flag says is as in the articles for so many GPUs.
func (t *theoryReport) addMachines(fl *pflag.FlagSet, own theory.Machine) {
	given := false
	fl.VisitAll(func(f *pflag.Flag) { given = given || f.Changed })
	changed := func(name string) bool { return fl.Lookup(name).Changed }
	usual := theory.ArticleMachine(own.GPUs)
	if !changed("price") {
		own.Price = usual.Price
	}
	switch {
	case changed("watts"):
	case changed("gpu-watts") || changed("cpu-watts"):
		own.Watts = own.SupplyWatts()
	default:
		own.Watts = usual.Watts
	}
	machines := []theory.Machine{own}
	if !given {
		machines = []theory.Machine{theory.ArticleMachine(1), theory.ArticleMachine(4)}
		t.Power = theory.Fortnight()
	}
	t.Power = append(theory.Power(machines...), t.Power...)
	t.Memory, t.Owning = theory.MemoryUses, theory.Owning(machines...)
}

func theoryOf(b theory.Batch) theoryReport {
	t := theoryReport{Batch: theoryBatch{b, b.Bytes()}}
	for _, l := range theory.Links {
		x := theoryLink{Link: l.String(), LineRate: l.LineRate(), LineTime: theory.Time(b.Bytes(), l.LineRate())}
		if lo, hi, ok := l.Band(theory.HostToDevice); ok {
			x.BandLow, x.BandHigh = &lo, &hi
		}
		if a, ok := theory.Article(b, l); ok {
			x.ArticleTheory, x.ArticlePractice = &a.Theory, &a.Practice
		}
		t.Links = append(t.Links, x)
	}
	for _, d := range theory.EmulatedDisks {
		x := theoryDisk{Name: d.Name, Rate: d.Rate, Time: d.Time(float64(b.Bytes()), 1)}
		if b == theory.ArticleBatch && d.Rate == theory.ArticleDiskRate && !d.Seek {
			s := theory.ArticleDiskTime
			x.ArticleTime = &s
		}
		t.Disk = append(t.Disk, x)
	}
	for _, g := range theory.GPUs {
		t.Demands = append(t.Demands, theoryDemand{g.Text(), b.Images, theory.StepFor(g.Rate, b.Images), g.Rate, g.Source})
	}
	return t
}

func (t theoryReport) tables() []encode.Table {
	links := encode.NewTable("Host to device over PCI Express",
		"link", "line rate", "batch", "protocol band", "article: theory", "practice")
	for i, l := range t.Links {
		band := results.NoValue
		if l.BandLow != nil {
			band = fmt.Sprintf("%.2f-%.2f GB/s", *l.BandLow/1e9, *l.BandHigh/1e9)
		}
		links.Row(theory.Links[i].Title(), fmt.Sprintf("%.4g GB/s", l.LineRate/1e9),
			fmt.Sprintf("%.3f ms", l.LineTime*1e3), band, optional(l.ArticleTheory), optional(l.ArticlePractice))
	}
	links.AddNote("", "", fmt.Sprintf("The batch is at line rate. "+
		"The band goes from packets of %d B to full ones of %d B (taken as the maximum payload). "+
		"Of the article's figures, practice is a rule of thumb and no measurement; %s.",
		theory.MinCompletion, theory.MaxPayload, theory.UnitSlip))
	disks := encode.NewTable("From a disk, as --disk simulates it", "disk", "peak rate", "batch", "article")
	for _, d := range t.Disk {
		disks.Row(d.Name, fmt.Sprintf("%.0f MB/s", d.Rate/1e6), fmt.Sprintf("%.1f ms", d.Time*1e3), optional(d.ArticleTime))
	}
	size := results.FormatValue(float64(t.Batch.Bytes), results.Bytes)
	memory := encode.NewTable("GPU memory by use", "use", "memory", "claim")
	for _, m := range t.Memory {
		memory.Row(m.Use, m.Memory, claimOf(m.Source))
	}
	owning := figures("Owning against renting", t.Owning)
	owning.AddNote("", "", "Claims A are those of Dettmers, A Full Hardware Guide to Deep Learning; claims B those of "+
		"Chen on building a machine instead of renting one. Prices are in one currency, the articles' in USD. "+
		"Put in figures of your own: --gpus, --price, --watts, --hours and others (--help).")
	return []encode.Table{encode.Section("", fmt.Sprintf("One batch: %s, %s", t.Batch.Batch, size)), links, disks,
		gpuTable(), figures("Power and energy", t.Power), memory, owning}
}

func figures(title string, all []theory.Figure) encode.Table {
	table := encode.NewTable(title, "machine", "exact", "article", "formula", "claim")
	table.Columns[3].Number, table.Columns[4].Number = false, false
	for _, f := range all {
		table.Row(f.Name, f.Text(), cmp.Or(f.Article, results.NoValue), f.Formula, claimOf(f.Source))
	}
	return table
}

// claimOf is the claim that a source begins with.
func claimOf(source string) string {
	claim, _, _ := strings.Cut(source, ":")
	return claim
}

func optional(s *float64) string {
	if s == nil {
		return results.NoValue
	}
	return fmt.Sprintf("%.3g ms", *s*1e3)
}
