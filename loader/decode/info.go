package decode

// Formats that are told by content, never by name.
const (
	JPEG = "jpeg"
	PNG  = "png"
	GIF  = "gif"
	BMP  = "bmp"
	WebP = "webp"
	TIFF = "tiff"
)

// Info is what the header of a file says.
type Info struct {
	Format        string
	Width, Height int
	Space         string // gray, ycbcr, rgb, cmyk, ycck, palette; "" where it is not told
	Alpha         bool
	Bits          int    // of a channel; of a palette's colour
	Subsampling   string // of a JPEG's chroma: 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1, 4:1:0, other; "" without chroma
	Progressive   bool   // JPEG
	Arithmetic    bool   // JPEG, arithmetic coding
	Lossless      bool   // JPEG of ITU-T T.81, Annex H; libjpeg-turbo 3 only
	Orientation   int    // of EXIF in a JPEG, 1 to 8; 0 for none

	body  int  // JPEG: where the entropy-coded data begin
	mcu   int  // JPEG: the width of an MCU in pixels
	frame int  // JPEG: where the frame header's two bytes of height are
	scans bool // JPEG: the first scan does not hold the whole image
}

// Pixels is the size of the image.
func (i *Info) Pixels() int64 { return int64(i.Width) * int64(i.Height) }

// converted is Image.Converted. Of several it names the first: 16 bits, CMYK, palette,
// grey, alpha.
func (i *Info) converted() string {
	switch {
	case i.Bits > 8:
		return "16-bit"
	case i.Space == spaceCMYK || i.Space == spaceYCCK:
		return "cmyk"
	case i.Space == spacePalette:
		return "palette"
	case i.Space == spaceGray:
		return "gray"
	case i.Alpha:
		return "alpha"
	}
	return ""
}

// Values of Info.Space.
const (
	spaceGray    = "gray"
	spaceYCbCr   = "ycbcr"
	spaceRGB     = "rgb"
	spaceCMYK    = "cmyk"
	spaceYCCK    = "ycck"
	spacePalette = "palette"
)
