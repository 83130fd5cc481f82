package chart

import "dlbench/results"

// diskReaders are the rates of numbers of readers, a line for each store and state of the page cache.
func diskReaders(reports []*results.Report) (all []picture) {
	var cases []lineCase
	stored := diskCases(reports, "bandwidth")
	for _, c := range stored {
		line := c.DiskParams
		line.Readers = 0
		name := results.List(c.title(), c.Cache)
		if c.Disk != "" {
			name = c.title() + ", simulated disk " + c.Disk
		}
		cases = append(cases, lineCase{c.measured, line, name, c.Readers})
	}
	for _, d := range linesOf(reports, cases, "bandwidth", "readers") {
		d.title = "Bandwidth of reading from disk by number of readers"
		d.subtitle += "Each reader reads batch after batch; median, higher is better"
		var references []level
		for _, c := range stored {
			for _, p := range peaks {
				rate := valueOf(c.Result, p.name, "bandwidth")
				references = append(references,
					level{p.title, results.FormatExact(rate, results.BytesPerSecond), rate, thinStroke})
			}
		}
		d.refer(references...)
		_, rates := d.bounds()
		d.over("readers", true)
		d.y = bandwidth.scale(rates.Lo, rates.Hi, 10)
		all = append(all, d)
	}
	return all
}
