import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The transactions of one session, as the table `txns` has them.
 *
 * The one thing to know: a row is written when its transaction begins and again whenever something
 * is about to happen or has happened to it. Until it has ended nobody knows what becomes of it.
 */
final class Transactions {
    private final History history;
    private final String session;
    private final String transactionalId;
    private long ordinal;

    Transactions(History history, String session, String transactionalId) {
        this.history = history;
        this.session = session;
        this.transactionalId = transactionalId;
    }

    /** A new transaction; `number` and `intended` are as the task has them, or null. */
    Transaction begin(Integer number, String intended) {
        var row = new LinkedHashMap<String, Object>();
        row.put("txn", session + "/t" + ordinal++);
        row.put("session", session);
        row.put("transactional_id", transactionalId);
        row.put("outcome", "info");
        row.put("began_at", Clock.now());
        row.put("clock", Clock.id());
        if (number != null) {
            row.put("transaction", number);
            row.put("intended", intended);
        }
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

        /** Abort is about to be called, on purpose if there is no reason. */
        void abortCalled(Exception why) {
            because(why);
            write();
        }

        /** It is certain how it ended. */
        void ended(String outcome, Exception why) {
            row.put("outcome", outcome);
            row.put("ended_at", Clock.now());
            because(why);
            write();
        }

        /** Nobody knows how it ended, or will. */
        void doubtful(Exception why) {
            because(why);
            write();
        }

        private void because(Exception why) {
            if (why != null) {
                row.put("error", Clients.words(why));
            }
        }

        private void write() {
            history.write("txns", row);
        }
    }
}
