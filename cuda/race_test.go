//go:build race && linux && (amd64 || arm64) && !nocuda && !gorgonia

package cuda

func init() { raceDetector = true }
