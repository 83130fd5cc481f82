package results

import "bytes"

// lineLength is the width in bytes up to which a value is kept on one line.
const lineLength = 100

// Indent writes the compact JSON value v for people to read: one member a line,
// but a value without nested ones stays on one line while that is short, so
// that a sample takes one line, and a long list of scalars fills its lines.
// Valid JSON in gives the same value out.
func Indent(out *bytes.Buffer, v []byte, depth int) {
	open := v[0]
	if open != '{' && open != '[' {
		out.Write(v)
		return
	}
	flat := !bytes.ContainsAny(v[1:], "{[") // a bracket within a string only costs lines
	if len(v) == 2 || flat && len(v)+2*depth <= lineLength {
		spaced(out, v)
		return
	}
	fill := flat && open == '['
	column := lineLength // the first element starts a line
	out.WriteByte(open)
	for rest := v[1 : len(v)-1]; len(rest) > 0; {
		n := valueLength(rest)
		if open == '{' {
			n += 1 + valueLength(rest[n+1:])
		}
		member := rest[:n]
		last := n == len(rest)
		if !fill || column+len(member)+2 > lineLength {
			newline(out, depth+1)
			column = 2 * (depth + 1)
		} else {
			out.WriteByte(' ')
			column++
		}
		column += len(member) + 1
		if open == '{' {
			key := valueLength(member)
			out.Write(member[:key])
			out.WriteString(": ")
			member = member[key+1:]
		}
		Indent(out, member, depth+1)
		if last {
			break
		}
		out.WriteByte(',')
		rest = rest[n+1:]
	}
	newline(out, depth)
	out.WriteByte(v[len(v)-1])
}

// spaced writes v on one line with a space after each comma and colon.
func spaced(out *bytes.Buffer, v []byte) {
	inString := false
	for i := 0; i < len(v); i++ {
		out.WriteByte(v[i])
		switch {
		case inString && v[i] == '\\':
			i++
			out.WriteByte(v[i])
		case v[i] == '"':
			inString = !inString
		case !inString && (v[i] == ',' || v[i] == ':'):
			out.WriteByte(' ')
		}
	}
}

func newline(out *bytes.Buffer, depth int) {
	out.WriteByte('\n')
	for range depth {
		out.WriteString("  ")
	}
}

// valueLength is the length of the value that the compact JSON v begins with.
func valueLength(v []byte) int {
	depth, inString := 0, false
	for i := 0; i < len(v); i++ {
		if inString {
			switch v[i] {
			case '\\':
				i++
			case '"':
				inString = false
				if depth == 0 {
					return i + 1
				}
			}
			continue
		}
		switch v[i] {
		case '"':
			inString = true
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			if depth == 0 {
				return i + 1
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return len(v)
}
