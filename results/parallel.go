package results

import "sync"

// InParallel calls do for 0 to n-1, most of them at a time, and returns their errors.
func InParallel(n, most int, do func(i int) error) []error {
	errs := make([]error, n)
	var work sync.WaitGroup
	slots := make(chan struct{}, most)
	for i := range n {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	work.Wait()
	return errs
}
