import com.fasterxml.jackson.databind.ObjectMapper;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Writes orders into a table, and its positions into another. */
class Copy {
    public static void main(String[] words) throws Exception {
        var settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        settings.put("group.id", "ship");
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("isolation.level", "read_committed");
        settings.put("session.timeout.ms", "8000");
        settings.put("max.poll.records", "200");
        settings.put("metadata.max.age.ms", "5000");
        var json = new ObjectMapper();
        var database = DriverManager.getConnection(words[2]);
        database.createStatement().execute(
                "CREATE TABLE IF NOT EXISTS shipped (order_id text, item text)");
        database.createStatement().execute(
                "CREATE TABLE IF NOT EXISTS positions (part int PRIMARY KEY, next bigint NOT NULL)");
        database.setAutoCommit(false);
        var rows = database.prepareStatement("INSERT INTO shipped VALUES (?, ?)");
        var moves = database.prepareStatement(
                "INSERT INTO positions VALUES (?, ?) ON CONFLICT (part) "
                        + "DO UPDATE SET next = excluded.next WHERE positions.next = ?");
        Map<Integer, Long> stands = new HashMap<>();
        var consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        consumer.subscribe(List.of(words[1]), new ConsumerRebalanceListener() {
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {}

            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                try (var ask = database.prepareStatement(
                        "SELECT coalesce(max(next), 0) FROM positions WHERE part = ?")) {
                    for (var partition : partitions) {
                        ask.setInt(1, partition.partition());
                        var answer = ask.executeQuery();
                        answer.next();
                        stands.put(partition.partition(), answer.getLong(1));
                        consumer.seek(partition, answer.getLong(1));
                    }
                } catch (Exception error) {
                    throw new IllegalStateException(error);
                }
            }
        });
        while (true) {
            var records = consumer.poll(Duration.ofMillis(500));
            if (records.isEmpty()) {
                continue;
            }
            Map<Integer, Long> ends = new HashMap<>();
            for (var record : records) {
                ends.put(record.partition(), record.offset() + 1);
                if (record.value() != null) {
                    var order = json.readTree(record.value());
                    rows.setString(1, order.get("order_id").asText());
                    rows.setString(2, order.path("item").asText(null));
                    rows.addBatch();
                }
            }
            rows.executeBatch();
            for (var end : ends.entrySet()) {
                moves.setInt(1, end.getKey());
                moves.setLong(2, end.getValue());
                moves.setLong(3, stands.get(end.getKey()));
                if (moves.executeUpdate() != 1) {
                    throw new IllegalStateException("somebody else went on with " + end.getKey());
                }
            }
            database.commit();
            stands.putAll(ends);
        }
    }
}
