package external

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dlbench/bench"
	"dlbench/results"
)

//go:embed python/adapter*.py python/dlbench.py python/requirements.txt
var scripts embed.FS

// Module is dlbench.py, for scripts of the user's own.
func Module() []byte {
	text, err := scripts.ReadFile("python/" + module)
	if err != nil {
		panic(err) // it is embedded
	}
	return text
}

// adapterFile is the script of a loader that dlbench knows by name.
func adapterFile(name string) string { return "adapter_" + strings.ReplaceAll(name, "-", "_") + ".py" }

// Adapters are the loaders that dlbench knows by name.
func Adapters() (names []string) {
	files, _ := scripts.ReadDir("python")
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.Name(), "adapter_"); ok {
			names = append(names, strings.ReplaceAll(strings.TrimSuffix(name, ".py"), "_", "-"))
		}
	}
	return names
}

var loaderName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// ParseLoader reads NAME, of a loader that dlbench knows, or NAME=COMMAND.
func ParseLoader(text string) (l bench.Loader, err error) {
	name, command, given := strings.Cut(text, "=")
	l = bench.Loader{Name: name, Command: strings.TrimSpace(command)}
	path := cmp.Or(l.Command, name)
	known := !given && slices.Contains(Adapters(), name)
	if info, err := os.Stat(path); err == nil && info.IsDir() && !known {
		return l, fmt.Errorf("this is a folder, and no loader: data is named without a flag, as in "+
			"dlbench run %s --loader torchvision", path)
	}
	switch {
	case name == results.OwnLoader:
		return l, errors.New("dlbench's own loader is measured anyway: want another name")
	case !given && !known:
		return l, fmt.Errorf("want one of %s, or NAME='COMMAND' such as mine='python3 train.py'%s",
			strings.Join(Adapters(), ", "), bench.DidYouMean(name, Adapters()))
	case !loaderName.MatchString(name) || given && l.Command == "":
		return l, errors.New("want NAME='COMMAND', with a name of letters, digits, dots, - and _")
	}
	return l, nil
}

// module is what scripts of the user's own import, from the folder of all scripts. The adapters
// are in a folder below it, where their names hide no module of such a script.
const module, adaptersFolder = "dlbench.py", "adapters"

// install writes the scripts into the user's cache folder, or below other where there is none
// that can be written to, and returns the folder.
func install(other string) (string, error) {
	folders := []string{other}
	if cache, err := os.UserCacheDir(); err == nil {
		folders = []string{filepath.Join(cache, "dlbench"), other}
	}
	var all error
	for _, folder := range folders {
		folder, err := filepath.Abs(filepath.Join(folder, "python"))
		if err = cmp.Or(err, writeScripts(folder)); err == nil {
			return folder, nil
		}
		all = errors.Join(all, err)
	}
	return "", fmt.Errorf("no folder for the adapters of loaders: %w", all)
}

// writeScripts writes those that folder lacks, or has in another version.
func writeScripts(folder string) error {
	files, err := scripts.ReadDir("python")
	err = cmp.Or(err, os.MkdirAll(filepath.Join(folder, adaptersFolder), 0o755))
	for _, f := range files {
		text, failed := scripts.ReadFile("python/" + f.Name())
		path := filepath.Join(folder, adaptersFolder, f.Name())
		if f.Name() == module {
			path = filepath.Join(folder, module)
		}
		if old, _ := os.ReadFile(path); !bytes.Equal(old, text) {
			failed = results.SaveAs(path, func(w io.Writer) error {
				_, err := w.Write(text)
				return err
			})
		}
		err = cmp.Or(err, failed)
	}
	return err
}

// findPython is the interpreter to use: the one given, that of the active environment, or
// python3.
func findPython(ctx context.Context, given string) (string, error) {
	candidates := []string{given}
	if given == "" {
		for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
			if dir := os.Getenv(variable); dir != "" {
				candidates = append(candidates, filepath.Join(dir, "bin", "python"))
			}
		}
		candidates = append(candidates, "python3")
	}
	for _, c := range candidates {
		if path, err := exec.LookPath(c); err == nil {
			return path, checkPython(ctx, path)
		}
	}
	return "", fmt.Errorf("no such program: %s (--python names another one)", strings.Join(candidates, ", "))
}

// checkPython tells whether path is an interpreter that the adapters run in.
func checkPython(ctx context.Context, path string) error {
	c := exec.CommandContext(ctx, path, "-c", "import sys; print('dlbench', *sys.version_info[:2])")
	c.SysProcAttr, c.WaitDelay = ownGroup(), hurryLimit
	c.Cancel = func() error { return endGroup(c.Process) } // it may be a script that starts Python
	out, err := c.Output()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s does not run: %w (--python names another one)", path, err)
	}
	_, says, _ := strings.Cut(string(out), "dlbench") // behind what it prints whenever it starts
	var major, minor int
	fmt.Sscan(says, &major, &minor)
	if major < 3 || major == 3 && minor < 9 {
		return fmt.Errorf("%s is no Python of version 3.9 or newer (--python names another one)", path)
	}
	return nil
}
