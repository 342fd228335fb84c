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
 * One transaction by Kafka's own client, told as `harness/message_faults/librdkafka.py` is told it.
 *
 * It does what the documentation of KafkaProducer tells a program to do. A
 * call that timed out and may be made again is made again, a transaction that failed is aborted and
 * begun again, and whoever cannot abort either is at its end. It gives up soon, so that a fault
 * shows within seconds.
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
        // What the client's own threads still try is nobody's concern.
        Runtime.getRuntime().halt(0);
    }

    /** Do it, and say what came of it. */
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
            // Of a producer that is fenced, or otherwise at its end, this fails too, and says why.
            call(producer::abortTransaction);
            return false;
        }
        return true;
    }

    /** Make a call, and again as long as all that is wrong with it is time. */
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
