import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A bare producer that is timed, as `harness/cost/load.py` describes it: `Load TASK`. */
final class Load implements Pace.Target {
    private final KafkaProducer<byte[], byte[]> producer;
    private final String topic;
    private final boolean transactional;

    private Load(JsonNode task) {
        topic = task.get("topic").asText();
        transactional = Pace.transactional(task);
        var settings = new HashMap<String, Object>();
        task.get("client").properties().forEach(
                setting -> settings.put(setting.getKey(), setting.getValue().asText()));
        producer = new KafkaProducer<>(
                settings, new ByteArraySerializer(), new ByteArraySerializer());
        if (transactional) {
            producer.initTransactions();
        }
    }

    public static void main(String[] arguments) throws Exception {
        var task = new ObjectMapper().readTree(arguments[0]);
        Pace.answer(task, new Load(task));
    }

    @Override
    public void send(byte[] value) {
        producer.send(new ProducerRecord<>(topic, value));
    }

    @Override
    public void flush() {
        producer.flush();
    }

    @Override
    public void begin() {
        if (transactional) {
            producer.beginTransaction();
        }
    }

    @Override
    public void commit() {
        if (transactional) {
            producer.commitTransaction();
        }
    }
}
