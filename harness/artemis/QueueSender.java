import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.activemq.artemis.api.core.Message;

/**
 * A JMS sender, as `harness/workload/task_file.py` describes it: `QueueSender TASK`.
 *
 * A send that fails may have had an effect. The sender repeats it, with the same attempt identity,
 * until it is acknowledged. With `duplicate_ids` the broker drops messages of records that it has
 * already; without, duplicates are possible.
 */
final class QueueSender {
    private final Orders orders = new Orders();
    private final Status status = new Status();
    private final Calls calls;
    private final TaskRecord.Reader records;
    private final String name;
    private final String broker;
    private final boolean identified;
    private final Map<String, MessageProducer> producers = new HashMap<>();
    private Connection connection;
    private Session session;

    private QueueSender(JsonNode task) throws Exception {
        name = task.get("name").asText();
        broker = task.get("bootstrap").asText();
        identified = task.get("client").path("duplicate_ids").asBoolean(true);
        calls = new Calls(
                new History(task.get("history").asText(), name),
                name + "/" + Long.toHexString(Clock.now()),
                status);
        records = new TaskRecord.Reader(task.get("records").asText());
    }

    public static void main(String[] arguments) throws Exception {
        new QueueSender(new ObjectMapper().readTree(Path.of(arguments[0]).toFile())).run();
        Runtime.getRuntime().halt(0);
    }

    /** Send every record at the ordered rate. */
    private void run() throws Exception {
        while (!orders.enough() && !records.over()) {
            var block = records.take(Math.min(orders.allowed(), 1));
            if (block.isEmpty()) {
                Thread.sleep(2);
            } else {
                orders.took(block.size());
                calls.called(block, null);
                untilTaken(block.get(0));
                calls.returned(List.of(calls.happened(block.get(0), Clock.now(), 0, null)));
            }
            if (status.due()) {
                status.tell(false);
            }
        }
        Jms.close(connection);
        status.tell(true);
    }

    private void untilTaken(TaskRecord record) {
        while (true) {
            try {
                send(record);
                return;
            } catch (JMSException error) {
                System.err.println("resending " + record.record() + ": " + Jms.words(error));
                Jms.close(connection);
                connection = null;
            }
        }
    }

    private void send(TaskRecord record) throws JMSException {
        if (connection == null) {
            connection = Jms.connect(broker, name);
            session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            producers.clear();
        }
        var producer = producers.get(record.topic());
        if (producer == null) {
            producer = session.createProducer(session.createTopic(record.topic()));
            producer.setDeliveryMode(DeliveryMode.PERSISTENT);
            producers.put(record.topic(), producer);
        }
        var message = session.createTextMessage(record.value());
        message.setStringProperty(QueueNames.RECORD, record.record());
        message.setStringProperty(QueueNames.ATTEMPT, calls.attempt(record));
        message.setStringProperty(QueueNames.KEY, record.key());
        if (identified) {
            message.setStringProperty(Message.HDR_DUPLICATE_DETECTION_ID.toString(), record.record());
        }
        producer.send(message);
    }
}
