//go:build gorgonia && (nocuda || !cgo || !linux || !(amd64 || arm64))

package cuda

// What is built elsewhere, or with both tags, would have no CUDA at all, in silence.
var _ = gorgonia_wants_cgo_and_linux_on_amd64_or_arm64_and_no_tag_nocuda
