package synth

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// digest is the SHA-256 of a sample.
type digest [sha256.Size]byte

// Fingerprint identifies a set by what its samples hold. It does not depend on
// their order, names or labels, nor on where one file ends and the next begins,
// so that a folder of images and the shards made of it have the same. The zero
// value is the fingerprint of an empty set.
type Fingerprint struct {
	count uint64
	sum   [4]uint64 // of the SHA-256 of each sample, modulo 2^256
}

// Add adds a sample: a whole image file, or one image of a tensor without padding.
func (f *Fingerprint) Add(data []byte) { f.add(sha256.Sum256(data)) }

func (f *Fingerprint) add(d digest) {
	f.count++
	var carry uint64
	for i := range f.sum {
		f.sum[i], carry = bits.Add64(f.sum[i], binary.LittleEndian.Uint64(d[8*i:]), carry)
	}
}

// String returns 32 hexadecimal digits.
func (f *Fingerprint) String() string {
	b := binary.LittleEndian.AppendUint64(nil, f.count)
	for _, v := range f.sum {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
