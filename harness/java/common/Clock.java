import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The clock of a history, the same as in `harness/clock.py`.
 *
 * On Linux System.nanoTime() is CLOCK_MONOTONIC, so its times may be compared with Python's on the
 * same machine, which the id identifies.
 */
final class Clock {
    private static final String ID = read();

    private Clock() {}

    /** Monotonic nanoseconds. */
    static long now() {
        return System.nanoTime();
    }

    /** Nanoseconds since 1970, UTC. */
    static long wall() {
        var at = java.time.Instant.now();
        return at.getEpochSecond() * 1_000_000_000L + at.getNano();
    }

    /** `<boot id>/CLOCK_MONOTONIC` of this machine. */
    static String id() {
        return ID;
    }

    private static String read() {
        try {
            var boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
            return boot + "/CLOCK_MONOTONIC";
        } catch (IOException error) {
            throw new UncheckedIOException("the boot id of the kernel cannot be read", error);
        }
    }
}
