package results

// ExternalParams is the parameters of a case of the external suite: a loader of the user's
// own, or dlbench's, in a process of its own.
type ExternalParams struct {
	Loader  string   `json:"loader"`
	Workers int      `json:"workers"`
	Step    Duration `json:"step"` // that a batch is worked on; 0 where nothing waits
}

// ExternalProof is the evidence of a case of the external suite.
type ExternalProof struct {
	Title     string            `json:"title,omitempty"` // what the loader says it is
	Command   string            `json:"command,omitempty"`
	Python    string            `json:"python,omitempty"`
	Software  map[string]string `json:"software,omitempty"` // versions, by package
	Pixels    *PixelDifference  `json:"pixels,omitempty"`
	Batch     int               `json:"batch"` // images in a batch, as they came
	Batches   int               `json:"batches"`
	Epochs    int               `json:"epochs"`    // that ended
	Processes int               `json:"processes"` // most at once
	Log       string            `json:"log,omitempty"`

	// Bytes that the processes read by system calls, and those of them that came from a
	// device; absent where the system does not say.
	BytesRead  *int64 `json:"bytes_read,omitempty"`
	FromDevice *int64 `json:"bytes_from_device,omitempty"`
}

// PixelDifference is how far the pixels of a fixed crop are from those of another decoder,
// in levels of 256.
type PixelDifference struct {
	Mean    float64 `json:"mean"`
	Max     float64 `json:"max"`
	Against string  `json:"against"` // Pillow and its version
}

// OwnLoader is the name of dlbench's own loader among others.
const OwnLoader = "dlbench"
