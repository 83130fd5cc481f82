package theory

import (
	"math"
	"slices"
)

// Laws of scaling.
const (
	Amdahl = "amdahl" // Amdahl, AFIPS 1967
	USL    = "usl"    // universal scalability law: Gunther, "Guerrilla Capacity Planning", chapter 4
)

// Different thread counts that a fit needs: with fewer it would follow the noise.
const (
	AmdahlCounts = 4
	USLCounts    = 6
)

// Scaling is a law of throughput by threads, fitted to measurements:
//
//	X(n) = X1 n / (1 + Sigma (n-1) + Kappa n (n-1))
type Scaling struct {
	Law   string
	X1    float64 // images/s of one thread, as the law has it
	Sigma float64 // share of the work that one thread at a time can do, 0 to 1; Amdahl's serial share
	Kappa float64 // cost of keeping each pair of threads in step, 0 for Amdahl
	Error float64 // root mean square of the relative residuals
	// Least and Most are the thread counts that it was fitted to.
	Least, Most int
}

// At is the throughput with n threads, in images/s. extrapolated tells that no
// measurement supports it: n lies outside of what the law was fitted to.
func (s Scaling) At(n float64) (rate float64, extrapolated bool) {
	return s.X1 * n / s.slowdown(n), n < float64(s.Least) || n > float64(s.Most)
}

// slowdown is how much longer n threads take for an image each than one does.
func (s Scaling) slowdown(n float64) float64 { return 1 + s.Sigma*(n-1) + s.Kappa*n*(n-1) }

// Peak is the number of threads above which more of them make it slower, at least
// 1. ok is false where the law has none. It may lie outside of what was measured.
func (s Scaling) Peak() (threads float64, ok bool) {
	if !(s.Kappa > 0) {
		return 0, false
	}
	return max(1, math.Sqrt(max(0, 1-s.Sigma)/s.Kappa)), true
}

// FitScaling fits the law that the number of different counts allows: the universal one
// where it finds a cost of pairs, else Amdahl's. ok is false, and nothing is fitted, to fewer
// than AmdahlCounts. Better than linear scaling gives a serial share of 0, and one that falls
// with more threads 1: Error tells how ill that fits.
func FitScaling(rates []Rate) (s Scaling, ok bool) {
	if s, ok = fitScaling(rates, USL, USLCounts); ok && s.Kappa > 0 {
		return s, true
	}
	return fitScaling(rates, Amdahl, AmdahlCounts)
}

// maxSteps of refinement; exact data take one and noisy ones a few.
const maxSteps = 50

// fitScaling looks for the least squares of relative residuals. The reciprocal
// n/X(n) = 1/X1 (1 + Sigma (n-1) + Kappa n (n-1)) is linear in its coefficients,
// so that weighted linear least squares give a start, and each step of
// Gauss-Newton is another one. A step that makes it worse is halved.
func fitScaling(rates []Rate, law string, least int) (Scaling, bool) {
	rates = slices.DeleteFunc(slices.Clone(rates), invalid)
	var counts []int
	for _, r := range rates {
		counts = append(counts, r.Threads)
	}
	slices.Sort(counts)
	if counts = slices.Compact(counts); len(counts) < least {
		return Scaling{}, false
	}
	f := fit{rates: rates, pairs: law == USL, most: float64(counts[len(counts)-1])}
	now := f.linear(nil)
	for range maxSteps {
		next := f.linear(&now)
		for range 10 {
			if f.cost(next) <= f.cost(now) {
				break
			}
			for i := range next {
				next[i] = (next[i] + now[i]) / 2
			}
		}
		if !(f.cost(next) < f.cost(now)) {
			break
		}
		now = next
	}
	if !(now[0] > 0) {
		return Scaling{}, false
	}
	s := Scaling{Law: law, X1: 1 / now[0], Sigma: min(1, now[1]/now[0]), Kappa: now[2] / now[0] / f.most,
		Error: math.Sqrt(f.cost(now) / float64(len(rates))), Least: counts[0], Most: counts[len(counts)-1]}
	return s, true
}

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
