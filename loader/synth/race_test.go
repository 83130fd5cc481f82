//go:build race

package synth

func init() { raceDetector = true }
