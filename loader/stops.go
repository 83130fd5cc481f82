package loader

import (
	"encoding/json"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"

	"dlbench/loader/decode"
)

// Stops are files, or places in shards, that would stop readers. There may be millions.
type Stops struct {
	set *Set
	all []stop
}

// stop is a sample, or below 0 what was skipped: -1 the first.
type stop struct {
	at   int32
	rule *decode.Rule
}

// IsZero is whether there are none.
func (s Stops) IsZero() bool { return len(s.all) == 0 }

func (s *Stops) add(at int32, rule *decode.Rule) {
	if rule != nil {
		s.all = append(s.all, stop{at, rule})
	}
}

// Of are those that would stop one of these readers, with the rule as the reason.
func (s Stops) Of(r decode.Readers) iter.Seq[Fault] {
	return func(yield func(Fault) bool) {
		for _, x := range s.all {
			if x.rule.Stops&r != 0 && !yield(s.fault(x)) {
				return
			}
		}
	}
}

// Count is how many would stop one of these readers.
func (s Stops) Count(r decode.Readers) (n int) {
	for range s.Of(r) {
		n++
	}
	return n
}

func (s Stops) fault(x stop) Fault {
	if x.at >= 0 {
		return s.set.Fault(x.at, x.rule.Kind)
	}
	f := s.set.Skipped[-1-x.at]
	f.Reason = x.rule.Kind
	return f
}

// MarshalJSON names all, with the readers that each would stop.
func (s Stops) MarshalJSON() ([]byte, error) {
	type named struct {
		Path    string   `json:"path"`
		Offset  int64    `json:"offset,omitempty"`
		Reason  string   `json:"reason"`
		Readers []string `json:"readers"`
	}
	all := make([]named, len(s.all))
	for i, x := range s.all {
		f := s.fault(x)
		all[i] = named{Escape(f.Path), f.Offset, f.Reason, x.rule.Stops.Names()}
	}
	return json.Marshal(all)
}

// Reasons by which stopOf tells what was skipped.
const (
	isHidden   = "hidden"
	emptyFile  = "empty file"
	emptyClass = "class folder without images"
	stopsThere = "; WebDataset stops there"
)

// Rules by which files of a folder, and shards, stop readers before anything is decoded.
// torchvision's ImageFolder takes hidden files and folders, too. WebDataset decodes by Pillow.
var (
	unread      = &decode.Rule{Kind: "empty, or cannot be read", Stops: decode.EveryReader}
	appleDouble = &decode.Rule{Kind: "hidden AppleDouble file of macOS", Stops: decode.Pillow}
	noImages    = &decode.Rule{Kind: "class folder without images", Stops: decode.Pillow}
	twice       = &decode.Rule{Kind: "a file that is twice in its sample", Stops: decode.Pillow}
)

// stopOf is the rule by which something that was skipped would stop readers, nil for none.
func (s *Set) stopOf(f Fault) *decode.Rule {
	switch {
	case s.Store == Tar && strings.HasSuffix(f.Reason, stopsThere):
		return twice
	case s.Store != Files:
	case isImage(f.Path) && (f.Reason == emptyFile || f.err != nil):
		return unread
	case isImage(f.Path) && f.Reason == isHidden && strings.HasPrefix(path.Base(f.Path), "._"):
		return appleDouble
	case f.Reason == emptyClass || f.Reason == isHidden && s.emptyFolder(f.Path):
		return noImages
	}
	return nil
}

// emptyFolder is whether something is a folder that would be a class, without images.
func (s *Set) emptyFolder(name string) bool {
	full := filepath.Join(s.Root, name)
	if info, err := os.Stat(full); err != nil || !info.IsDir() || strings.Contains(name, "/") || s.Classes == nil {
		return false
	}
	found := false
	filepath.WalkDir(full, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && isImage(e.Name()) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return !found
}
