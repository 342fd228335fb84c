/**
 * Ends this process if its client does not return: what a deployment's liveness probe does.
 *
 * The one thing to know: it looks at one call at a time, from a thread of its own; 4 is the exit
 * code of a process that it ended.
 */
final class Watchdog {
    private static final int HUNG = 4;

    private final long limit;
    private volatile String call;
    private volatile long began;

    Watchdog(double seconds) {
        limit = (long) (seconds * 1e9);
        var watching = new Thread(this::watch, "watchdog");
        watching.setDaemon(true);
        watching.start();
    }

    /** Watch over a call. */
    void over(String name, Runnable action) {
        began = Clock.now();
        call = name;
        try {
            action.run();
        } finally {
            call = null;
        }
    }

    private void watch() {
        while (true) {
            try {
                Thread.sleep(limit / 20_000_000);
            } catch (InterruptedException error) {
                return;
            }
            var name = call;
            if (name != null && Clock.now() - began > limit) {
                System.err.println("hung in " + name + " for " + limit / 1_000_000_000 + " s");
                Runtime.getRuntime().halt(HUNG);
            }
        }
    }
}
