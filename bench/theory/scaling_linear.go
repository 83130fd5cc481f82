package theory

import "math"

// coefficients a, b and c of n/X(n) = a + b (n-1) + c n (n-1) / most, in s per
// image; dividing by the greatest count keeps them of one size.
type coefficients [3]float64

// fit is a search for coefficients with a > 0, 0 <= b <= a and c >= 0.
type fit struct {
	rates []Rate
	pairs bool // c is sought, else 0
	most  float64
}

// terms are what coefficients are multiplied with for n threads.
func (f fit) terms(n int) [3]float64 {
	m := float64(n)
	return [3]float64{1, m - 1, m * (m - 1) / f.most}
}

func (c coefficients) times(t [3]float64) float64 { return c[0]*t[0] + c[1]*t[1] + c[2]*t[2] }

// cost is the sum of the squared relative residuals of the throughput; infinite
// for coefficients that are not allowed.
func (f fit) cost(c coefficients) float64 {
	if !(c[0] > 0 && c[1] >= 0 && c[1] <= c[0] && c[2] >= 0) {
		return math.Inf(1)
	}
	var sum float64
	for _, r := range f.rates {
		d := float64(r.Threads)/c.times(f.terms(r.Threads))/r.Value - 1
		sum += d * d
	}
	return sum
}

// linear solves the problem made linear around from, or around the measurements
// themselves for nil: with y = n/X measured and m modelled, the residual y/m - 1
// is about 2 y/m - 1 - (y/m²) times the new model. The optimum may have
// coefficients at their bounds, so each choice of those is solved, and the allowed
// solution that fits the throughput best returned.
func (f fit) linear(from *coefficients) (best coefficients) {
	least := math.Inf(1)
	for _, columns := range f.bases() {
		var normal [3][4]float64
		for _, r := range f.rates {
			t, y := f.terms(r.Threads), float64(r.Threads)/r.Value
			weight, target := 1/y, 1.0
			if from != nil {
				m := from.times(t)
				weight, target = y/(m*m), 2*y/m-1
			}
			var row [4]float64
			for i, c := range columns {
				row[i] = weight * c.times(t)
			}
			row[len(columns)] = target
			for i := range columns {
				for j := range len(columns) + 1 {
					normal[i][j] += row[i] * row[j]
				}
			}
		}
		x, ok := solve(normal, len(columns))
		if !ok {
			continue
		}
		var c coefficients
		for i, column := range columns {
			for k := range c {
				c[k] += x[i] * column[k]
			}
		}
		if cost := f.cost(c); cost < least {
			best, least = c, cost
		}
	}
	return best
}

// bases are the ways to hold coefficients at their bounds: what each unknown
// stands for.
func (f fit) bases() [][]coefficients {
	all := [][]coefficients{{{1, 0, 0}}, {{1, 1, 0}}, {{1, 0, 0}, {0, 1, 0}}}
	if f.pairs {
		for _, b := range all[:3] {
			all = append(all, append(b[:len(b):len(b)], coefficients{0, 0, 1}))
		}
	}
	return all
}

// solve solves n equations, of which the right side is column n, by elimination;
// ok is false where they do not determine the unknowns.
func solve(m [3][4]float64, n int) (x [3]float64, ok bool) {
	for i := range n {
		p := i
		for j := i + 1; j < n; j++ {
			if math.Abs(m[j][i]) > math.Abs(m[p][i]) {
				p = j
			}
		}
		m[i], m[p] = m[p], m[i]
		if m[i][i] == 0 {
			return x, false
		}
		for j := i + 1; j < n; j++ {
			by := m[j][i] / m[i][i]
			for k := i; k <= n; k++ {
				m[j][k] -= by * m[i][k]
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		x[i] = m[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= m[i][j] * x[j]
		}
		x[i] /= m[i][i]
	}
	return x, true
}
