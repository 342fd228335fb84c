package contract

import (
	"encoding/json"
	"fmt"
	"sync"
)

// Outcome is the outcome of one call to send.
type Outcome struct {
	Partition int32
	Offset    int64
	// Err is nil if the record is acknowledged.
	Err error
	// Certain tells of a failed send that it is certainly not in the log.
	Certain bool
}

// calls are the calls of all sessions, and their outcomes, for the history.
//
// A call is on disk before the client gets its record. Outcomes come from the client's goroutines;
// report writes and counts them.
type calls struct {
	history  *History
	mu       sync.Mutex
	open     map[string]bool
	returned []Row
	called   int
	ok       int
	notOK    int
	failed   error
	toldAt   int64
}

func newCalls(history *History) *calls {
	return &calls{history: history, open: map[string]bool{}}
}

// write records that records are about to be sent; txn is empty without a transaction.
func (c *calls) write(session string, records []Record, txn string) {
	var rows []Row
	at := Now()
	for _, record := range records {
		row := Row{
			"attempt": attempt(session, record), "record": record.Record, "key": record.Key,
			"digest": record.Digest, "ordinal": record.Ordinal, "session": session,
			"topic": record.Topic, "called_at": at, "clock": ClockID(),
		}
		if txn != "" {
			row["txn"] = txn
		}
		rows = append(rows, row)
	}
	c.history.Write("called", rows...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called += len(records)
	for _, record := range records {
		c.open[attempt(session, record)] = true
	}
}

// over records the outcome of a call, once.
func (c *calls) over(attempt string, outcome Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open[attempt] {
		return
	}
	delete(c.open, attempt)
	row := Row{"attempt": attempt, "returned_at": Now()}
	switch {
	case outcome.Err == nil:
		row["outcome"], row["partition"] = "ok", outcome.Partition
		row["offset"] = nil
		if outcome.Offset >= 0 {
			row["offset"] = outcome.Offset
		}
		c.ok++
	case outcome.Certain:
		row["outcome"], row["error"] = "fail", words(outcome.Err)
	default:
		row["outcome"], row["error"] = "info", words(outcome.Err)
	}
	if outcome.Err != nil {
		c.notOK++
		c.failed = outcome.Err
	}
	c.returned = append(c.returned, row)
}

// abandon records all open calls as unknown, because their client is closed.
func (c *calls) abandon(why error) {
	c.mu.Lock()
	var open []string
	for attempt := range c.open {
		open = append(open, attempt)
	}
	c.mu.Unlock()
	for _, attempt := range open {
		c.over(attempt, Outcome{Err: why})
	}
}

// waiting returns the number of calls without an outcome.
func (c *calls) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// failure returns the error of a send since the last call of it, or nil.
func (c *calls) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.failed
	c.failed = nil
	return found
}

// report writes outcomes, then tells the counts; at most every 0.1 s unless all is done.
func (c *calls) report(done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := Now(); done || now-c.toldAt >= 100_000_000 {
		c.toldAt = now
	} else {
		return
	}
	if len(c.returned) > 0 {
		c.history.Write("returned", c.returned...)
		c.returned = nil
	}
	said, err := json.Marshal(map[string]any{
		"called": c.called, "ok": c.ok, "not_ok": c.notOK, "timeouts": map[string]int{},
		"done": done,
	})
	if err != nil {
		Die("%v", err)
	}
	fmt.Println(string(said))
}

func attempt(session string, record Record) string {
	return fmt.Sprintf("%s/%d", session, record.Ordinal)
}

func words(err error) string {
	return fmt.Sprintf("%T: %v", err, err)
}
