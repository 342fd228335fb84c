import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;

/**
 * A producer without transactions, as `harness/workload/task_file.py` describes it: `Sender FILE`.
 *
 * The one thing to know: whether it is idempotent, and whether the application sends again by itself
 * what ended with an error, is for the task to say. The client's own retries are always on.
 */
final class Sender {
    private final Orders orders = new Orders();
    private final Status status = new Status();
    private final Attempts attempts;
    private final Iterator<TaskRecord> records;
    private final Queue<TaskRecord> again = new ArrayDeque<>();
    private final boolean resends;

    private Sender(JsonNode task) throws Exception {
        var name = task.get("name").asText();
        attempts = new Attempts(
                new History(task.get("history").asText(), name),
                name + "/" + Long.toHexString(Clock.now()),
                Clients.producer(Clients.settings(task)));
        records = TaskRecord.read(task.get("records").asText());
        resends = task.get("resends").asBoolean();
    }

    public static void main(String[] arguments) throws Exception {
        var task = new ObjectMapper().readTree(Path.of(arguments[0]).toFile());
        new Sender(task).run();
        // Every record has its outcome: the client's own threads have nothing left to do.
        Runtime.getRuntime().halt(0);
    }

    /** Send every record, at the pace that is ordered; wait for every outcome. */
    private void run() throws Exception {
        while (!orders.enough() && !over()) {
            var block = next(orders.allowed(1));
            if (block.isEmpty()) {
                Thread.sleep(5);
            } else {
                orders.take(block.size());
                attempts.send(block, null);
            }
            look();
        }
        while (attempts.open() > 0) {
            Thread.sleep(5);
            look();
        }
        status.notOk += again.size();
        status.tell(true);
    }

    private boolean over() {
        return !records.hasNext() && again.isEmpty() && (!resends || attempts.open() == 0);
    }

    /** What is sent next: first what has to be sent again. */
    private List<TaskRecord> next(int most) {
        var block = new ArrayList<TaskRecord>();
        while (block.size() < most && !again.isEmpty()) {
            block.add(again.remove());
        }
        while (block.size() < most && records.hasNext()) {
            block.add(records.next());
            status.called++;
        }
        return block;
    }

    /** Take what came of calls, and tell how far we are. */
    private void look() {
        if (!status.due()) {
            return;
        }
        for (var outcome : attempts.take()) {
            if (outcome.ok()) {
                status.ok++;
            } else if (resends) {
                again.add(outcome.record());
            } else {
                status.notOk++;
            }
        }
        status.tell(false);
    }
}
