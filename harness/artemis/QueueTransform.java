import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;

/**
 * Forwards the messages of a queue to another one: `QueueTransform TASK`.
 *
 * TASK has `broker`, `name`, `source`, `sink`, `transacted` and `commit_every` (seconds). Each send
 * waits for the broker, unless it is part of a transaction. In a transaction, messages are
 * acknowledged with what was sent for them; otherwise as soon as they are delivered.
 */
final class QueueTransform {
    private static final long WAIT_MS = 10;

    private final boolean transacted;
    private final long commitEvery;
    private final Session session;
    private final MessageConsumer consumer;
    private final MessageProducer producer;
    private boolean open;
    private long opened;

    private QueueTransform(JsonNode task) throws JMSException {
        transacted = task.get("transacted").asBoolean();
        commitEvery = (long) (task.get("commit_every").asDouble() * 1e9);
        var connection = Jms.connect(task.get("broker").asText(), task.get("name").asText());
        session = connection.createSession(
                transacted ? Session.SESSION_TRANSACTED : Session.AUTO_ACKNOWLEDGE);
        consumer = session.createConsumer(session.createQueue(task.get("source").asText()));
        producer = session.createProducer(session.createQueue(task.get("sink").asText()));
        producer.setDeliveryMode(DeliveryMode.PERSISTENT);
    }

    public static void main(String[] arguments) throws Exception {
        var transform = new QueueTransform(new ObjectMapper().readTree(arguments[0]));
        System.out.println("{\"ready\": true}");
        while (true) {
            transform.step();
        }
    }

    private void step() throws JMSException {
        var message = consumer.receive(WAIT_MS);
        if (message != null) {
            if (!open) {
                open = true;
                opened = System.nanoTime();
            }
            var result = session.createBytesMessage();
            result.writeBytes(message.getBody(byte[].class));
            producer.send(result);
        }
        if (transacted && open && System.nanoTime() >= opened + commitEvery) {
            session.commit();
            open = false;
        }
    }
}
