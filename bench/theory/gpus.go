package theory

// GPU is an accelerator by what a network takes in on it.
type GPU struct {
	Name string // as --gpu has it
	Demand
}

// GPUs are those whose demand is known, from Demands.
var GPUs = []GPU{
	{"article", Demands[0]},
	{"a100", Demands[1]},
	{"h100", Demands[2]},
}
