import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * The history that a group member writes: transactions, staged offsets, offsets that it believes to
 * be committed, and assignments.
 *
 * The committed offsets of the group are read from Kafka elsewhere; the ones here are `advisory`,
 * because no member starts from them. An assignment is written when it ends, so a killed member
 * leaves no row for its last one.
 */
final class MemberHistory {
    private final History history;
    private final Transactions transactions;
    private final String reader;
    private final String life;
    private final String group;
    private final Map<TopicPartition, Long> since = new LinkedHashMap<>();
    private final Map<TopicPartition, Long> from = new LinkedHashMap<>();
    private long sessions;
    private long numbers;
    private long commits;

    /** With a null `folder`, nothing is written. */
    MemberHistory(String folder, String instance, String group, String id) throws IOException {
        reader = instance;
        life = instance + "/" + Long.toHexString(Clock.now());
        this.group = group;
        history = folder == null ? null : new History(folder, instance);
        transactions = history == null ? null : new Transactions(history, life, id);
    }

    /** Record the begin of a transaction; null if nothing is written. */
    Transactions.Transaction begin() {
        return transactions == null ? null : transactions.begin(numbers++);
    }

    /** Record offsets that are about to be added to a transaction. */
    void staged(Transactions.Transaction txn, Map<TopicPartition, OffsetAndMetadata> ends) {
        write("staged", ends, row -> row.put("txn", txn.id()));
    }

    /** Record offsets that the client reports as committed. */
    void committed(Map<TopicPartition, OffsetAndMetadata> ends) {
        var at = Clock.now();
        write("positions", ends, row -> {
            row.put("instance", life);
            row.put("role", "advisory");
            row.put("kind", "done");
            row.put("by", "subject");
            row.put("ordinal", commits);
            row.put("at", at);
            row.put("clock", Clock.id());
        });
        commits++;
    }

    /** Note that reading of a partition starts at an offset. */
    void assigned(TopicPartition partition, long position) {
        since.put(partition, Clock.now());
        from.put(partition, position);
    }

    /** Record that reading of partitions ended: they were revoked, or are read again. */
    void ended(Collection<TopicPartition> partitions) {
        var rows = new ArrayList<Map<String, Object>>();
        for (var partition : partitions) {
            var position = from.remove(partition);
            if (position == null) {
                continue;
            }
            var row = new LinkedHashMap<String, Object>();
            row.put("reader", reader);
            row.put("session", life + "/" + sessions);
            row.put("isolation", "read_committed");
            row.put("topic", partition.topic());
            row.put("partition", partition.partition());
            row.put("position", position);
            row.put("from_at", since.remove(partition));
            row.put("until_at", Clock.now());
            row.put("clock", Clock.id());
            rows.add(row);
        }
        if (!rows.isEmpty()) {
            sessions++;
            write("assignments", rows);
        }
    }

    private void write(
            String table,
            Map<TopicPartition, OffsetAndMetadata> ends,
            java.util.function.Consumer<Map<String, Object>> more) {
        var rows = new ArrayList<Map<String, Object>>();
        ends.forEach((partition, end) -> {
            var row = new LinkedHashMap<String, Object>();
            row.put("owner", group);
            row.put("topic", partition.topic());
            row.put("partition", partition.partition());
            row.put("offset", end.offset());
            more.accept(row);
            rows.add(row);
        });
        write(table, rows);
    }

    private void write(String table, List<Map<String, Object>> rows) {
        if (history != null) {
            history.write(table, rows);
        }
    }
}
