import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.activemq.artemis.api.core.Message;

/**
 * Forwards payments with their fee from one queue to another: `Forwarder TASK`.
 *
 * Forwarders differ in when they acknowledge a message. As JMS requires, they connect again after
 * any error, and the broker redelivers unacknowledged messages.
 */
final class Forwarder {
    private static final int WAIT_MS = 200;

    /** When a message is acknowledged. */
    private enum Acknowledge {
        /** In one transaction with its effect. */
        TRANSACTED(Session.SESSION_TRANSACTED),
        /** As soon as it is delivered. */
        AUTO(Session.AUTO_ACKNOWLEDGE),
        /** By the application, after its effect. */
        CLIENT(Session.CLIENT_ACKNOWLEDGE);

        private final int mode;

        Acknowledge(int mode) {
            this.mode = mode;
        }
    }

    private final String name;
    private final String broker;
    private final String source;
    private final String sink;
    private final Acknowledge acknowledge;
    private final boolean identified;
    private final int most;
    private final Moments moments;
    private final History history;
    private Session session;
    private MessageConsumer consumer;
    private MessageProducer producer;

    private Forwarder(JsonNode task) throws Exception {
        name = task.get("name").asText();
        broker = task.get("broker").asText();
        source = task.get("source").asText();
        sink = task.get("sink").asText();
        acknowledge = Acknowledge.valueOf(task.get("acknowledge").asText().toUpperCase());
        identified = task.get("duplicate_ids").asBoolean();
        most = acknowledge == Acknowledge.TRANSACTED ? task.get("batch").asInt() : 1;
        moments = new Moments(Path.of(task.get("work").asText()), name);
        history = new History(task.get("history").asText(), name);
    }

    public static void main(String[] arguments) throws Exception {
        new Forwarder(new ObjectMapper().readTree(Path.of(arguments[0]).toFile())).run();
    }

    /** Forward until the process ends. */
    private void run() throws Exception {
        while (true) {
            Connection connection = null;
            try {
                connection = Jms.connect(broker, name);
                session = connection.createSession(acknowledge.mode);
                consumer = session.createConsumer(session.createQueue(source));
                producer = session.createProducer(session.createTopic(sink));
                producer.setDeliveryMode(DeliveryMode.PERSISTENT);
                while (true) {
                    var taken = take();
                    if (!taken.isEmpty()) {
                        forward(taken);
                    }
                }
            } catch (JMSException error) {
                System.err.println("retrying: " + Jms.words(error));
            } finally {
                Jms.close(connection);
            }
        }
    }

    private List<TextMessage> take() throws JMSException {
        var taken = new ArrayList<TextMessage>();
        var next = consumer.receive(WAIT_MS);
        while (next != null) {
            taken.add((TextMessage) next);
            next = taken.size() < most ? consumer.receiveNoWait() : null;
        }
        return taken;
    }

    private void forward(List<TextMessage> taken) throws JMSException {
        tell("delivered", taken);
        var first = taken.get(0).getStringProperty(QueueNames.RECORD);
        moments.reached("before-write", first);
        for (var message : taken) {
            producer.send(effect(message));
        }
        tell("written", taken);
        moments.reached("before-commit", first);
        switch (acknowledge) {
            case TRANSACTED -> session.commit();
            case CLIENT -> taken.get(taken.size() - 1).acknowledge();
            case AUTO -> {}
        }
        moments.reached("after-commit", first);
    }

    private TextMessage effect(TextMessage message) throws JMSException {
        var record = message.getStringProperty(QueueNames.RECORD);
        var effect = session.createTextMessage(
                new String(Effect.of(message.getText().getBytes(UTF_8)), UTF_8));
        effect.setStringProperty(QueueNames.RECORD, record);
        effect.setStringProperty(QueueNames.KEY, message.getStringProperty(QueueNames.KEY));
        if (identified) {
            // The message's id, not the record's: a record that was sent twice has two effects.
            var id = message.getJMSMessageID();
            effect.setStringProperty(Message.HDR_DUPLICATE_DETECTION_ID.toString(), id);
        }
        return effect;
    }

    /** Record messages that were delivered, or whose effect is known to be at the broker. */
    private void tell(String kind, List<TextMessage> taken) throws JMSException {
        var rows = new ArrayList<Map<String, Object>>();
        for (var message : taken) {
            var row = new LinkedHashMap<String, Object>();
            row.put("record", message.getStringProperty(QueueNames.RECORD));
            row.put("by", name);
            row.put("at", Clock.now());
            rows.add(row);
        }
        history.write(kind, rows);
    }
}
