import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The send calls of one session and their outcomes, for the history.
 *
 * A call is on disk before the client gets its record. The sender decides the outcome, which this
 * class writes and counts.
 */
final class Calls {
    private final History history;
    private final String session;
    private final Status status;
    private long open;

    Calls(History history, String session, Status status) {
        this.history = history;
        this.session = session;
        this.status = status;
    }

    /** Number of calls without an outcome. */
    long open() {
        return open;
    }

    /** The identity of the attempt to send a record. */
    String attempt(TaskRecord record) {
        return session + "/" + record.ordinal();
    }

    /** Record that records are about to be sent, without a transaction if `txn` is null. */
    void called(List<TaskRecord> records, String txn) {
        var at = Clock.now();
        history.write("called", records.stream().map(record -> {
            var row = new LinkedHashMap<String, Object>();
            row.put("attempt", attempt(record));
            row.put("record", record.record());
            row.put("key", record.key());
            row.put("digest", record.digest());
            row.put("ordinal", record.ordinal());
            row.put("session", session);
            row.put("topic", record.topic());
            row.put("called_at", at);
            row.put("clock", Clock.id());
            if (txn != null) {
                row.put("txn", txn);
            }
            return row;
        }).toList());
        status.called += records.size();
        open += records.size();
    }

    /** The row of a successful send; the offset is null if it is unknown. */
    Map<String, Object> happened(TaskRecord record, long at, int partition, Long offset) {
        var row = returned(record, at, "ok");
        row.put("partition", partition);
        row.put("offset", offset);
        return row;
    }

    /** The row of a failed send; `info` unless it is `certain` that it had no effect. */
    Map<String, Object> failed(TaskRecord record, long at, String why, boolean certain) {
        var row = returned(record, at, certain ? "fail" : "info");
        row.put("error", why);
        return row;
    }

    /** Write the outcomes of calls to the history. */
    void returned(List<Map<String, Object>> rows) {
        if (rows.isEmpty()) {
            return;
        }
        history.write("returned", rows);
        open -= rows.size();
        for (var row : rows) {
            if (row.get("outcome").equals("ok")) {
                status.ok++;
            } else {
                status.notOk++;
            }
        }
    }

    private Map<String, Object> returned(TaskRecord record, long at, String outcome) {
        var row = new LinkedHashMap<String, Object>();
        row.put("attempt", attempt(record));
        row.put("returned_at", at);
        row.put("outcome", outcome);
        return row;
    }
}
