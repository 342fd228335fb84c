import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The transactions of one session, as the table `txns` has them.
 *
 * A row is written when its transaction begins and again whenever something
 * is about to happen or has happened to it. Until it has ended nobody knows what becomes of it.
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

    /** A transaction begins; its number is unique in the session. */
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

        /** Commit is about to be called. */
        void commitCalled() {
            row.put("commit_called_at", Clock.now());
            write();
        }

        /** It is over: `committed`, `aborted`, or `info`, if nobody knows. */
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
