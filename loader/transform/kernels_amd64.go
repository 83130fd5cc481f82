package transform

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var haveKernels = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C

// kernelWidth is how many values the kernels store at a time: no segment of a sample may
// be shorter. The last store of one overlaps the one before.
const kernelWidth = 8

// horizontalPacked resamples a row in groups of 4 outputs, R, G, B a pixel, and stores one
// value more. off is the first byte of each output's pixels, w the weights of pairs of
// pixels, both in widen's order, norm what makes a value of a sum. It reads 16 bytes at a
// time, up to 12 beyond the pixels that have weights.
//
// The sums are of whole numbers, 8 bits by 22, as two VPMADDWD by 14 and by 8 bits of the
// weights; half a register is an output. Tried, for a sample of 225 x 225 of 500 x 375 on
// Zen 4: sums of float32 (VPMOVZXBD, VCVTDQ2PS, VFMADD231PS, two pixels of an output in a
// register) take 1.06 times as long as all of it does now, and have nothing for exact mode;
// one VPMADDWD by 15 bits takes 0.87 times, but is out by up to 4e-4 after normalisation.
// AVX-512 was not tried.
//
//go:noescape
func horizontalPacked(dst *float32, src *byte, off *int32, w *uint32, pairs, groups int, norm *affine)

// horizontalPlanes does so into planes that lie plane values apart.
//
//go:noescape
func horizontalPlanes(dst *float32, src *byte, off *int32, w *uint32, pairs, groups int, norm *affine, plane int)

// exactPacked rounds to levels as Pillow does, and does not normalise.
//
//go:noescape
func exactPacked(dst *float32, src *byte, off *int32, w *uint32, pairs, groups int, norm *affine)

// exactPlanes does so into planes.
//
//go:noescape
func exactPlanes(dst *float32, src *byte, off *int32, w *uint32, pairs, groups int, norm *affine, plane int)

// combine makes the weighted sum of count values, 8 or more, of rows, which lie at offsets
// (in values) from ring. dst need not be aligned, and may be one of the rows if count is a
// multiple of 8. It fetches the count values behind dst into the cache, the next row of a
// sample, which saves a seventh of the time of a sample if the batch is not in the second
// cache; stores that go around the caches (VMOVNTPS) took longer.
//
//go:noescape
func combine(dst unsafe.Pointer, ring *float32, offsets *int32, w *float32, rows, count int)

// combineExact makes the weighted sum of count levels, a multiple of 16, as Pillow rounds
// it. upper and lower are the upper 14 and lower 8 bits of the weights: both sums are of
// whole numbers below 2^24, which float32 has.
//
//go:noescape
func combineExact(dst, ring *float32, offsets *int32, upper, lower *float32, rows, count int)

// exactColumns makes the weighted sum of count bytes, a multiple of 8, of rows that lie
// stride bytes apart, in the same way.
//
//go:noescape
func exactColumns(dst, src *byte, stride int, upper, lower *float32, rows, count int)

// normaliseLevels normalises count levels in the steps of levels.
//
//go:noescape
func normaliseLevels(values *float32, steps *levelSteps, count int)

// toFloat16 rounds count values, 8 or more, to the nearest, ties to even.
//
//go:noescape
func toFloat16(dst *byte, src *float32, count int)

// toUint8 rounds count values, 8 or more, to the nearest, ties to even, from 0 to 255.
//
//go:noescape
func toUint8(dst *byte, src *float32, count int)
