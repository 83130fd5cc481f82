//go:build gorgonia && nocuda

package cuda

// The tags ask for opposite things.
var _ = gorgonia_and_nocuda_exclude_each_other
