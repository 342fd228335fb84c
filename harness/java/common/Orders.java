import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * Orders of the harness on standard input, and the resulting send rate.
 *
 * The end of standard input means that the harness is gone, and ends this process at once. Nothing
 * is sent before the first `rate N` (records per second); `enough` ends sending.
 */
final class Orders {
    private static final double AT_ONCE = 200;

    private volatile double rate;
    private volatile boolean enough;
    private double credit;
    private long last = Clock.now();

    /** Start listening. */
    Orders() {
        var listening = new Thread(this::listen, "orders");
        listening.setDaemon(true);
        listening.start();
    }

    /** Whether sending must end. */
    boolean enough() {
        return enough;
    }

    /** How many records may be sent now, at most 200. */
    int allowed() {
        var now = Clock.now();
        var more = rate == Double.POSITIVE_INFINITY ? AT_ONCE : (now - last) / 1e9 * rate;
        credit = Math.min(AT_ONCE, credit + more);
        last = now;
        return (int) credit;
    }

    /** Account for sent records; if more than allowed were sent, the next ones wait longer. */
    void took(int records) {
        credit -= records;
    }

    private void listen() {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (var line = lines.readLine(); line != null; line = lines.readLine()) {
                obey(line.strip());
            }
        } catch (IOException error) {
            System.err.println("standard input cannot be read: " + error);
        }
        System.err.println("the harness is gone");
        Runtime.getRuntime().halt(1);
    }

    private void obey(String order) {
        if (order.startsWith("rate ")) {
            var value = order.substring("rate ".length());
            rate = value.equals("inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(value);
        } else if (order.equals("enough")) {
            enough = true;
        }
    }
}
