package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

const clockEvery = 10_000_000_000

// Row is one row of the history: its columns and their values.
type Row map[string]any

// History is an append-only file of JSON lines, as harness/history/writer.py writes them.
//
// Written lines survive the death of this process. Nothing may follow a line that was cut short, so
// a failed write ends the program.
type History struct {
	mu       sync.Mutex
	writer   string
	file     *os.File
	nextPair int64
}

// OpenHistory opens the file of one writer.
func OpenHistory(folder, writer string) *History {
	path := filepath.Join(folder, writer+".jsonl")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		Die("the history cannot be opened: %v", err)
	}
	return &History{writer: writer, file: file}
}

// Write writes rows of one kind at once: a table's name, `called` or `returned`.
func (h *History) Write(kind string, rows ...Row) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lines bytes.Buffer
	if now := Now(); now >= h.nextPair {
		h.nextPair = now + clockEvery
		add(&lines, "clocks", Row{
			"writer": h.writer, "clock": ClockID(), "monotonic_ns": now, "wall_ns": wall(),
		})
	}
	for _, row := range rows {
		add(&lines, kind, row)
	}
	if _, err := h.file.Write(lines.Bytes()); err != nil {
		Die("the history cannot be written: %v", err)
	}
}

func add(lines *bytes.Buffer, kind string, row Row) {
	line := Row{"t": kind}
	for name, value := range row {
		line[name] = value
	}
	if err := json.NewEncoder(lines).Encode(line); err != nil {
		Die("a row cannot be written: %v", err)
	}
}

// Die ends this program with a message.
func Die(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}
