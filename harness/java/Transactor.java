import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * A producer in transactions, as `harness/workload/task_file.py` describes it: `Transactor FILE`.
 *
 * The one thing to know: recovery is what Kafka's documentation prescribes. A call that timed out is
 * made again, since only that call may follow; a transaction that failed is aborted and tried again
 * as a new one; and whoever cannot abort either is fenced, or otherwise at its end, and says so.
 */
final class Transactor {
    private final Orders orders = new Orders();
    private final Status status = new Status();
    private final Transactions transactions;
    private final Attempts attempts;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Iterator<TaskRecord> records;
    private TaskRecord ahead;

    private Transactor(JsonNode task) throws Exception {
        var name = task.get("name").asText();
        var session = name + "/" + Long.toHexString(Clock.now());
        var history = new History(task.get("history").asText(), name);
        producer = Clients.producer(Clients.settings(task));
        transactions = new Transactions(history, session, task.get("transactional_id").asText());
        attempts = new Attempts(history, session, producer);
        records = TaskRecord.read(task.get("records").asText());
    }

    public static void main(String[] arguments) throws Exception {
        var task = new ObjectMapper().readTree(Path.of(arguments[0]).toFile());
        new Transactor(task).run();
        // Nothing is open: the client's own threads have nothing left to do.
        Runtime.getRuntime().halt(0);
    }

    private void run() throws Exception {
        try {
            call(producer::initTransactions);
            for (var next = group(); !next.isEmpty() && paced(next.size()); next = group()) {
                status.called += next.size();
                var came = tried(next);
                status.ok += came ? next.size() : 0;
                status.notOk += came ? 0 : next.size();
            }
        } catch (KafkaException fatal) {
            status.error = Clients.words(fatal);
            status.notOk = status.called - status.ok;
        }
        // Whatever has no outcome yet gets one.
        producer.close(Duration.ofSeconds(5));
        attempts.take();
        status.tell(true);
    }

    /** Wait until so many records may be sent; false if none are to be sent any more. */
    private boolean paced(int size) throws InterruptedException {
        while (!orders.enough() && orders.allowed(size) < size) {
            look();
            Thread.sleep(5);
        }
        orders.take(size);
        return !orders.enough();
    }

    /** Try a transaction until it comes to what was intended; false if it was not to be. */
    private boolean tried(List<TaskRecord> group) {
        while (!once(group)) {
            look();
            if (orders.enough()) {
                return false;
            }
        }
        look();
        return true;
    }

    /** Try a transaction; false if it was aborted against intention. */
    private boolean once(List<TaskRecord> group) {
        var first = group.get(0);
        var txn = transactions.begin(first.transaction(), first.intended());
        var intendsAbort = first.intended().equals("abort");
        try {
            producer.beginTransaction();
            attempts.send(group, txn.id());
            if (!intendsAbort) {
                txn.commitCalled();
                call(producer::commitTransaction);
                txn.ended("committed", null);
                status.committed++;
                return true;
            }
            // Not into the log's way only: what is aborted unsent would show nobody anything.
            producer.flush();
            abort(txn, null);
        } catch (KafkaException error) {
            abort(txn, error);
        }
        return intendsAbort;
    }

    /** Abort; throws what is fatal, and leaves the transaction in doubt then. */
    private void abort(Transactions.Transaction txn, KafkaException why) {
        txn.abortCalled(why);
        try {
            call(producer::abortTransaction);
        } catch (KafkaException fatal) {
            txn.doubtful(fatal);
            throw fatal;
        }
        txn.ended("aborted", why);
        status.aborted++;
    }

    /** Make a call, and again as long as all that is wrong with it is time. */
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

    /** Take what came of calls, and tell how far we are. */
    private void look() {
        if (status.due()) {
            attempts.take();
            status.tell(false);
        }
    }

    /** The records of the next transaction; empty at the end. */
    private List<TaskRecord> group() {
        var group = new ArrayList<TaskRecord>();
        if (ahead != null) {
            group.add(ahead);
            ahead = null;
        }
        while (records.hasNext()) {
            var record = records.next();
            if (!group.isEmpty() && !group.get(0).transaction().equals(record.transaction())) {
                ahead = record;
                break;
            }
            group.add(record);
        }
        return group;
    }
}
