import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Clients that give up soon.
 *
 * The one thing to know: by default a lost answer is noticed after 30 s. With these settings a fault
 * shows within seconds, as with the clients of other languages.
 */
final class Clients {
    private static final Map<String, Object> PRODUCER = Map.of(
            "request.timeout.ms", 3000,
            "delivery.timeout.ms", 20000,
            "max.block.ms", 25000,
            "transaction.timeout.ms", 20000,
            "retry.backoff.ms", 50,
            "retry.backoff.max.ms", 200,
            "reconnect.backoff.ms", 50,
            "reconnect.backoff.max.ms", 500);

    private Clients() {}

    /** What the task of a sender asks for; see `harness/workload/task_file.py`. */
    static Map<String, Object> settings(JsonNode task) {
        var settings = new HashMap<String, Object>();
        var request = task.get("request_timeout_ms").asInt();
        var delivery = task.get("delivery_timeout_ms").asInt();
        settings.put("bootstrap.servers", task.get("bootstrap").asText());
        settings.put("client.id", task.get("name").asText());
        settings.put("acks", task.get("acks").asText());
        settings.put("enable.idempotence", task.get("idempotence").asBoolean());
        settings.put("linger.ms", 5);
        settings.put("request.timeout.ms", request);
        var id = task.get("transactional_id");
        if (!id.isNull()) {
            var transaction = task.get("transaction_timeout_ms").asInt();
            settings.put("transactional.id", id.asText());
            settings.put("transaction.timeout.ms", transaction);
            delivery = Math.min(delivery, transaction);
            // A call that waits longer is made again, which leaves time to tell how far we are.
            settings.put("max.block.ms", 5000);
        } else {
            settings.put("max.block.ms", delivery);
        }
        settings.put("delivery.timeout.ms", Math.max(delivery, request + 5));
        task.get("client").properties().forEach(
                setting -> settings.put(setting.getKey(), setting.getValue().asText()));
        return settings;
    }

    /** A producer of bytes; `settings` come on top of ours. */
    static KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        var all = new HashMap<>(PRODUCER);
        all.putAll(settings);
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
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
