import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Consume, transform, produce, as `harness/cost/transform.py` describes it: `Transform TASK`. */
final class Transform {
    private static final Duration WAIT = Duration.ofMillis(10);

    private final String source;
    private final String sink;
    private final boolean exactlyOnce;
    private final long commitEvery;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    private long opened;

    private Transform(JsonNode task) {
        source = task.get("source").asText();
        sink = task.get("sink").asText();
        exactlyOnce = task.get("exactly_once").asBoolean();
        commitEvery = (long) (task.get("commit_every").asDouble() * 1e9);
        var bootstrap = task.get("bootstrap").asText();
        var group = task.get("group").asText();
        var writing = new HashMap<String, Object>(Map.of(
                "bootstrap.servers", bootstrap,
                "linger.ms", task.get("linger").asInt()));
        if (exactlyOnce) {
            writing.put("transactional.id", group);
        }
        producer = new KafkaProducer<>(
                writing, new ByteArraySerializer(), new ByteArraySerializer());
        if (exactlyOnce) {
            producer.initTransactions();
        }
        consumer = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers", bootstrap,
                        "group.id", group,
                        "isolation.level", "read_committed",
                        "auto.offset.reset", "earliest",
                        "enable.auto.commit", false,
                        "fetch.max.wait.ms", 10),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }

    public static void main(String[] arguments) throws Exception {
        var transform = new Transform(new ObjectMapper().readTree(arguments[0]));
        transform.consumer.subscribe(List.of(transform.source));
        var ready = false;
        while (true) {
            transform.step();
            if (!ready && !transform.consumer.assignment().isEmpty()) {
                ready = true;
                System.out.println("{\"ready\": true}");
            }
        }
    }

    private void step() {
        for (var record : consumer.poll(WAIT)) {
            if (offsets.isEmpty()) {
                opened = System.nanoTime();
                if (exactlyOnce) {
                    producer.beginTransaction();
                }
            }
            producer.send(new ProducerRecord<>(sink, record.value()));
            offsets.put(
                    new TopicPartition(record.topic(), record.partition()),
                    new OffsetAndMetadata(record.offset() + 1));
        }
        if (!offsets.isEmpty() && System.nanoTime() >= opened + commitEvery) {
            commit();
        }
    }

    private void commit() {
        if (exactlyOnce) {
            producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
            producer.commitTransaction();
        } else {
            producer.flush();
            consumer.commitSync(offsets);
        }
        offsets.clear();
    }
}
