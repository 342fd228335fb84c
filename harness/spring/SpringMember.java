import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.util.backoff.FixedBackOff;

/**
 * A listener container of Spring for Apache Kafka that reads payments and writes them with their fee
 * to another topic, effects and offsets in one transaction of the container: `SpringMember TASK`.
 *
 * The settings are Spring's defaults, but for time-outs, the number of attempts after a rollback, and
 * `stopContainerWhenFenced`. When the container stops, the process exits, and its supervisor starts
 * it again. Broken twins leave out one of these.
 */
final class SpringMember {
    private static final Map<String, Object> CONSUMER = Map.of(
            "isolation.level", "read_committed",
            "auto.offset.reset", "earliest",
            "session.timeout.ms", 6000,
            "heartbeat.interval.ms", 1000,
            "request.timeout.ms", 3000,
            "default.api.timeout.ms", 10000);
    private static final Map<String, Object> PRODUCER = Map.of(
            "linger.ms", 5,
            "request.timeout.ms", 1500,
            "max.block.ms", 40000);

    private SpringMember() {}

    public static void main(String[] arguments) throws Exception {
        var task = new ObjectMapper().readTree(Path.of(arguments[0]).toFile());
        var container = container(task);
        container.start();
        while (container.isRunning()) {
            Thread.sleep(100);
        }
        System.err.println("ended: the container has stopped");
        Runtime.getRuntime().halt(1);
    }

    private static KafkaMessageListenerContainer<byte[], byte[]> container(JsonNode task) {
        var reading = common(task, CONSUMER);
        reading.put("max.poll.records", task.get("batch").asInt());
        var bytes = new ByteArrayDeserializer();
        var producers = producers(task);
        var template = new KafkaTemplate<>(producers);
        var sink = task.get("sink").asText();
        var properties = new ContainerProperties(task.get("topic").asText());
        properties.setGroupId(task.get("group").asText());
        properties.setPollTimeout(200);
        properties.setKafkaAwareTransactionManager(new KafkaTransactionManager<>(producers));
        properties.setStopContainerWhenFenced(task.get("fenced").asText().equals("stops"));
        if (task.get("listener").asText().equals("batch")) {
            BatchMessageListener<byte[], byte[]> listener =
                    records -> records.forEach(record -> template.send(effect(record, sink)));
            properties.setMessageListener(listener);
        } else {
            MessageListener<byte[], byte[]> listener =
                    record -> template.send(effect(record, sink));
            properties.setMessageListener(listener);
        }
        var container = new KafkaMessageListenerContainer<>(
                new DefaultKafkaConsumerFactory<>(reading, bytes, bytes), properties);
        if (!task.get("rewind").asBoolean()) {
            container.setAfterRollbackProcessor(
                    (records, consumer, of, error, recoverable, mode) -> {});
        } else if (!task.get("attempts").asText().equals("ten")) {
            container.setAfterRollbackProcessor(new DefaultAfterRollbackProcessor<>(
                    new FixedBackOff(0, FixedBackOff.UNLIMITED_ATTEMPTS)));
        }
        return container;
    }

    /** Producers whose client id is the member's name, so that faults find them. */
    private static DefaultKafkaProducerFactory<byte[], byte[]> producers(JsonNode task) {
        var name = task.get("name").asText();
        var bytes = new ByteArraySerializer();
        var writing = common(task, PRODUCER);
        writing.put("transaction.timeout.ms", task.get("transaction_seconds").asInt() * 1000);
        var found = new DefaultKafkaProducerFactory<byte[], byte[]>(writing, bytes, bytes) {
            @Override
            protected Producer<byte[], byte[]> createRawProducer(Map<String, Object> settings) {
                var named = new HashMap<>(settings);
                named.put("client.id", name);
                return super.createRawProducer(named);
            }
        };
        found.setTransactionIdPrefix(task.get("group").asText() + "-" + name + "-");
        return found;
    }

    private static Map<String, Object> common(JsonNode task, Map<String, Object> own) {
        var settings = new HashMap<>(own);
        settings.putAll(Map.of("reconnect.backoff.ms", 50, "reconnect.backoff.max.ms", 500));
        settings.putAll(Clients.connection(task));
        settings.put("client.id", task.get("name").asText());
        return settings;
    }

    private static ProducerRecord<byte[], byte[]> effect(
            ConsumerRecord<byte[], byte[]> record, String sink) {
        var effect = new ProducerRecord<>(sink, record.key(), Effect.of(record.value()));
        effect.headers().add(record.headers().lastHeader(Identity.RECORD));
        return effect;
    }
}
