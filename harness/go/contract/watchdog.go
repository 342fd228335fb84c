package contract

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

const (
	looks = 20
	hung  = 4
)

// Watchdog ends this process if a call does not return, like a deployment's liveness probe.
//
// It counts looks instead of seconds: while the process is paused it does not look, and the call
// cannot return either. The exit code is 4.
type Watchdog struct{ call atomic.Pointer[string] }

// NewWatchdog starts a watchdog; a call may take so long.
func NewWatchdog(limit time.Duration) *Watchdog {
	found := &Watchdog{}
	go found.watch(limit)
	return found
}

// Over watches over a call.
func (w *Watchdog) Over(name string, call func()) {
	w.call.Store(&name)
	defer w.call.Store(nil)
	call()
}

func (w *Watchdog) watch(limit time.Duration) {
	var met *string
	seen := 0
	for {
		time.Sleep(limit / looks)
		now := w.call.Load()
		if now != met {
			seen = 0
		}
		met = now
		seen++
		if now != nil && seen > looks {
			fmt.Fprintf(os.Stderr, "hung in %s for %s\n", *now, limit)
			os.Exit(hung)
		}
	}
}
