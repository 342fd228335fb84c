import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** Writes records when they are due, and times them, as `harness/cost/load.py` describes it. */
final class Pace {
    private static final long SECOND = 1_000_000_000L;
    /** How long to wait while no record is due; shorter waits take a processor from the brokers. */
    private static final long AHEAD = SECOND / 1_000;

    private static final long NEVER = Long.MAX_VALUE / 2;

    private final Target target;
    private final int size;
    private final long commitEvery;
    private final long commitRecords;
    private final long nap;

    /** What the records are written to. */
    interface Target {
        void send(byte[] value) throws Exception;

        /** Wait until all records are acknowledged. */
        void flush() throws Exception;

        default void begin() {}

        default void commit() {}
    }

    private Pace(JsonNode task, Target target) {
        this.target = target;
        size = task.get("size").asInt();
        commitEvery = task.path("commit_every").isNumber()
                ? (long) (task.get("commit_every").asDouble() * SECOND)
                : NEVER;
        commitRecords = task.path("commit_records").asLong(NEVER);
        nap = (long) (task.path("nap").asDouble() * SECOND);
    }

    /** Whether the records of a task are written in transactions. */
    static boolean transactional(JsonNode task) {
        return task.path("commit_every").isNumber() || task.path("commit_records").isNumber();
    }

    /** Say that the target is ready, and carry out the orders of standard input until it ends. */
    static void answer(JsonNode task, Target target) throws Exception {
        var json = new ObjectMapper();
        var pace = new Pace(task, target);
        System.out.println("{\"ready\": true}");
        var orders = new BufferedReader(new InputStreamReader(System.in));
        for (var line = orders.readLine(); line != null; line = orders.readLine()) {
            System.out.println(json.writeValueAsString(pace.carryOut(json.readTree(line))));
        }
        Runtime.getRuntime().halt(0);
    }

    private Map<String, Object> carryOut(JsonNode order) throws Exception {
        var took = new ArrayList<Long>();
        var slept = new ArrayList<Long>();
        var stamp = "-" + order.get("block").asInt() + "-";
        var timed = order.get("count").isNull();
        var fast = order.get("rate").isNull();
        var gap = fast ? 0 : SECOND / order.get("rate").asDouble();
        var waits = (long) (order.get("delay").asDouble() * SECOND);
        var wanted = timed ? NEVER : order.get("count").asLong();
        var began = begin();
        var opened = began;
        var ends = timed ? began + (long) (order.get("seconds").asDouble() * SECOND) : NEVER;
        long sent = 0;
        long committed = 0;
        long late = 0;
        while (true) {
            var now = System.nanoTime();
            if (sent - committed >= commitRecords || now >= opened + commitEvery) {
                slept.add(commit());
                took.add(System.nanoTime() - opened);
                committed = sent;
                opened = begin();
                continue;
            }
            if (now >= ends || sent >= wanted) {
                break;
            }
            var due = fast ? now : began + (long) (sent * gap);
            if (due + waits > now && !fast) {
                LockSupport.parkNanos(AHEAD);
                continue;
            }
            late = Math.max(late, now - due - waits);
            target.send(value("cost-" + due + stamp + sent + "-"));
            sent++;
        }
        target.commit();
        target.flush();
        return Map.of(
                "sent", sent,
                "began", began,
                "seconds", (System.nanoTime() - began) / (double) SECOND,
                "transactions", took.size(),
                "transaction", median(took),
                "napped", median(slept),
                "late", late / (double) SECOND);
    }

    private byte[] value(String head) {
        var value = Arrays.copyOf(head.getBytes(StandardCharsets.US_ASCII), size);
        Arrays.fill(value, head.length(), size, (byte) 'x');
        return value;
    }

    /** The median in seconds; 0 of nothing. */
    private static double median(List<Long> found) {
        var sorted = found.stream().sorted().toList();
        if (sorted.isEmpty()) {
            return 0;
        }
        var half = sorted.size() / 2;
        var upper = sorted.get(half);
        var lower = sorted.size() % 2 == 0 ? sorted.get(half - 1) : upper;
        return (lower + upper) / 2.0 / SECOND;
    }

    /** Begin a transaction, if there are any; return the time. */
    private long begin() {
        target.begin();
        return System.nanoTime();
    }

    /** Commit; return how long it slept afterwards, in nanoseconds. */
    private long commit() {
        target.commit();
        if (nap == 0) {
            return 0;
        }
        var before = System.nanoTime();
        while (System.nanoTime() < before + nap) {
            LockSupport.parkNanos(before + nap - System.nanoTime());
        }
        return System.nanoTime() - before;
    }
}
