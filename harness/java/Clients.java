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
 * Clients with short timeouts.
 *
 * By default a client notices a lost response after 30 s. With these settings a fault shows within
 * seconds, as with the clients in other languages.
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

    /** The settings in a sender's task, plus the ones that every sender needs. */
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
     * Connection settings: the bootstrap servers, and the properties that
     * `harness/kafka/connecting/connection.py` has in the folder named by the environment.
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

    /** A producer of bytes; `settings` override the defaults. */
    static KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        var all = new HashMap<>(SOON);
        all.putAll(settings);
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Metadata of a group without membership, for a producer outside the group. */
    @SuppressWarnings("removal")
    static ConsumerGroupMetadata nameOnly(String group) {
        return new ConsumerGroupMetadata(group);
    }

    /** The name, root cause and message of an error. */
    static String words(Throwable error) {
        var message = error.getMessage();
        return message == null ? name(error) : name(error) + ": " + message;
    }

    /** The class of an error, and of its root cause if it has one. */
    static String name(Throwable error) {
        var cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        var name = error.getClass().getSimpleName();
        return cause == error ? name : name + " by " + cause.getClass().getSimpleName();
    }
}
