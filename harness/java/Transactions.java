import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The transactions of one session, for the history's table `txns`.
 *
 * A row is written when a transaction begins, before its commit, and when it has ended. Until then
 * the outcome is `info`.
 */
final class Transactions {
    private final History history;
    private final String session;
    private final String transactionalId;

    Transactions(History history, String session, String transactionalId) {
        this.history = history;
        this.session = session;
        this.transactionalId = transactionalId;
    }

    /** Begin a transaction with a number that is unique in the session. */
    Transaction begin(long number) {
        var row = new LinkedHashMap<String, Object>();
        row.put("txn", session + "/t" + number);
        row.put("session", session);
        row.put("transactional_id", transactionalId);
        row.put("outcome", "info");
        row.put("began_at", Clock.now());
        row.put("clock", Clock.id());
        var begun = new Transaction(row);
        begun.write();
        return begun;
    }

    /** One transaction. */
    final class Transaction {
        private final Map<String, Object> row;

        private Transaction(Map<String, Object> row) {
            this.row = row;
        }

        String id() {
            return (String) row.get("txn");
        }

        /** Record that commit is about to be called. */
        void commitCalled() {
            row.put("commit_called_at", Clock.now());
            write();
        }

        /** Record its end: `committed`, `aborted`, or `info` if the outcome is unknown. */
        void ended(String outcome, Exception why) {
            row.put("outcome", outcome);
            row.put("ended_at", Clock.now());
            if (why != null) {
                row.put("error", Clients.words(why));
            }
            write();
        }

        private void write() {
            history.write("txns", row);
        }
    }
}
