import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A bare producer that is timed, as `harness/cost/load.py` describes it: `Load TASK`. */
final class Load {
    private static final long SECOND = 1_000_000_000L;

    private final ObjectMapper json = new ObjectMapper();
    private final KafkaProducer<byte[], byte[]> producer;
    private final String topic;
    private final int size;
    private final Long commitEvery;
    private final long nap;

    private Load(JsonNode task) {
        topic = task.get("topic").asText();
        size = task.get("size").asInt();
        var every = task.get("commit_every");
        commitEvery = every.isNull() ? null : (long) (every.asDouble() * SECOND);
        nap = (long) (task.get("nap").asDouble() * SECOND);
        var settings = new HashMap<String, Object>();
        task.get("client").properties().forEach(
                setting -> settings.put(setting.getKey(), setting.getValue().asText()));
        producer = new KafkaProducer<>(
                settings, new ByteArraySerializer(), new ByteArraySerializer());
        if (commitEvery != null) {
            producer.initTransactions();
        }
    }

    public static void main(String[] arguments) throws Exception {
        var json = new ObjectMapper();
        var load = new Load(json.readTree(arguments[0]));
        System.out.println("{\"ready\": true}");
        var orders = new BufferedReader(new InputStreamReader(System.in));
        for (var line = orders.readLine(); line != null; line = orders.readLine()) {
            System.out.println(json.writeValueAsString(load.carryOut(json.readTree(line))));
        }
        Runtime.getRuntime().halt(0);
    }

    private Map<String, Object> carryOut(JsonNode order) {
        var took = new ArrayList<Long>();
        var slept = new ArrayList<Long>();
        var block = order.get("block").asInt();
        var seconds = order.get("seconds").asDouble();
        var rate = order.get("rate");
        var timed = rate.isNull();
        var gap = timed ? 0 : SECOND / rate.asDouble();
        var wanted = timed ? Long.MAX_VALUE : (long) (rate.asDouble() * seconds);
        var began = System.nanoTime();
        var ends = timed ? began + (long) (seconds * SECOND) : Long.MAX_VALUE;
        var commitAt = begin(began);
        long sent = 0;
        long late = 0;
        while (true) {
            var now = System.nanoTime();
            if (commitEvery != null && now >= commitAt) {
                slept.add(commit());
                took.add(commitEvery + System.nanoTime() - commitAt);
                commitAt = begin(System.nanoTime());
                continue;
            }
            if (now >= ends || sent >= wanted) {
                break;
            }
            var due = timed ? now : began + (long) (sent * gap);
            if (due > now) {
                LockSupport.parkNanos(Math.min(due, commitAt) - now);
                continue;
            }
            late = Math.max(late, now - due);
            var value = ByteBuffer.allocate(size).putLong(due).putInt(block).array();
            producer.send(new ProducerRecord<>(topic, value));
            sent++;
        }
        if (commitEvery != null) {
            commit();
        } else {
            producer.flush();
        }
        return Map.of(
                "sent", sent,
                "seconds", (System.nanoTime() - began) / (double) SECOND,
                "transactions", took.size(),
                "transaction", median(took),
                "napped", median(slept),
                "late", late / (double) SECOND);
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

    /** Begin a transaction; return when it is to be committed. */
    private long begin(long now) {
        if (commitEvery == null) {
            return Long.MAX_VALUE;
        }
        producer.beginTransaction();
        return now + commitEvery;
    }

    /** Commit; return how long it slept afterwards, in nanoseconds. */
    private long commit() {
        producer.commitTransaction();
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
