package contract

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
)

const atOnce = 200.0

// orders are those of the harness on standard input, and the resulting rate of sends.
//
// The end of standard input means that the harness is gone, and ends this process at once.
type orders struct {
	mu     sync.Mutex
	rate   float64
	enough bool
	credit float64
	last   int64
}

func listen() *orders {
	found := &orders{last: Now()}
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			found.obey(strings.TrimSpace(lines.Text()))
		}
		Die("the harness is gone")
	}()
	return found
}

func (o *orders) obey(order string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if word, value, _ := strings.Cut(order, " "); word == "rate" {
		rate, err := strconv.ParseFloat(value, 64)
		if err != nil {
			Die("a rate cannot be read: %v", err)
		}
		o.rate = rate
	} else if word == "enough" {
		o.enough = true
	}
}

// over returns whether sending must end.
func (o *orders) over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.enough
}

// allowed returns how many records may be sent now, at most 200.
func (o *orders) allowed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := Now()
	more := atOnce
	if !math.IsInf(o.rate, 1) {
		more = float64(now-o.last) / 1e9 * o.rate
	}
	o.credit, o.last = math.Min(atOnce, o.credit+more), now
	return int(o.credit)
}

// took accounts for sent records; if more than allowed were sent, the next ones wait longer.
func (o *orders) took(records int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.credit -= float64(records)
}
