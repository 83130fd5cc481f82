package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"dlbench/bench"
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
}

type theoryBatch struct {
	Images   int    `json:"images"`
	Height   int    `json:"height"`
	Width    int    `json:"width"`
	Channels int    `json:"channels"`
	DType    string `json:"dtype"`
	Bytes    int64  `json:"bytes"`
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
	c := &cobra.Command{Use: "theory"}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := b.Check(); err != nil {
			return &bench.UsageError{Flag: "--batch, --shape", Value: b.String(), Want: err.Error()}
		}
		t := theoryOf(b)
		text := func(w io.Writer) error { return encode.WriteText(w, textWidth(c), t.tables(b)...) }
		return forms{"text": text, "json": jsonOf(t)}.print(c)
	}
	addBatch(c, &b)
	addFormat(c, "text", "json")
	return c
}

func theoryOf(b theory.Batch) theoryReport {
	t := theoryReport{Batch: theoryBatch{b.Images, b.Height, b.Width, b.Channels, b.DType, b.Bytes()}}
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
	for _, d := range theory.Disks {
		x := theoryDisk{Name: d.Name, Rate: d.Rate, Time: theory.Time(b.Bytes(), d.Rate)}
		if b == theory.ArticleBatch && d.Rate == theory.ArticleDiskRate {
			s := theory.ArticleDiskTime
			x.ArticleTime = &s
		}
		t.Disk = append(t.Disk, x)
	}
	for _, d := range theory.Demands {
		t.Demands = append(t.Demands, theoryDemand{d.Name, d.Batch, d.Step, d.Rate(), d.Source})
	}
	return t
}

func (t theoryReport) tables(b theory.Batch) []encode.Table {
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
		"The band goes from packets of %d B to full ones of %d B (the maximum payload that is supposed). "+
		"Of the article's figures, practice is a rule of thumb and no measurement; %s.",
		theory.MinCompletion, theory.MaxPayload, theory.UnitSlip))
	disks := encode.NewTable("From a disk", "disk", "peak rate", "batch", "article")
	for _, d := range t.Disk {
		disks.Row(d.Name, fmt.Sprintf("%.0f MB/s", d.Rate/1e6), fmt.Sprintf("%.1f ms", d.Time*1e3), optional(d.ArticleTime))
	}
	demands := encode.NewTable("What a GPU takes in", "network", "images/s", "batch", "step")
	for _, d := range t.Demands {
		demands.Row(d.Name, fmt.Sprintf("%.0f", d.Rate), fmt.Sprint(d.Batch), fmt.Sprintf("%.0f ms", d.Step*1e3), d.Source)
	}
	size := results.FormatValue(float64(b.Bytes()), results.Bytes)
	return []encode.Table{encode.Section("", fmt.Sprintf("One batch: %s, %s", b, size)), links, disks, demands}
}

func optional(s *float64) string {
	if s == nil {
		return results.NoValue
	}
	return fmt.Sprintf("%.3g ms", *s*1e3)
}
