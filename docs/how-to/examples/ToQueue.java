import jakarta.jms.JMSException;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Sends every order of a topic to a queue: {@code ToQueue BOOTSTRAP TOPIC HOST:PORT}. */
class ToQueue {
    public static void main(String[] words) throws JMSException {
        var settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        settings.put("group.id", "to-queue");
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("session.timeout.ms", "10000");
        var text = new StringDeserializer();
        try (var consumer = new KafkaConsumer<String, String>(settings, text, text);
                var factory = new ActiveMQConnectionFactory("tcp://" + words[2]);
                var connection = factory.createConnection();
                var session = connection.createSession()) {
            consumer.subscribe(List.of(words[1]));
            var shipments = session.createProducer(session.createQueue("shipments"));
            while (true) {
                var orders = consumer.poll(Duration.ofMillis(200));
                for (var order : orders) {
                    var shipment = session.createTextMessage(order.value());
                    shipments.send(shipment);
                }
                if (!orders.isEmpty()) {
                    consumer.commitSync();
                }
            }
        }
    }
}
