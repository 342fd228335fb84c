import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Clients that give up soon.
 *
 * By default a lost answer is noticed after 30 s. With these settings a fault
 * shows within seconds, as with the clients of other languages.
 */
final class Clients {
    private static final Map<String, Object> SOON = Map.of(
            "request.timeout.ms", 3000,
            "delivery.timeout.ms", 20000,
            "max.block.ms", 25000,
            "transaction.timeout.ms", 20000,
            "retry.backoff.ms", 50,
            "retry.backoff.max.ms", 200,
            "reconnect.backoff.ms", 50,
            "reconnect.backoff.max.ms", 500);

    private Clients() {}

    /** The settings that the task of a sender has, and what it must have besides. */
    static Map<String, Object> settings(JsonNode task) {
        var settings = new HashMap<String, Object>();
        task.get("client").properties().forEach(
                setting -> settings.put(setting.getKey(), setting.getValue().asText()));
        settings.putAll(connection(task));
        settings.put("client.id", task.get("name").asText());
        if (!task.get("transactional_id").isNull()) {
            settings.put("transactional.id", task.get("transactional_id").asText());
        }
        return settings;
    }

    /**
     * How to connect: where the brokers are, and what
     * `harness/kafka/connecting/connection.py` has in the folder that the environment names.
     */
    static Map<String, Object> connection(JsonNode task) {
        var settings = new HashMap<String, Object>();
        var folder = System.getenv("ONCEPROOF_CONNECTION");
        if (folder != null) {
            var found = new Properties();
            try (var file = Files.newBufferedReader(Path.of(folder, "java.properties"))) {
                found.load(file);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
            found.forEach((name, value) -> settings.put((String) name, value));
        }
        settings.put("bootstrap.servers", task.get("bootstrap").asText());
        return settings;
    }

    /** A producer of bytes; `settings` come on top of ours. */
    static KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        var all = new HashMap<>(SOON);
        all.putAll(settings);
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** A group by its name alone, as of somebody who never joined. */
    @SuppressWarnings("removal")
    static ConsumerGroupMetadata nameOnly(String group) {
        return new ConsumerGroupMetadata(group);
    }

    /** An error in words, with the first cause behind it. */
    static String words(Throwable error) {
        var said = error.getMessage();
        return said == null ? name(error) : name(error) + ": " + said;
    }

    /** What an error is called, and the first cause behind it where that is another. */
    static String name(Throwable error) {
        var cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        var name = error.getClass().getSimpleName();
        return cause == error ? name : name + " by " + cause.getClass().getSimpleName();
    }
}
