package contract

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
)

// Task is the task of one sender, as harness/workload/task_file.py describes it.
type Task struct {
	Name            string         `json:"name"`
	Bootstrap       string         `json:"bootstrap"`
	Records         string         `json:"records"`
	History         string         `json:"history"`
	Client          map[string]any `json:"client"`
	TransactionalID *string        `json:"transactional_id"`
}

// Record is one record to send. Its ordinal is its line number in the file.
type Record struct {
	Record      string       `json:"record"`
	Topic       string       `json:"topic"`
	Key         string       `json:"key"`
	Value       *string      `json:"value"`
	Digest      string       `json:"digest"`
	Transaction *int         `json:"transaction"`
	Abort       bool         `json:"abort"`
	Own         [][2]*string `json:"headers"`
	Encoded     *string      `json:"encoded"`
	Ordinal     int          `json:"-"`
}

// RecordHeader names the record, in the log of the inputs and on its effects.
const RecordHeader = "onceproof-record"

// Header is a header of a record; a nil value is sent as null.
type Header struct {
	Name  string
	Value []byte
}

// LoadTask loads the task whose path is the last argument.
func LoadTask() Task {
	var task Task
	load(&task)
	return task
}

func load(task any) {
	text, err := os.ReadFile(os.Args[len(os.Args)-1])
	if err == nil {
		err = json.Unmarshal(text, task)
	}
	if err != nil {
		Die("the task cannot be read: %v", err)
	}
	if os.Getenv("ONCEPROOF_CONNECTION") != "" {
		Die("the Go clients connect in plain text only")
	}
}

// ValueSent returns the bytes of the value; nil: no value.
func (r Record) ValueSent() []byte {
	switch {
	case r.Encoded != nil:
		value, err := base64.StdEncoding.DecodeString(*r.Encoded)
		if err != nil {
			Die("%s: %v", r.Record, err)
		}
		return value
	case r.Value != nil:
		return []byte(*r.Value)
	}
	return nil
}

// headers returns its own headers, and those that identify record and attempt in the log.
func (r Record) headers(attempt string) []Header {
	var found []Header
	for _, own := range r.Own {
		header := Header{Name: *own[0]}
		if own[1] != nil {
			header.Value = []byte(*own[1])
		}
		found = append(found, header)
	}
	return append(found,
		Header{RecordHeader, []byte(r.Record)},
		Header{"onceproof-attempt", []byte(attempt)})
}

// reader reads the records of a file in order, with one record of lookahead.
type reader struct {
	lines *bufio.Reader
	next  *Record
	count int
}

func openRecords(path string) *reader {
	file, err := os.Open(path)
	if err != nil {
		Die("the records cannot be read: %v", err)
	}
	found := &reader{lines: bufio.NewReaderSize(file, 1<<20)}
	found.read()
	return found
}

func (r *reader) over() bool { return r.next == nil }

// take returns at most so many records.
func (r *reader) take(most int) []Record {
	var taken []Record
	for len(taken) < most && r.next != nil {
		taken = append(taken, *r.next)
		r.read()
	}
	return taken
}

// takeTransaction returns the records of the next transaction.
func (r *reader) takeTransaction() []Record {
	taken := r.take(1)
	for r.next != nil && *r.next.Transaction == *taken[0].Transaction {
		taken = append(taken, r.take(1)...)
	}
	return taken
}

func (r *reader) read() {
	line, err := r.lines.ReadBytes('\n')
	if len(line) == 0 {
		r.next = nil
		return
	}
	record := Record{Ordinal: r.count}
	if err == nil || err == io.EOF {
		err = json.Unmarshal(line, &record)
	}
	if err != nil {
		Die("the records cannot be read: %v", err)
	}
	r.next, r.count = &record, r.count+1
}
