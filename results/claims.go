package results

// claims are short titles of the articles' claims.
var claims = map[string]string{
	"A1":  "batch time by lanes",
	"A2":  "lanes, copies not overlapped",
	"A3":  "lanes, copies overlapped",
	"A4":  "pageable copies and the CPU",
	"A5":  "memory against the GPU's",
	"A6":  "several GPUs",
	"A7":  "cores for preprocessing",
	"A8":  "CPU clock",
	"A9":  "loading ahead from disk",
	"A10": "solid-state disks",
	"A13": "throttling",
	"A15": "latency",
	"A16": "a busy CPU",
	"A17": "16 bits",
	"B4":  "what bounds the machine",

	"siblings": "GPUs of one model",
	"numa":     "memory far from the GPU",

	"feeds": "how fast the loader is by itself",
	"bound": "what each part costs the loader",
}

// ClaimTitle is what a claim is about, "" for an unknown one.
func ClaimTitle(id string) string { return claims[id] }
