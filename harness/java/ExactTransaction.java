import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * One transaction with Kafka's Java client; same task as `harness/message_faults/librdkafka.py`.
 *
 * It handles errors as the documentation of KafkaProducer says: it repeats a call that timed out,
 * aborts a failed transaction and begins again, and ends if it cannot abort. Timeouts are short, so
 * that a fault shows within seconds.
 */
final class ExactTransaction {
    private final JsonNode task;
    private final long deadline;
    private final KafkaProducer<byte[], byte[]> producer;
    private final ConsumerGroupMetadata group;
    private int again;
    private int aborted;

    private ExactTransaction(JsonNode task) {
        this.task = task;
        deadline = Clock.now() + (long) (task.get("seconds").asDouble() * 1e9);
        var settings = new HashMap<>(Clients.connection(task));
        settings.put("transactional.id", task.get("transactional_id").asText());
        producer = Clients.producer(settings);
        group = Clients.nameOnly(task.get("group").asText());
    }

    public static void main(String[] arguments) throws Exception {
        var json = new ObjectMapper();
        var told = new ExactTransaction(json.readTree(System.in)).run();
        System.out.println(json.writeValueAsString(told));
        System.out.flush();
        // Ignore what the client's threads are still doing.
        Runtime.getRuntime().halt(0);
    }

    /** Execute the transaction and return its outcome. */
    private Map<String, Object> run() {
        String error = null;
        try {
            call(producer::initTransactions);
            while (!once()) {
                aborted++;
            }
        } catch (KafkaException ended) {
            error = Clients.name(ended);
        }
        var told = new HashMap<String, Object>();
        told.put("committed", error == null);
        told.put("at", Clock.now());
        told.put("aborted", aborted);
        told.put("again", again);
        told.put("error", error);
        return told;
    }

    /** Try the transaction; false if it had to be aborted. */
    private boolean once() {
        producer.beginTransaction();
        try {
            for (var value : task.get("values")) {
                producer.send(new ProducerRecord<>(
                        task.get("topic").asText(), 0, null, value.asText().getBytes(UTF_8)));
            }
            producer.flush();
            var offset = new OffsetAndMetadata(task.get("offset").asLong());
            producer.sendOffsetsToTransaction(
                    Map.of(new TopicPartition(task.get("input").asText(), 0), offset), group);
            call(producer::commitTransaction);
        } catch (KafkaException error) {
            if (Clock.now() >= deadline) {
                throw error;
            }
            // If the producer is fenced or has another fatal error, this fails with the reason.
            call(producer::abortTransaction);
            return false;
        }
        return true;
    }

    /** Make a call, and repeat it after timeouts. */
    private void call(Runnable call) {
        while (true) {
            try {
                call.run();
                return;
            } catch (TimeoutException error) {
                if (Clock.now() >= deadline) {
                    throw error;
                }
                again++;
            }
        }
    }
}
