import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.QueueConnection;
import jakarta.jms.QueueRequestor;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.activemq.artemis.api.core.management.ResourceNames;
import org.apache.activemq.artemis.api.jms.management.JMSManagementHelper;
import org.apache.activemq.artemis.jms.client.ActiveMQDestination;

/**
 * Browses queues without consuming: `QueueAuditor HOST:PORT`.
 *
 * Each line of standard input is a question: `log ADDRESS QUEUE` (every message in it),
 * `counts QUEUE` (how many there are, and how many are being delivered) or `delivering QUEUE` (the
 * records of the latter). Explorations also have `create ADDRESS QUEUE`, `send ADDRESS MESSAGES` (a
 * JSON list, sent in one transaction) and `disconnect ADDRESS` (close the connections of its
 * consumers). The answer is JSON Lines; the last one has `end` or `error`.
 *
 * Each question has its own connection, so that the broker may restart in between.
 */
final class QueueAuditor {
    /** ASCII only, so that standard output does not depend on the locale. */
    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
    private static final Queue MANAGEMENT =
            (Queue) ActiveMQDestination.fromPrefixedName("queue://activemq.management");

    private QueueAuditor() {}

    public static void main(String[] arguments) throws IOException {
        var questions = new BufferedReader(new InputStreamReader(System.in));
        for (var asked = questions.readLine(); asked != null; asked = questions.readLine()) {
            Connection connection = null;
            try {
                connection = Jms.connectAtOnce(arguments[0], "auditor");
                answer(connection, asked.strip().split(" ", 3));
            } catch (Exception error) {
                say(Map.of("error", Jms.words(error)));
            } finally {
                Jms.close(connection);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static void answer(Connection connection, String[] asked) throws Exception {
        switch (asked[0]) {
            case "log" -> log(connection, asked[1], asked[2]);
            case "counts" -> counts((QueueConnection) connection, asked[1]);
            case "delivering" -> delivering((QueueConnection) connection, asked[1]);
            case "create" -> {
                var durable = true;
                var deleted = false;
                manage((QueueConnection) connection, "createQueue",
                        asked[1], "MULTICAST", asked[2], "", durable, -1, deleted, true);
            }
            case "send" -> send(connection, asked[1], asked[2]);
            case "disconnect" -> manage((QueueConnection) connection,
                    "closeConsumerConnectionsForAddress", asked[1]);
            default -> throw new IllegalArgumentException("unknown question: " + asked[0]);
        }
    }

    private static void log(Connection connection, String address, String queue)
            throws JMSException {
        var session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        var browser = session.createBrowser(session.createQueue(address + "::" + queue));
        var count = 0L;
        for (var all = browser.getEnumeration(); all.hasMoreElements(); count++) {
            say(row((Message) all.nextElement()));
        }
        say(Map.of("end", count));
    }

    private static Map<String, Object> row(Message message) throws JMSException {
        var row = new LinkedHashMap<String, Object>();
        row.put("value", body(message));
        row.put("properties", properties(message));
        return row;
    }

    /**
     * The text of a message; null for other bodies. Bytes are decoded as UTF-8, as AMQP clients
     * send them, or else as one character per byte.
     */
    private static String body(Message message) throws JMSException {
        if (message instanceof TextMessage text) {
            return text.getText();
        }
        if (message instanceof BytesMessage bytes) {
            var read = new byte[(int) bytes.getBodyLength()];
            bytes.readBytes(read);
            try {
                return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(read)).toString();
            } catch (CharacterCodingException notText) {
                return new String(read, StandardCharsets.ISO_8859_1);
            }
        }
        return null;
    }

    private static Map<String, String> properties(Message message) throws JMSException {
        var found = new LinkedHashMap<String, String>();
        if (message.getJMSCorrelationID() != null) {
            found.put("JMSCorrelationID", message.getJMSCorrelationID());
        }
        for (var name : Collections.list(message.getPropertyNames())) {
            var value = message.getObjectProperty((String) name);
            if (value != null) {
                found.put((String) name, value.toString());
            }
        }
        return found;
    }

    private static void counts(QueueConnection connection, String queue) throws Exception {
        var session = connection.createQueueSession(false, Session.AUTO_ACKNOWLEDGE);
        var asking = new QueueRequestor(session, MANAGEMENT);
        var found = new LinkedHashMap<String, Object>();
        for (var attribute : new String[] {"messageCount", "deliveringCount", "consumerCount"}) {
            var question = session.createMessage();
            JMSManagementHelper.putAttribute(question, ResourceNames.QUEUE + queue, attribute);
            found.put(attribute, result(asking.request(question), attribute, queue));
        }
        say(found);
        say(Map.of("end", 1));
    }

    private static void delivering(QueueConnection connection, String queue) throws Exception {
        var session = connection.createQueueSession(false, Session.AUTO_ACKNOWLEDGE);
        var asking = new QueueRequestor(session, MANAGEMENT);
        var operation = "listDeliveringMessagesAsJSON";
        var question = session.createMessage();
        JMSManagementHelper.putOperationInvocation(
                question, ResourceNames.QUEUE + queue, operation);
        var told = (String) result(asking.request(question), operation, queue);
        var count = 0L;
        for (var consumer : JSON.readTree(told)) {
            for (var message : consumer.get("elements")) {
                if (message.has(QueueNames.RECORD)) {
                    say(Map.of("record", message.get(QueueNames.RECORD).asText()));
                    count++;
                }
            }
        }
        say(Map.of("end", count));
    }

    private static void manage(QueueConnection connection, String operation, Object... with)
            throws Exception {
        var session = connection.createQueueSession(false, Session.AUTO_ACKNOWLEDGE);
        var question = session.createMessage();
        JMSManagementHelper.putOperationInvocation(
                question, ResourceNames.BROKER, operation, with);
        var reply = new QueueRequestor(session, MANAGEMENT).request(question);
        say(Map.of("result", String.valueOf(result(reply, operation, "the broker"))));
        say(Map.of("end", 1));
    }

    private static void send(Connection connection, String address, String messages)
            throws JMSException, JsonProcessingException {
        var session = connection.createSession(true, Session.SESSION_TRANSACTED);
        var producer = session.createProducer(session.createTopic(address));
        producer.setDeliveryMode(DeliveryMode.PERSISTENT);
        for (var each : JSON.readTree(messages)) {
            var message = session.createTextMessage(each.get("value").asText());
            message.setStringProperty(QueueNames.RECORD, each.get("record").asText());
            message.setStringProperty(QueueNames.KEY, each.get("key").asText());
            producer.send(message);
        }
        session.commit();
        say(Map.of("end", 1));
    }

    private static Object result(Message reply, String what, String queue) throws Exception {
        if (!JMSManagementHelper.hasOperationSucceeded(reply)) {
            throw new JMSException("the broker did not return the " + what + " of " + queue);
        }
        return JMSManagementHelper.getResult(reply);
    }

    private static void say(Map<String, ?> row) {
        try {
            System.out.println(JSON.writeValueAsString(row));
        } catch (JsonProcessingException wrong) {
            throw new IllegalStateException(wrong);
        }
    }
}
