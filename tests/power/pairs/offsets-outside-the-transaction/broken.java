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

/** Copies orders in transactions. */
class Copy {
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
        consumer.subscribe(List.of(words[1]));
        while (true) {
            var records = consumer.poll(Duration.ofMillis(500));
            if (records.isEmpty()) {
                continue;
            }
            Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
            producer.beginTransaction();
            for (ConsumerRecord<String, String> record : records) {
                if (record.value() != null) {
                    producer.send(new ProducerRecord<>(words[2], record.key(), record.value()));
                }
                ends.put(
                        new TopicPartition(record.topic(), record.partition()),
                        new OffsetAndMetadata(record.offset() + 1));
            }
            producer.commitTransaction();
            consumer.commitSync(ends);
        }
    }
}
