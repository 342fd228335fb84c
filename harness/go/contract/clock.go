package contract

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

var clockID = readClockID()

// Now returns nanoseconds of CLOCK_MONOTONIC, the clock of every history.
func Now() int64 {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &at); err != nil {
		Die("the clock cannot be read: %v", err)
	}
	return at.Nano()
}

// ClockID returns `<boot id>/CLOCK_MONOTONIC` of this machine.
func ClockID() string { return clockID }

func readClockID() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		Die("the boot id of the kernel cannot be read: %v", err)
	}
	return strings.TrimSpace(string(boot)) + "/CLOCK_MONOTONIC"
}

func wall() int64 { return time.Now().UnixNano() }
