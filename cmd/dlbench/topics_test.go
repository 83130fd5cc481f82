package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dlbench/bench"
	"dlbench/bench/suites"
)

// mostReadme is how many words README.md may have: the rest is in the manual.
const mostReadme = 1600

// readme is README.md from here.
var readme = filepath.Join("..", "..", "README.md")

// pages are README.md and the topics of the manual, by file.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{readme: string(mustRead(t, readme))}
	for _, name := range topicNames() {
		file := "help/" + name + ".md"
		texts[file] = string(mustRead(t, file))
	}
	return texts
}

// blocks are the lines of the fenced and indented blocks of a page. A fence of text holds what a
// program prints, no commands.
func blocks(text string) (lines []string) {
	fence, kind := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if lang, ok := strings.CutPrefix(line, "```"); ok {
			fence, kind = !fence, lang
			continue
		}
		if fence && kind != "text" || !fence && strings.HasPrefix(line, "    ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	pageLink = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	fenced   = regexp.MustCompile("(?ms)^```.*?^```")
	example  = regexp.MustCompile(`(?m)^  (dlbench .*)$`)

	shellCommand = regexp.MustCompile(`^(?:'[^']*'|"[^"]*"|[^'"|;&>#])*`)
	shellWord    = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^'" ])+`)
)

// wordsOf are the words of a command line of dlbench as a shell takes them, up to what ends the
// command; nil for lines of other programs.
func wordsOf(line string) (words []string) {
	for _, starter := range []string{"srun ", "mpirun "} {
		if i := strings.Index(line, " dlbench "); i > 0 && strings.HasPrefix(line, starter) {
			line = line[i+1:]
		}
	}
	if args, ok := strings.CutPrefix(line, "args: ["); ok { // of a container whose program is dlbench
		line = "dlbench " + strings.ReplaceAll(strings.TrimSuffix(args, "]"), ", ", " ")
	}
	line, ok := strings.CutPrefix(strings.TrimPrefix(line, "go run ./cmd/"), "dlbench ")
	if !ok {
		return nil
	}
	for _, word := range shellWord.FindAllString(shellCommand.FindString(line), -1) {
		words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(word))
	}
	return words
}

// parses says what is wrong with the words of a command line, as far as can be known without
// running it.
func parses(words []string) error {
	root := newRoot()
	root.InitDefaultCompletionCmd()
	c, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	args := c.Flags().Args()
	if err := c.ValidateArgs(args); err != nil {
		return err
	}
	switch c.Name() {
	case "dlbench":
		if len(args) > 0 {
			return fmt.Errorf("no command %s", args[0])
		}
	case "help":
		if below, _, err := root.Find(args); !slices.Contains(topicNames(), strings.Join(args, " ")) &&
			(err != nil || below == root) {
			return fmt.Errorf("no topic or command %s", args)
		}
	case "run":
		names, err := c.Flags().GetStringSlice("suite")
		if err != nil {
			return err
		}
		chosen, err := bench.Select(suites.All, names)
		if err != nil {
			return err
		}
		axes := c.Flags().Lookup("axis").Value.(*value[map[string][]string])
		return bench.CheckAxes(chosen, *axes.at)
	}
	return nil
}

// TestCommandsInTheManual parses every command line that README.md, the topics and the examples
// of help show.
func TestCommandsInTheManual(t *testing.T) {
	checked := 0
	check := func(file, line string) {
		words := wordsOf(line)
		if words == nil {
			return
		}
		checked++
		if err := parses(words); err != nil {
			t.Errorf("%s: %s: %v", file, line, err)
		}
	}
	for file, text := range pages(t) {
		for _, line := range blocks(text) {
			check(file, line)
		}
		// In sentences a command may stand without its arguments, and topics as a word in capitals.
		for _, span := range codeSpan.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			words := wordsOf(span[1])
			capitals := func(w string) bool { return w == strings.ToUpper(w) && !strings.HasPrefix(w, "-") }
			if len(words) > 1 && !slices.ContainsFunc(words[:2], capitals) && words[0] != "dataset" || len(words) > 2 {
				check(file, span[1])
			}
		}
	}
	for _, line := range example.FindAllStringSubmatch(helpTexts, -1) {
		check("help.txt", line[1])
	}
	if checked < 60 {
		t.Errorf("only %d command lines found", checked)
	}
}

func TestWrongCommandsAreFound(t *testing.T) {
	for line, want := range map[string]string{
		"dlbench rum":                                    "unknown command",
		"dlbench run --ned 2500/s":                       "unknown flag: --ned",
		"dlbench run --gpu mine":                         "no published figure",
		"dlbench run a b":                                "accepts at most 1 arg",
		"dlbench run --suite disc":                       "unknown suite",
		"dlbench run -a cashe=warm":                      "unknown axis",
		"dlbench run --suite disk -a cache=hot | cat":    `cache`,
		"go run ./cmd/dlbench compare":                   "no report given",
		"dlbench help nowhere":                           "no topic or command",
		"dlbench run DIR --loader mine='python3 a.py' b": "accepts at most 1 arg",
	} {
		if err := parses(wordsOf(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", line, err, want)
		}
	}
}

func TestReadmeIsShort(t *testing.T) {
	if n := len(strings.Fields(pages(t)[readme])); n > mostReadme {
		t.Errorf("README.md has %d words, want at most %d: move what is a detail to a topic", n, mostReadme)
	}
}

func TestReadmeShowsThePublishedScreen(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	code, stdout, stderr := in(t, "show", "../../results/published/everything")
	if screen := strings.TrimSpace(stdout); code != exitOK || screen == "" || !strings.Contains(pages(t)[readme], screen) {
		t.Errorf("exit %d, %s; README.md does not show this screen:\n%s", code, stderr, stdout)
	}
}

// TestTopics holds the manual together: each topic has a title, README.md and `dlbench help` name
// it, and every link leads to a file.
func TestTopics(t *testing.T) {
	texts := pages(t)
	_, listed, _ := helpText("dlbench help")
	for _, name := range topicNames() {
		file := "help/" + name + ".md"
		if !strings.HasPrefix(texts[file], "# ") {
			t.Errorf("%s does not begin with a title", file)
		}
		if !regexp.MustCompile(`(?m)^  ` + name + ` {2,}\w`).MatchString(listed) {
			t.Errorf("help.txt has no line about the topic %s", name)
		}
		if !strings.Contains(texts[readme], "(cmd/dlbench/"+file+")") {
			t.Errorf("README.md has no link to %s", file)
		}
	}
	for file, text := range texts {
		for _, link := range pageLink.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(link[1]))); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", file, link[1], err)
			}
		}
	}
}
