//go:build race && linux && (amd64 || arm64) && !nocuda

package cuda

func init() { raceDetector = true }
