import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * The calls of one session to send records, and what came of each.
 *
 * A call is on disk before the client gets its record. Outcomes are told on
 * a thread of the client's; they are kept until the program takes them, and are on disk then.
 */
final class Attempts {
    private final Calls calls;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();

    /** What came of one call; no error: it is acknowledged. */
    private record Outcome(
            TaskRecord record, RecordMetadata place, Exception error, boolean certain, long at) {}

    Attempts(
            History history,
            String session,
            KafkaProducer<byte[], byte[]> producer,
            Status status) {
        calls = new Calls(history, session, status);
        this.producer = producer;
    }

    /** Calls that have no outcome yet. */
    long open() {
        return calls.open();
    }

    /** Write the calls of records that belong to no transaction down, then hand them over. */
    void send(List<TaskRecord> records) {
        calls.called(records, null);
        sendAgain(records);
    }

    /**
     * Write the calls of a transaction down, then hand its records over.
     *
     * @throws KafkaException the client takes no more of this transaction
     */
    void send(List<TaskRecord> records, String txn) {
        calls.called(records, txn);
        for (int place = 0; place < records.size(); place++) {
            try {
                hand(records.get(place), true);
            } catch (KafkaException error) {
                for (var never : records.subList(place + 1, records.size())) {
                    outcomes.add(new Outcome(never, null, error, true, Clock.now()));
                }
                throw error;
            }
        }
    }

    /** Hand records over once more that the client gave up for time, under the same names. */
    void sendAgain(List<TaskRecord> records) {
        for (var record : records) {
            try {
                hand(record, false);
            } catch (KafkaException error) {
                continue; // its outcome is told
            }
        }
    }

    /** Write down what came of calls since the last time. */
    void settle() {
        settle(false);
    }

    /**
     * Write down what came of calls since the last time.
     *
     * @param resends whether what the client gave up for time is none of it
     * @return what the client gave up for time, if so
     */
    List<TaskRecord> settle(boolean resends) {
        var rows = new ArrayList<Map<String, Object>>();
        var late = new ArrayList<TaskRecord>();
        for (var one = outcomes.poll(); one != null; one = outcomes.poll()) {
            if (resends && one.error() instanceof TimeoutException) {
                late.add(one.record());
                continue;
            }
            rows.add(row(one));
        }
        calls.returned(rows);
        return late;
    }

    /** Hand a record over; whatever happens, its outcome is told once. */
    private void hand(TaskRecord record, boolean transactional) {
        var sent = new ProducerRecord<>(
                record.topic(), record.key().getBytes(UTF_8), record.value().getBytes(UTF_8));
        sent.headers().add(Identity.RECORD, record.record().getBytes(UTF_8));
        sent.headers().add(Identity.ATTEMPT, calls.attempt(record).getBytes(UTF_8));
        var caller = Thread.currentThread();
        var told = new AtomicBoolean();
        try {
            producer.send(sent, (place, error) -> {
                // Told before send() returned: it may not have got into the client's queue.
                var early = Thread.currentThread() == caller;
                var certain = early && !transactional && refusedFromTheStart(error);
                if (!told.getAndSet(true)) {
                    outcomes.add(new Outcome(record, place, error, certain, Clock.now()));
                }
            });
        } catch (KafkaException error) {
            if (!told.getAndSet(true)) {
                outcomes.add(new Outcome(record, null, error, false, Clock.now()));
            }
            throw error;
        }
    }

    /** Room, or the topic, was not there in time, or it is too large: it was never queued. */
    private static boolean refusedFromTheStart(Exception error) {
        return error instanceof TimeoutException || error instanceof RecordTooLargeException;
    }

    private Map<String, Object> row(Outcome outcome) {
        var place = outcome.place();
        if (outcome.error() == null) {
            var offset = place.hasOffset() ? Long.valueOf(place.offset()) : null;
            return calls.happened(outcome.record(), outcome.at(), place.partition(), offset);
        }
        // A client that retries may have been appended and then refused.
        return calls.failed(
                outcome.record(), outcome.at(), Clients.words(outcome.error()), outcome.certain());
    }
}
