package synth

import "image/jpeg"

// encode compresses what is drawn into buf[:0], 4:2:0.
func (c *canvas) encode(buf []byte) []byte {
	out := appender(buf[:0])
	if err := jpeg.Encode(&out, c.img, &jpeg.Options{Quality: c.quality}); err != nil {
		panic(err) // neither a size nor a write can fail
	}
	return out
}

// appender is a slice that jpeg.Encode can write to without a bufio.Writer.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

func (a *appender) WriteByte(b byte) error {
	*a = append(*a, b)
	return nil
}

func (a *appender) Flush() error { return nil }
