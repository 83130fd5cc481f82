package theory

import (
	"fmt"
	"math"
)

// Figure is a number that arithmetic gives, beside the one that an article prints.
type Figure struct {
	Name    string   `json:"name"`
	Value   *float64 `json:"value"` // nil: no such number, such as a price that is never earned back
	Unit    string   `json:"unit"`  // W, kWh, x, months; "" is money, in the currency of the prices
	Article string   `json:"article,omitempty"`
	Formula string   `json:"formula"`
	Source  string   `json:"source"`
}

// Machine is a computer that trains: what it draws, what it costs, and what renting costs
// instead. Money is in any currency, the same for all.
type Machine struct {
	GPUs     int
	GPUWatts float64 // that one GPU draws at most
	CPUWatts float64
	Watts    float64 // that the whole machine draws while it trains
	Hours    float64 // of training in a year
	KWh      float64 // price of 1 kWh
	Price    float64 // of the machine with its GPUs
	Years    float64 // over which it is written off
	Rent     float64 // of one GPU for an hour, on demand
	Storage  float64 // price of rented storage, a month
}

const (
	yearHours      = 365 * 24
	fortnightHours = 14 * 24

	guide  = ": Dettmers, A Full Hardware Guide to Deep Learning"
	series = ": Chen, on building a deep-learning machine instead of renting, part 1"
)

// ArticleMachine is the machine of claims B1 and B2 with so many GPUs, which draws 1 kW with
// one and 2 kW with four, used all year, with GPUs and a CPU of claim A11.
func ArticleMachine(gpus int) Machine {
	further := float64(gpus - 1)
	return Machine{
		GPUs: gpus, GPUWatts: 250, CPUWatts: 150, Watts: 1000 + further*1000/3, Hours: yearHours, KWh: 0.20,
		Price: 3000 + further*700, Years: 3, Rent: 3, Storage: 100,
	}
}

func (m Machine) name() string {
	if m.GPUs == 1 {
		return "1 GPU: "
	}
	return fmt.Sprintf("%d GPUs: ", m.GPUs)
}

// SupplyWatts is claim A11's rule for the power supply of a machine.
func (m Machine) SupplyWatts() float64 { return 1.1 * (m.CPUWatts + float64(m.GPUs)*m.GPUWatts) }

// energyPrice is what a year's electricity costs.
func (m Machine) energyPrice() float64 { return energy(m.Watts, m.Hours) * m.KWh }

// rentYear is what renting costs over a year for so many hours, at a share of the price on
// demand.
func (m Machine) rentYear(share, hours float64) float64 {
	return share*float64(m.GPUs)*m.Rent*hours + 12*m.Storage
}

// energy is in kWh.
func energy(watts, hours float64) float64 { return watts * hours / 1000 }

// Power is the power supply and the energy of machines.
func Power(machines ...Machine) (all []Figure) {
	for _, m := range machines {
		printed := ""
		if m.SupplyWatts() == ArticleMachine(4).SupplyWatts() {
			printed = "1250; 1375 with 10 % more; buy 1400"
		}
		all = append(all,
			figure(m.name()+"power supply", m.SupplyWatts(), "W", printed, "1.1 x (CPU + all GPUs)", "A11"+guide),
			figure(m.name()+"energy a year", energy(m.Watts, m.Hours), "kWh", "", "W x hours / 1000", "A12"+guide),
			figure(m.name()+"cost of the energy", m.energyPrice(), "", "", "energy x price of 1 kWh", "A12"+guide))
	}
	return all
}

// Fortnight is claim A12: the energy of two weeks' training at 1000 and 1500 W, its price, and
// what a power supply of 80 % efficiency adds.
func Fortnight() (all []Figure) {
	price := ArticleMachine(1).KWh
	for _, x := range []struct {
		watts                float64
		energy, price, added string
	}{{1000, "300", "60", "18"}, {1500, "500", "100", "26"}} {
		name := fmt.Sprintf("two weeks at %.0f W: ", x.watts)
		kwh := energy(x.watts, fortnightHours)
		all = append(all,
			figure(name+"energy", kwh, "kWh", x.energy, "W x hours / 1000", "A12"+guide),
			figure(name+"cost", kwh*price, "", x.price, "energy x price of 1 kWh", "A12"+guide),
			figure(name+"lost at 80 % efficiency", kwh*price*(1/0.8-1), "", x.added, "cost x (1 / 0.8 - 1)", "A12"+guide))
	}
	return all
}

// Owning holds owning machines against renting them: how many times as much a year of renting
// costs, and after how many months on demand the price of the machine is earned back. A term
// is paid for the whole year, however many hours are used.
func Owning(machines ...Machine) (all []Figure) {
	for _, m := range machines {
		article := map[Machine][4]string{ArticleMachine(1): {"10.0x", "6.6x", "4.3x", "about 2"},
			ArticleMachine(4): {"20.4x", "", "8.3x", "under 1"}}[m]
		add := func(what string, value float64, unit, printed, formula string) {
			all = append(all, figure(m.name()+what, value, unit, printed, formula, "B3"+series))
		}
		own := m.Price/m.Years + m.energyPrice()
		add("own, a year", own, "", "", "price / years + energy")
		for i, term := range []struct {
			name         string
			share, hours float64
			rent         string
		}{
			{"rent on demand", 1, m.Hours, "GPUs x rent x hours"},
			{"one-year term", 0.65, yearHours, "0.65 x GPUs x rent x 8760"},
			{"three-year term", 0.40, yearHours, "0.40 x GPUs x rent x 8760"},
		} {
			add(term.name+" / own", m.rentYear(term.share, term.hours)/own, "x", article[i],
				"("+term.rent+" + 12 x storage) / own")
		}
		saved := max(m.rentYear(1, m.Hours)-m.energyPrice(), 0)
		add("owning pays off after", 12*m.Price/saved, "months", article[3], "price / (rent - energy cost) a month")
	}
	return all
}

func figure(name string, value float64, unit, article, formula, source string) Figure {
	f := Figure{Name: name, Value: &value, Unit: unit, Article: article, Formula: formula, Source: source}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		f.Value = nil
	}
	return f
}

// Text is the value with as many digits as the articles print.
func (f Figure) Text() string {
	switch {
	case f.Value == nil && f.Unit == "months":
		return "never"
	case f.Value == nil:
		return "-"
	case f.Unit == "x":
		return fmt.Sprintf("%.1fx", *f.Value)
	case f.Unit == "months":
		return fmt.Sprintf("%.1f months", *f.Value)
	case f.Unit == "" && *f.Value < 1000:
		return fmt.Sprintf("%.2f", *f.Value)
	case f.Unit == "":
		return fmt.Sprintf("%.0f", *f.Value)
	}
	return fmt.Sprintf("%.0f %s", *f.Value, f.Unit)
}

// MemoryUse is claim A14: how much memory a GPU should have for a use.
type MemoryUse struct {
	Use    string `json:"use"`
	Memory string `json:"memory"`
	Source string `json:"source"`
}

// MemoryUses are those of claim A14.
var MemoryUses = []MemoryUse{
	{"research for the state of the art", "11 GB or more", "A14" + guide},
	{"research on new architectures", "8 GB or more", "A14" + guide},
	{"other research", "8 GB", "A14" + guide},
	{"Kaggle", "4 to 8 GB", "A14" + guide},
	{"beginners", "8 GB", "A14" + guide},
	{"companies, prototypes", "8 GB", "A14" + guide},
	{"companies, training", "11 GB or more", "A14" + guide},
}
