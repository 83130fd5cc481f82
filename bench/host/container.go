package host

import (
	"regexp"
	"strings"
)

// groupContainers are the forms that container engines give their control
// groups. docker.service alone is the engine itself, not a container.
var groupContainers = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`kubepods`), "kubernetes"},
	{regexp.MustCompile(`(^|/)docker[/-]`), "docker"},
	{regexp.MustCompile(`(^|/)libpod-`), "podman"},
	{regexp.MustCompile(`(^|/)lxc(/|\.payload)`), "lxc"},
	{regexp.MustCompile(`(^|/)(cri-)?containerd-`), "containerd"},
}

// container names what this process is contained in: kubernetes, docker, podman,
// lxc, ...; "" when nothing points to a container. getenv looks up a variable of
// the environment.
func container(t tree, getenv func(string) string) string {
	group := t.text("proc/self/cgroup")
	inGroup := ""
	for _, c := range groupContainers {
		for line := range strings.Lines(group) {
			if f := strings.SplitN(strings.TrimSpace(line), ":", 3); inGroup == "" && len(f) == 3 && c.form.MatchString(f[2]) {
				inGroup = c.name
			}
		}
	}
	systemd, _, _ := strings.Cut(t.text("run/systemd/container"), "\n")
	switch {
	case inGroup == "kubernetes", getenv("KUBERNETES_SERVICE_HOST") != "", t.exists("run/secrets/kubernetes.io"):
		return "kubernetes"
	case t.exists("run/.containerenv"):
		return "podman"
	case t.exists(".dockerenv"):
		return "docker"
	case t.exists(".singularity.d"):
		return "apptainer"
	case systemd != "" && systemd != "wsl": // that one is no container but a machine
		return systemd
	}
	return inGroup
}
