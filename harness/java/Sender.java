import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;

/**
 * A sender without transactions, as `harness/workload/task_file.py` describes it: `Sender TASK`.
 *
 * The task sets whether the client is idempotent; its retries are always on. With `resend_seconds`
 * the application sends records again that timed out in the client, which may duplicate them.
 */
final class Sender {
    private final Orders orders = new Orders();
    private final Status status = new Status();
    private final Attempts attempts;
    private final TaskRecord.Reader records;
    private final boolean resends;

    private Sender(JsonNode task) throws Exception {
        var name = task.get("name").asText();
        attempts = new Attempts(
                new History(task.get("history").asText(), name),
                name + "/" + Long.toHexString(Clock.now()),
                Clients.producer(Clients.settings(task)),
                status);
        records = new TaskRecord.Reader(task.get("records").asText());
        resends = !task.get("resend_seconds").isNull();
    }

    public static void main(String[] arguments) throws Exception {
        var task = new ObjectMapper().readTree(Path.of(arguments[0]).toFile());
        new Sender(task).run();
        // Every record has its outcome, so the client's threads have nothing left to do.
        Runtime.getRuntime().halt(0);
    }

    /** Send every record at the ordered rate, and wait for every outcome. */
    private void run() throws Exception {
        while (!orders.enough() && !records.over()) {
            var block = records.take(orders.allowed());
            if (block.isEmpty()) {
                Thread.sleep(5);
            } else {
                orders.took(block.size());
                attempts.send(block);
            }
            look();
        }
        while (attempts.open() > 0) {
            Thread.sleep(5);
            look();
        }
        status.tell(true);
    }

    /** Record new outcomes and report progress. */
    private void look() {
        if (status.due()) {
            attempts.sendAgain(attempts.settle(resends));
            status.tell(false);
        }
    }
}
