import jakarta.jms.JMSException;
import java.nio.charset.StandardCharsets;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;

/** Sends to the queue `shipments` by JMS: {@code PutSome HOST:PORT}. */
class PutSome {
    public static void main(String[] words) throws JMSException {
        try (var factory = new ActiveMQConnectionFactory("tcp://" + words[0]);
                var connection = factory.createConnection();
                var session = connection.createSession();
                var transacted = connection.createSession(true, 0)) {
            var queue = session.createQueue("shipments");
            var producer = session.createProducer(queue);
            var text = session.createTextMessage("{\"order_id\": \"o1\"}");
            text.setStringProperty("order", "o1");
            text.setIntProperty("attempt", 3);
            text.setJMSCorrelationID("c1");
            producer.send(text);
            var bytes = session.createBytesMessage();
            bytes.writeBytes("\u00f62".getBytes(StandardCharsets.UTF_8));
            producer.send(bytes);
            producer.setTimeToLive(1);
            for (var n = 0; n < 2; n++) {
                var known = session.createTextMessage("once");
                known.setStringProperty("_AMQ_DUPL_ID", "the same");
                producer.send(known);
            }
            var late = transacted.createProducer(queue);
            late.send(transacted.createTextMessage("given up"));
            transacted.rollback();
            late.send(transacted.createTextMessage("together"));
            transacted.commit();
            try {
                session.createConsumer(queue);
                System.out.println("consumes it");
            } catch (JMSException refused) {
                System.out.println("may not consume it");
            }
        }
    }
}
