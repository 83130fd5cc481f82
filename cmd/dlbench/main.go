// Command dlbench measures whether data loading keeps up with a GPU, part by part,
// beside the numbers that theory gives.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"dlbench/bench"
	"dlbench/cuda"
	"dlbench/results"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a case failed, or what was asked for by name cannot run
	exitUsage       = 2
	exitRegression  = 3 // compare --fail-on found something worse
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second interrupt kills
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	code := exitCode(ctx, err)
	if err != nil && !errors.Is(err, errReported) {
		fmt.Fprintln(stderr, "dlbench: "+oneLine(err))
	}
	return code
}

// errReported is a failure whose story the output has told already.
var errReported = errors.New("a case failed")

// errUsage marks errors of the command line itself.
var errUsage = errors.New("usage")

func usage(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w%w", quiet{errUsage}, err)
}

// quiet is an error without text of its own.
type quiet struct{ error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.error }

func exitCode(ctx context.Context, err error) int {
	var u *bench.UsageError
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &u), errors.Is(err, errUsage), errors.Is(err, cuda.ErrNoSuchDevice):
		return exitUsage
	case errors.Is(err, errRegression):
		return exitRegression
	}
	return exitFailed
}

// oneLine joins the lines that errors.Join makes, and leaves out the middle of what
// nobody would read: a broken report may be quoted in it.
func oneLine(err error) string {
	s := []rune(results.Plain(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")))
	if len(s) > 2*halfMessage {
		return string(s[:halfMessage]) + " ... " + string(s[len(s)-halfMessage:])
	}
	return string(s)
}

// halfMessage is how many characters of a long message stand before and after what
// is left out.
const halfMessage = 500

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "dlbench",
		Short: "Does your data loading keep up with your GPU?",
		Long: `dlbench measures how fast training data gets to a GPU, part by part, and puts
every figure beside the number that theory gives. Start with: dlbench run`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.AddCommand(newRun(), newList(), newInfo(), newTheory(), newPlot(), newWhatIf(), newCompare(), newReport(), newDataset())
	for _, c := range root.Commands() {
		args := c.Args
		c.Args = func(c *cobra.Command, a []string) error {
			if args == nil {
				args = cobra.NoArgs
			}
			return usage(args(c, a))
		}
	}
	root.Args = func(_ *cobra.Command, a []string) error {
		if len(a) == 0 {
			return nil
		}
		return usage(fmt.Errorf("unknown command %q: want run, list, info, theory, plot, whatif, compare, report or dataset (dlbench --help)", a[0]))
	}
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return root
}
