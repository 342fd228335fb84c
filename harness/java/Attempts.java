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
 * The send calls of one session and their outcomes.
 *
 * A call is on disk before the client gets its record. Outcomes arrive on a client thread and are
 * queued; `settle` writes them to disk.
 */
final class Attempts {
    private final Calls calls;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Queue<Outcome> outcomes = new ConcurrentLinkedQueue<>();

    /** The outcome of a call; a null error means acknowledged. */
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

    /** Number of calls without an outcome. */
    long open() {
        return calls.open();
    }

    /** Write the calls of non-transactional records to the history, then send the records. */
    void send(List<TaskRecord> records) {
        calls.called(records, null);
        sendAgain(records);
    }

    /**
     * Write the calls of a transaction to the history, then send its records.
     *
     * @throws KafkaException the client accepts no more records of this transaction
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

    /** Send records again after a timeout, with the same attempt identities. */
    void sendAgain(List<TaskRecord> records) {
        for (var record : records) {
            try {
                hand(record, false);
            } catch (KafkaException error) {
                continue; // its outcome is recorded
            }
        }
    }

    void settle() {
        settle(false);
    }

    /**
     * Write the outcomes since the last call to the history.
     *
     * @param resends whether a timeout is not an outcome, because the record is sent again
     * @return the records that timed out, if `resends`
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

    /** Send a record; its outcome is recorded exactly once. */
    private void hand(TaskRecord record, boolean transactional) {
        var sent = new ProducerRecord<>(
                record.topic(), record.key().getBytes(UTF_8), record.value().getBytes(UTF_8));
        sent.headers().add(Identity.RECORD, record.record().getBytes(UTF_8));
        sent.headers().add(Identity.ATTEMPT, calls.attempt(record).getBytes(UTF_8));
        var caller = Thread.currentThread();
        var told = new AtomicBoolean();
        try {
            producer.send(sent, (place, error) -> {
                // Called before send() returned: the record may never have been queued.
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

    /** No buffer space or metadata in time, or too large: the record was never queued. */
    private static boolean refusedFromTheStart(Exception error) {
        return error instanceof TimeoutException || error instanceof RecordTooLargeException;
    }

    private Map<String, Object> row(Outcome outcome) {
        var place = outcome.place();
        if (outcome.error() == null) {
            var offset = place.hasOffset() ? Long.valueOf(place.offset()) : null;
            return calls.happened(outcome.record(), outcome.at(), place.partition(), offset);
        }
        // With retries, an earlier try may have been appended before the last one failed.
        return calls.failed(
                outcome.record(), outcome.at(), Clients.words(outcome.error()), outcome.certain());
    }
}
