import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * The calls of one session to send records, and what came of each.
 *
 * The one thing to know: a call is on disk before the client gets its record. Outcomes are told on
 * a thread of the client's; they are kept until the program takes them, and on disk by then.
 */
final class Attempts {
    private static final String RECORD_HEADER = "onceproof-record";
    private static final String ATTEMPT_HEADER = "onceproof-attempt";

    /** What came of one call. */
    record Outcome(TaskRecord record, boolean ok, Map<String, Object> row) {}

    private final History history;
    private final KafkaProducer<byte[], byte[]> producer;
    private final String session;
    private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();
    private long ordinal;
    private long open;

    Attempts(History history, String session, KafkaProducer<byte[], byte[]> producer) {
        this.history = history;
        this.session = session;
        this.producer = producer;
    }

    /** Calls that have no outcome yet. */
    long open() {
        return open;
    }

    /**
     * Write the calls down, then hand the records to the client.
     *
     * @param txn the transaction that they belong to, or null
     * @throws KafkaException the client takes no more of this transaction
     */
    void send(List<TaskRecord> records, String txn) {
        var calls = new ArrayList<Map<String, Object>>();
        var at = Clock.now();
        for (var record : records) {
            calls.add(call(record, txn, at, ordinal++));
        }
        history.write("called", calls);
        for (int n = 0; n < calls.size(); n++) {
            hand(records.get(n), (String) calls.get(n).get("attempt"), txn != null);
        }
    }

    /** The outcomes since the last time, which are on disk now. */
    List<Outcome> take() {
        var taken = new ArrayList<Outcome>();
        for (var one = outcomes.poll(); one != null; one = outcomes.poll()) {
            taken.add(one);
        }
        if (!taken.isEmpty()) {
            history.write("returned", taken.stream().map(Outcome::row).toList());
            open -= taken.size();
        }
        return taken;
    }

    private Map<String, Object> call(TaskRecord record, String txn, long at, long ordinal) {
        var row = new LinkedHashMap<String, Object>();
        row.put("attempt", session + "/" + ordinal);
        row.put("record", record.record());
        row.put("key", record.key());
        row.put("digest", record.digest());
        row.put("ordinal", ordinal);
        row.put("session", session);
        if (txn != null) {
            row.put("txn", txn);
        }
        row.put("topic", record.topic());
        if (record.partition() != null) {
            row.put("partition", record.partition());
        }
        row.put("called_at", at);
        row.put("clock", Clock.id());
        return row;
    }

    private void hand(TaskRecord record, String attempt, boolean transactional) {
        var sent = new ProducerRecord<>(
                record.topic(), record.partition(), record.key().getBytes(UTF_8), record.value());
        sent.headers().add(RECORD_HEADER, record.record().getBytes(UTF_8));
        sent.headers().add(ATTEMPT_HEADER, attempt.getBytes(UTF_8));
        var caller = Thread.currentThread();
        open++;
        try {
            producer.send(sent, (place, error) -> {
                // Told before send() returned: the record may not have got into the client's queue.
                var early = Thread.currentThread() == caller;
                var never = early && !transactional && refusedFromTheStart(error);
                outcomes.add(new Outcome(record, error == null, row(attempt, place, error, never)));
            });
        } catch (KafkaException error) {
            outcomes.add(new Outcome(record, false, row(attempt, null, error, false)));
            if (transactional) {
                throw error;
            }
        }
    }

    /** Room, or the topic, was not there in time, or it is too large: it was never queued. */
    private static boolean refusedFromTheStart(Exception error) {
        return error instanceof TimeoutException || error instanceof RecordTooLargeException;
    }

    private static Map<String, Object> row(
            String attempt, RecordMetadata place, Exception error, boolean never) {
        var row = new LinkedHashMap<String, Object>();
        row.put("attempt", attempt);
        row.put("returned_at", Clock.now());
        if (error == null) {
            row.put("outcome", "ok");
            row.put("partition", place.partition());
            if (place.hasOffset()) {
                row.put("offset", place.offset());
            }
        } else {
            // A client that retries may have been appended and then refused.
            row.put("outcome", never ? "fail" : "info");
            row.put("error", Clients.words(error));
        }
        return row;
    }
}
