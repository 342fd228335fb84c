import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A user's Java program: copies orders from one topic to another, with the identity only in a
 * header. In mode "together" the offsets are part of the transaction; in mode "apart" they are
 * committed after it, so that a crash in between copies records again.
 */
public class OwnCopy {
    public static void main(String[] arguments) {
        String bootstrap = arguments[0];
        boolean together = arguments[3].equals("together");
        Properties of = new Properties();
        of.put("bootstrap.servers", bootstrap);
        of.put("group.id", "copy");
        of.put("auto.offset.reset", "earliest");
        of.put("enable.auto.commit", "false");
        of.put("session.timeout.ms", "10000");
        of.put("isolation.level", "read_committed");
        of.put("transactional.id", "copy-1");
        KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(of, new StringDeserializer(), new StringDeserializer());
        KafkaProducer<String, String> producer =
                new KafkaProducer<>(of, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        consumer.subscribe(List.of(arguments[1]));
        while (true) {
            ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(200));
            if (records.isEmpty()) {
                continue;
            }
            Map<TopicPartition, OffsetAndMetadata> read = new HashMap<>();
            producer.beginTransaction();
            for (ConsumerRecord<String, String> record : records) {
                String id = record.value().replaceAll(".*\"order_id\": \"([^\"]*)\".*", "$1");
                ProducerRecord<String, String> copy =
                        new ProducerRecord<>(arguments[2], record.key(), "copied");
                copy.headers().add("order", id.getBytes());
                producer.send(copy);
                read.put(
                        new TopicPartition(record.topic(), record.partition()),
                        new OffsetAndMetadata(record.offset() + 1));
            }
            if (together) {
                producer.sendOffsetsToTransaction(read, consumer.groupMetadata());
            }
            producer.commitTransaction();
            if (!together) {
                consumer.commitSync(read);
            }
        }
    }
}
