// Command dlbench measures whether data loading keeps up with a GPU, part by part,
// next to the numbers that theory gives.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/loader"
	"dlbench/results"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a case failed, or what was asked for by name cannot run
	exitUsage       = 2
	exitRegression  = 3 // compare --fail-on found something worse
	exitNo          = 4 // --require: the answer is no
	exitNoAnswer    = 5 // --require: there is none
	exitInterrupted = 130
)

func main() {
	ctx := context.Background()
	ends := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored) // as by nohup
	if len(ends) > 0 {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, ends...)
		context.AfterFunc(ctx, stop) // a second interrupt kills
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // an error of writing instead, which is explained
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	out := &checked{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil || errors.Is(err, out.err) {
		err = out.unwritten()
	}
	code := exitCode(ctx, err)
	switch {
	case code == exitInterrupted && !strings.Contains(err.Error(), "interrupted"):
		fmt.Fprintln(stderr, "dlbench: interrupted")
	case err != nil:
		fmt.Fprintln(stderr, "dlbench: "+oneLine(err))
	}
	return code
}

// exitError is an error with the exit code that it means.
type exitError struct {
	error
	code int
}

func (e *exitError) Unwrap() error { return e.error }

// usage marks errors of the command line itself.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{err, exitUsage}
}

// usagef is fmt.Errorf for errors of the command line.
func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// interrupted is the error of a command that ctx has ended, nil before that.
func interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &exitError{errors.New("interrupted"), exitInterrupted}
}

func exitCode(ctx context.Context, err error) int {
	var exit *exitError
	var wrong *bench.UsageError
	var path *loader.PathError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.code
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, loader.ErrContainer): // a data set, but without an image that can be used
		return exitFailed
	case errors.As(err, &wrong), errors.As(err, &path), errors.Is(err, cuda.ErrNoSuchDevice):
		return exitUsage
	}
	return exitFailed
}

// halfMessage is how many characters of a long message stand before and after what
// is left out.
const halfMessage = 500

// oneLine is an error in a line, without the middle of what nobody would read: a broken
// report may be quoted in it.
func oneLine(err error) string {
	s := []rune(results.Plain(results.OneLine(err)))
	if len(s) > 2*halfMessage {
		return string(s[:halfMessage]) + " ... " + string(s[len(s)-halfMessage:])
	}
	return string(s)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{Use: "dlbench", Version: version(), SilenceErrors: true, SilenceUsage: true}
	root.SetFlagErrorFunc(unknownFlag)
	addCommands(root, newRun(), newShow(), newList(), newInfo(), newTheory(), newPlot(), newWhatIf(), newCompare(),
		newReport(), newDataset(), newPython(), newFeed(), newSupervise())
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd() // so that it gets its text below

	// What pflag puts behind switches, and behind --require.
	const values, choice = "[=true|false]", " loader|cores[=loader]"
	plain := strings.NewReplacer(values, strings.Repeat(" ", len(values)),
		choice, fmt.Sprintf("%-*s", len(choice), "[=cores]"))
	cobra.AddTemplateFunc("plain", plain.Replace)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages |", ".FlagUsages | plain |"))
	finish(root)
	return root
}

// unknownFlag is the error of a flag, with the one that may have been meant.
func unknownFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usage(err)
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())
	isAxis := func(word string) bool { return strings.HasPrefix(word, name+"=") }
	if c.Flags().Lookup("axis") != nil && slices.ContainsFunc(axisWords(), isAxis) {
		return usagef("%w; it is an axis: -a %s=VALUE (dlbench list shows them)", err, name)
	}
	meant := bench.DidYouMean("--"+name, known)
	return usagef("%w%s (%s --help lists them)", err, meant, c.CommandPath())
}

// commandNames are the names of commands that are not hidden.
func commandNames(commands []*cobra.Command) (names []string) {
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// addCommands makes c a command that only groups others.
func addCommands(c *cobra.Command, commands ...*cobra.Command) {
	names := commandNames(commands)
	c.AddCommand(commands...)
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return fmt.Errorf("unknown command %q: %s (%s --help)", args[0], bench.Want(args[0], names), c.CommandPath())
	}
}

// finish gives c and the commands below it their help texts, and marks errors of their
// arguments.
func finish(c *cobra.Command) {
	c.Short, c.Long, c.Example = helpText(c.CommandPath())
	check := c.Args
	if check == nil {
		check = cobra.NoArgs
	}
	c.Args = func(c *cobra.Command, args []string) error {
		return cmp.Or(empty(c, args), valueApart(c, args), usage(check(c, args)))
	}
	for _, below := range c.Commands() {
		finish(below)
	}
}

// empty is the error of an argument or the value of a flag that is empty, as an unset variable of a script is: "$DATA"
// would otherwise mean the default, or the folder that one stands in. An empty label is one.
func empty(c *cobra.Command, args []string) (err error) {
	if slices.Contains(args, "") {
		err = usagef("%s: an argument is empty: is a variable not set?", c.CommandPath())
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		text := strings.HasPrefix(f.Value.Type(), "string") && f.Name != "label"
		if name, _ := pflag.UnquoteUsage(f); text && strings.Trim(f.Value.String(), "[],") == "" {
			err = usagef("--%s is empty: want %s", f.Name, name)
		}
	})
	return err
}

// valueApart is the error of an argument that is meant as the value of a flag that needs none,
// and so takes one only behind an equals sign: --require cores.
func valueApart(c *cobra.Command, args []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		for _, a := range args {
			if _, missing := os.Stat(a); f.NoOptDefVal == "" || missing == nil {
				continue
			}
			was := f.Value.String()
			if _, number := humanize.ParseBytes(a); f.Value.Type() == "bool" && number == nil {
				err = &bench.UsageError{Flag: "--" + f.Name, Value: a, Want: "it takes no value"}
			}
			if f.Value.Set(a) == nil {
				err = &bench.UsageError{Flag: "--" + f.Name, Value: a, Want: fmt.Sprintf("want --%s=%s", f.Name, a)}
			}
			f.Value.Set(was)
		}
	})
	return err
}

//go:embed help.txt
var helpTexts string

// helpText is what help.txt has for a command: one line, what it does, and examples.
func helpText(command string) (short, long, examples string) {
	_, text, _ := strings.Cut(helpTexts, "== "+command+"\n")
	text, _, _ = strings.Cut(strings.TrimSuffix(text, "\n"), "\n\n== ")
	text, examples, _ = strings.Cut(text, "\n\nExamples:\n")
	short, long, _ = strings.Cut(text, "\n\n")
	return short, long, examples
}
