import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * A transactional sender, as `harness/workload/task_file.py` describes it: `Transactor TASK`.
 *
 * Errors are handled as Kafka's documentation says: a call that timed out is repeated, since no
 * other call is permitted then; a failed transaction is aborted; a client that cannot abort is
 * fenced or has another fatal error, and is replaced.
 */
final class Transactor {
    private final Orders orders = new Orders();
    private final Status status = new Status();
    private final JsonNode task;
    private final History history;
    private final TaskRecord.Reader records;
    private KafkaProducer<byte[], byte[]> producer;
    private Attempts attempts;
    private Transactions transactions;

    private Transactor(JsonNode task) throws Exception {
        this.task = task;
        history = new History(task.get("history").asText(), task.get("name").asText());
        records = new TaskRecord.Reader(task.get("records").asText());
    }

    public static void main(String[] arguments) throws Exception {
        var task = new ObjectMapper().readTree(Path.of(arguments[0]).toFile());
        new Transactor(task).run();
        // Every transaction has ended, so the client's threads have nothing left to do.
        Runtime.getRuntime().halt(0);
    }

    /** Send every transaction at the ordered rate. */
    private void run() throws Exception {
        newClient();
        while (!orders.enough() && !records.over()) {
            look();
            if (orders.allowed() < 1) {
                Thread.sleep(5);
                continue;
            }
            var next = records.takeTransaction();
            orders.took(next.size());
            try {
                send(next);
            } catch (KafkaException fatal) {
                System.err.println("replacing the client: " + Clients.words(fatal));
                newClient();
            }
        }
        retire();
        status.tell(true);
    }

    /** Start a new session; `initTransactions` ends any open transaction of the id. */
    private void newClient() {
        while (true) {
            retire();
            var session = task.get("name").asText() + "/" + Long.toHexString(Clock.now());
            producer = Clients.producer(Clients.settings(task));
            attempts = new Attempts(history, session, producer, status);
            transactions =
                    new Transactions(history, session, task.get("transactional_id").asText());
            try {
                call(producer::initTransactions);
                return;
            } catch (KafkaException error) {
                System.err.println("initTransactions failed: " + Clients.words(error));
            }
        }
    }

    /** Close the client; every call without an outcome gets one. */
    private void retire() {
        if (producer != null) {
            producer.close(Duration.ZERO);
            attempts.settle();
        }
    }

    /**
     * Send a transaction and commit it, or abort it if its task says so.
     *
     * @throws KafkaException the outcome is unknown and the client unusable
     */
    private void send(List<TaskRecord> group) {
        var txn = transactions.begin(group.get(0).transaction());
        try {
            producer.beginTransaction();
            attempts.send(group, txn.id());
            // Also before an abort: records that were never sent would test nothing.
            producer.flush();
            if (!group.get(0).abort()) {
                txn.commitCalled();
                call(producer::commitTransaction);
                txn.ended("committed", null);
                return;
            }
        } catch (KafkaException error) {
            abort(txn, error);
            return;
        }
        abort(txn, null);
    }

    private void abort(Transactions.Transaction txn, KafkaException why) {
        try {
            call(producer::abortTransaction);
        } catch (KafkaException fatal) {
            txn.ended("info", fatal);
            throw fatal;
        }
        txn.ended("aborted", why);
    }

    /** Make a call, and repeat it after timeouts. */
    private void call(Runnable call) {
        while (true) {
            try {
                call.run();
                return;
            } catch (TimeoutException error) {
                look();
            }
        }
    }

    /** Record new outcomes and report progress. */
    private void look() {
        if (status.due()) {
            attempts.settle();
            status.tell(false);
        }
    }
}
