import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.jms.CompletionListener;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.concurrent.Semaphore;

/**
 * A bare JMS sender of durable messages, as `harness/cost/load.py` describes it: `QueueLoad TASK`.
 *
 * It sends asynchronously, to be faster than what reads the queue.
 */
final class QueueLoad implements Pace.Target, CompletionListener {
    private static final int IN_FLIGHT = 500;

    private final Semaphore free = new Semaphore(IN_FLIGHT);
    private final Session session;
    private final MessageProducer producer;

    private QueueLoad(JsonNode task) throws JMSException {
        var connection = Jms.connect(task.get("broker").asText(), task.get("name").asText());
        session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
        producer = session.createProducer(session.createQueue(task.get("topic").asText()));
        producer.setDeliveryMode(DeliveryMode.PERSISTENT);
    }

    public static void main(String[] arguments) throws Exception {
        var task = new ObjectMapper().readTree(arguments[0]);
        Pace.answer(task, new QueueLoad(task));
    }

    @Override
    public void send(byte[] value) throws Exception {
        free.acquire();
        var message = session.createBytesMessage();
        message.writeBytes(value);
        producer.send(message, this);
    }

    @Override
    public void flush() throws Exception {
        free.acquire(IN_FLIGHT);
        free.release(IN_FLIGHT);
    }

    @Override
    public void onCompletion(Message message) {
        free.release();
    }

    @Override
    public void onException(Message message, Exception error) {
        System.err.println("a message was not taken: " + Jms.words(error));
        Runtime.getRuntime().halt(1);
    }
}
