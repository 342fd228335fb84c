// Package contract is what all producer programs in Go share: the task, its records, orders, the
// history and progress reports. harness/workload/task_file.py specifies it for all languages.
package contract

import (
	"errors"
	"fmt"
	"os"
	"time"
)

const (
	pause        = 5 * time.Millisecond
	patience     = 10 * time.Second
	betweenTries = 200 * time.Millisecond
)

// Client is one producer of a library.
type Client interface {
	// Send hands a record to the library; done is called exactly once, on any goroutine.
	Send(topic string, key, value []byte, headers []Header, done func(Outcome))

	// Close gives every record that has none an outcome.
	Close()
}

// Transactional is a producer with transactions.
type Transactional interface {
	Client

	// Begin begins a transaction.
	Begin() error

	// End commits or aborts it, after all its sends have an outcome.
	End(commit bool) Ending
}

// Ending is how a transaction ended.
type Ending struct {
	// Outcome is committed, aborted, or info if that is not known.
	Outcome string
	Err     error
	// Usable tells whether the client can begin another transaction.
	Usable bool
}

var errAbandoned = errors.New("the client was closed")

// sending carries out one task.
type sending struct {
	task    Task
	orders  *orders
	history *History
	calls   *calls
	records *reader
	session string
}

func start(task Task) *sending {
	history := OpenHistory(task.History, task.Name)
	found := &sending{
		task: task, orders: listen(), history: history, calls: newCalls(history),
		records: openRecords(task.Records),
	}
	found.newSession()
	return found
}

func (s *sending) newSession() { s.session = fmt.Sprintf("%s/%x", s.task.Name, Now()) }

func (s *sending) over() bool { return s.orders.over() || s.records.over() }

// Main carries out the task of the command line with clients that open returns.
func Main(open func(Task) (Transactional, error)) {
	task := LoadTask()
	if task.TransactionalID != nil {
		runTransactions(task, func() (Transactional, error) { return open(task) })
		return
	}
	client, err := open(task)
	if err != nil {
		Die("%v", err)
	}
	run(task, client)
}

// run sends every record without transactions, and waits for every outcome.
func run(task Task, client Client) {
	s := start(task)
	for !s.over() {
		if block := s.records.take(s.orders.allowed()); len(block) > 0 {
			s.orders.took(len(block))
			s.send(client, block, "")
		} else {
			time.Sleep(pause)
		}
		s.calls.report(false)
	}
	s.wait()
	client.Close()
	s.calls.report(true)
}

// runTransactions sends every transaction. Clients that cannot go on are replaced.
func runTransactions(task Task, open func() (Transactional, error)) {
	s := start(task)
	client := s.opened(open)
	for !s.over() {
		s.calls.report(false)
		if s.orders.allowed() < 1 {
			time.Sleep(pause)
			continue
		}
		group := s.records.takeTransaction()
		s.orders.took(len(group))
		for sent := false; !sent && !s.orders.over(); {
			var usable bool
			if sent, usable = s.transaction(client, group); !usable {
				s.retire(client)
				s.newSession()
				client = s.opened(open)
			}
		}
	}
	s.retire(client)
	s.calls.report(true)
}

// transaction sends a transaction and ends it. It returns whether the records were sent, which they
// are not if it could not begin, and whether the client is usable.
func (s *sending) transaction(client Transactional, group []Record) (sent, usable bool) {
	txn := Row{
		"txn":     fmt.Sprintf("%s/t%d", s.session, *group[0].Transaction),
		"session": s.session, "transactional_id": *s.task.TransactionalID, "outcome": "info",
		"began_at": Now(), "clock": ClockID(),
	}
	s.history.Write("txns", txn)
	if err := client.Begin(); err != nil {
		s.ended(txn, Ending{Outcome: "info", Err: err})
		return false, false
	}
	s.calls.failure()
	s.send(client, group, txn["txn"].(string))
	s.wait()
	failed := s.calls.failure()
	commit := !group[0].Abort && failed == nil
	if commit {
		txn["commit_called_at"] = Now()
		s.history.Write("txns", txn)
	}
	ending := client.End(commit)
	if ending.Err == nil {
		ending.Err = failed
	}
	s.ended(txn, ending)
	return true, ending.Usable
}

func (s *sending) ended(txn Row, ending Ending) {
	txn["outcome"], txn["ended_at"] = ending.Outcome, Now()
	if ending.Err != nil {
		txn["error"] = words(ending.Err)
	}
	s.history.Write("txns", txn)
}

func (s *sending) send(client Client, records []Record, txn string) {
	s.calls.write(s.session, records, txn)
	for _, record := range records {
		name := attempt(s.session, record)
		client.Send(record.Topic, []byte(record.Key), record.ValueSent(), record.headers(name),
			func(outcome Outcome) { s.calls.over(name, outcome) })
	}
}

// wait waits until every call has an outcome.
func (s *sending) wait() {
	for s.calls.waiting() > 0 {
		time.Sleep(pause)
		s.calls.report(false)
	}
}

// retire closes a client; every call without an outcome gets one.
func (s *sending) retire(client Client) {
	closed := make(chan struct{})
	go func() {
		client.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(patience):
		fmt.Fprintln(os.Stderr, "the client does not close; going on without it")
	}
	s.calls.abandon(errAbandoned)
}

// opened returns a new client; it tries until there is one.
func (s *sending) opened(open func() (Transactional, error)) Transactional {
	for {
		client, err := open()
		if err == nil {
			return client
		}
		fmt.Fprintln(os.Stderr, "no new client:", words(err))
		s.calls.report(false)
		time.Sleep(betweenTries)
	}
}
