import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Copies orders in transactions of a second. */
class Copy {
    private final KafkaConsumer<String, String> consumer;
    private final KafkaProducer<String, String> producer;
    private final Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();

    Copy(KafkaConsumer<String, String> consumer, KafkaProducer<String, String> producer) {
        this.consumer = consumer;
        this.producer = producer;
    }

    /** Commit what is open. */
    private void commit() {
        if (!ends.isEmpty()) {
            producer.sendOffsetsToTransaction(ends, consumer.groupMetadata());
            producer.commitTransaction();
            ends.clear();
        }
    }

    public static void main(String[] words) {
        var settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        settings.put("group.id", "copy");
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("isolation.level", "read_committed");
        settings.put("session.timeout.ms", "8000");
        settings.put("max.poll.records", "200");
        settings.put("transactional.id", "copy-1");
        settings.put("transaction.timeout.ms", "20000");
        var consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        var producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        var copy = new Copy(consumer, producer);
        consumer.subscribe(List.of(words[1]));
        long committed = System.nanoTime();
        while (true) {
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                if (copy.ends.isEmpty()) {
                    producer.beginTransaction();
                }
                if (record.value() != null) {
                    producer.send(new ProducerRecord<>(words[2], record.key(), record.value()));
                }
                copy.ends.put(
                        new TopicPartition(record.topic(), record.partition()),
                        new OffsetAndMetadata(record.offset() + 1));
            }
            if (System.nanoTime() - committed > 1_000_000_000L) {
                copy.commit();
                committed = System.nanoTime();
            }
        }
    }
}
