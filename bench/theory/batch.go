package theory

import (
	"cmp"
	"fmt"
	"strings"
)

// Batch is a mini-batch of images as a tensor.
type Batch struct {
	Images   int    `json:"images"`
	Height   int    `json:"height"`
	Width    int    `json:"width"`
	Channels int    `json:"channels"`
	DType    string `json:"dtype"` // float32, float16 or uint8
}

// ArticleBatch is the mini-batch of claim A1: 32 x 225 x 225 x 3 in 32-bit
// floats, 19 440 000 bytes.
var ArticleBatch = Batch{32, 225, 225, 3, "float32"}

// DTypes are the element types of a batch, largest first.
var DTypes = []string{"float32", "float16", "uint8"}

// DTypeNamed is the element type that people call so, in any case: fp16, half and bf16 are float16, which has as many
// bytes.
func DTypeNamed(name string) (dtype string, ok bool) {
	name = strings.ToLower(name)
	name = cmp.Or(dtypeSynonyms[name], name)
	return name, sizes[name] > 0
}

var dtypeSynonyms = map[string]string{"fp32": "float32", "float": "float32", "f32": "float32",
	"fp16": "float16", "half": "float16", "f16": "float16", "bf16": "float16", "bfloat16": "float16",
	"u8": "uint8", "byte": "uint8"}

// SizeOf is the bytes of one element, 0 for an unknown type.
func SizeOf(dtype string) int { return sizes[dtype] }

var sizes = map[string]int{"float32": 4, "float16": 2, "uint8": 1}

// mostBytes bounds a batch, so that sums over a few of them stay whole numbers.
const mostBytes = 1 << 44

// Check says what is wrong with b: nothing below 1, a known type, at most 16 TiB.
func (b Batch) Check() error {
	size := float64(SizeOf(b.DType))
	for _, n := range []int{b.Images, b.Height, b.Width, b.Channels} {
		if n < 1 {
			return fmt.Errorf("images, height, width and channels must be at least 1")
		}
		size *= float64(n)
	}
	if size == 0 {
		return fmt.Errorf("unknown type %q: want %s", b.DType, strings.Join(DTypes, ", "))
	}
	if size > mostBytes {
		return fmt.Errorf("a batch of %.3g bytes is more than the 16 TiB that fit anywhere", size)
	}
	return nil
}

// Bytes is the size of the tensor.
func (b Batch) Bytes() int64 {
	return int64(b.Images) * int64(b.Height) * int64(b.Width) * int64(b.Channels) * int64(SizeOf(b.DType))
}

// String returns "32x225x225x3 float32".
func (b Batch) String() string {
	return fmt.Sprintf("%dx%dx%dx%d %s", b.Images, b.Height, b.Width, b.Channels, b.DType)
}
