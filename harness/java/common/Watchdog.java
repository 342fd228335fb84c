/**
 * Ends this process if a client call does not return, like a deployment's liveness probe.
 *
 * Its thread watches one call at a time. It counts checks instead of seconds: while the process is
 * paused it does not check, and the call cannot return either. Its exit code is 4.
 */
final class Watchdog {
    private static final int HUNG = 4;
    private static final int LOOKS = 20;

    private final double seconds;
    private volatile Call call;

    private record Call(String name) {}

    Watchdog(double seconds) {
        this.seconds = seconds;
        var watching = new Thread(this::watch, "watchdog");
        watching.setDaemon(true);
        watching.start();
    }

    /** Watch over a call. */
    void over(String name, Runnable action) {
        call = new Call(name);
        try {
            action.run();
        } finally {
            call = null;
        }
    }

    private void watch() {
        Call met = null;
        var looks = 0;
        while (true) {
            try {
                Thread.sleep((long) (seconds * 1000 / LOOKS));
            } catch (InterruptedException error) {
                return;
            }
            var now = call;
            looks = now == met ? looks + 1 : 0;
            met = now;
            if (now != null && looks > LOOKS) {
                System.err.println("hung in " + now.name() + " for " + seconds + " s");
                Runtime.getRuntime().halt(HUNG);
            }
        }
    }
}
