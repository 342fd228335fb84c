import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The calls of one session to send records, and their outcomes, as the history has them.
 *
 * A call is on disk before the client gets its record. Whoever sends decides
 * what an outcome is; here it is only written down and counted.
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

    /** Calls that have no outcome yet. */
    long open() {
        return open;
    }

    /** What the attempt to send a record is called. */
    String attempt(TaskRecord record) {
        return session + "/" + record.ordinal();
    }

    /** Records are about to be sent, in a transaction or, where that is null, in none. */
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

    /** The row of a send that happened; the offset is null where nobody tells it. */
    Map<String, Object> happened(TaskRecord record, long at, int partition, Long offset) {
        var row = returned(record, at, "ok");
        row.put("partition", partition);
        row.put("offset", offset);
        return row;
    }

    /** The row of a send that failed; not `certain`: nobody knows. */
    Map<String, Object> failed(TaskRecord record, long at, String why, boolean certain) {
        var row = returned(record, at, certain ? "fail" : "info");
        row.put("error", why);
        return row;
    }

    /** Write down what came of some calls. */
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
