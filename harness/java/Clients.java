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

    /** A producer of bytes; `settings` come on top of ours. */
    static KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        var all = new HashMap<>(PRODUCER);
        all.putAll(settings);
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
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
