import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Scanner;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A consumer group member that reads payments and writes them with their fee to another topic,
 * effects and offsets in one transaction: `Member TASK`.
 *
 * The loop follows Kafka's documentation; flags of the task disable what a broken twin leaves out.
 * After a fatal error it exits, and its supervisor starts it again.
 */
final class Member {
    /** Longer than any pause of a zombie, even on a busy machine, so that it continues. */
    private static final double HUNG_SECONDS = 50;
    private static final Map<String, Object> CONSUMER = Map.of(
            "isolation.level", "read_committed",
            "auto.offset.reset", "earliest",
            "enable.auto.commit", false,
            "session.timeout.ms", 6000,
            "heartbeat.interval.ms", 1000,
            "request.timeout.ms", 3000,
            "default.api.timeout.ms", 10000,
            "reconnect.backoff.ms", 50,
            "reconnect.backoff.max.ms", 500);
    /** Settings that the broker has, not the members, with `group.protocol=consumer`. */
    private static final List<String> OF_THE_BROKER =
            List.of("session.timeout.ms", "heartbeat.interval.ms");
    private static final Map<String, Object> PRODUCER = Map.of(
            "linger.ms", 5,
            "request.timeout.ms", 1500,
            // Longer than any pause: a transaction that has timed out would hide a zombie.
            "transaction.timeout.ms", 60000,
            "max.block.ms", 40000);

    private final String topic;
    private final String sink;
    private final boolean groupMetadata;
    private final boolean rewinds;
    private final MemberHistory history;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Watchdog watchdog = new Watchdog(HUNG_SECONDS);
    private volatile boolean told;

    /**
     * The task is that of a Python member, `harness/subjects/group/task.py`, with optional fields:
     * `history`, the folder to write to; `instance`, the writer's name; `transactional_id`.
     */
    private Member(JsonNode task) throws IOException {
        var name = task.get("name").asText();
        var group = task.get("group").asText();
        var id = task.path("transactional_id").asText(group + "-" + name);
        var common = new HashMap<>(Clients.connection(task));
        common.put("client.id", name);
        if (!task.path("commits").asText("in-transaction").equals("in-transaction")
                || !task.path("calls").isMissingNode() && !task.path("calls").isNull()) {
            throw new IllegalArgumentException(
                    "a Java member commits in transactions and makes no calls: " + task);
        }
        topic = task.get("topic").asText();
        sink = task.get("sink").asText();
        groupMetadata = task.path("group_metadata").asBoolean(true);
        rewinds = task.path("rewind").asBoolean(true);
        history = new MemberHistory(
                task.path("history").asText(null), task.path("instance").asText(name), group, id);
        var reading = new HashMap<>(CONSUMER);
        reading.putAll(common);
        reading.put("group.id", group);
        reading.put("max.poll.records", task.path("batch").asInt(50));
        if (task.path("protocol").asText().equals("consumer")) {
            reading.put("group.protocol", "consumer");
            OF_THE_BROKER.forEach(reading::remove);
        }
        consumer = new KafkaConsumer<>(
                reading, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        var writing = new HashMap<>(PRODUCER);
        writing.putAll(common);
        writing.put("transactional.id", id);
        producer = Clients.producer(writing);
    }

    public static void main(String[] arguments) throws Exception {
        var task = new ObjectMapper().readTree(Path.of(arguments[0]).toFile());
        try {
            new Member(task).run();
        } catch (KafkaException | IllegalArgumentException reason) {
            System.err.println("ended: " + Clients.words(reason));
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0);
    }

    /** Read and process until told to end. */
    private void run() throws IOException {
        listen();
        again("initTransactions", producer::initTransactions);
        consumer.subscribe(List.of(topic), new Assignments());
        while (!told) {
            var read = consumer.poll(Duration.ofMillis(200));
            if (!read.isEmpty()) {
                // Get the metadata now: a later generation's would permit a commit of offsets whose
                // partitions another member owns by then.
                process(read, consumer.groupMetadata());
            }
        }
        consumer.close();
        producer.close(Duration.ofSeconds(5));
    }

    /** Commit effects and offsets in one transaction; after an abort, read again. */
    private void process(ConsumerRecords<byte[], byte[]> read, ConsumerGroupMetadata group) {
        var ends = ends(read);
        var txn = Optional.ofNullable(history.begin());
        try {
            producer.beginTransaction();
            read.forEach(record -> producer.send(effect(record)));
            txn.ifPresent(one -> history.staged(one, ends));
            var known = groupMetadata ? group : Clients.nameOnly(group.groupId());
            watchdog.over("sendOffsetsToTransaction",
                    () -> producer.sendOffsetsToTransaction(ends, known));
            txn.ifPresent(Transactions.Transaction::commitCalled);
            again("commitTransaction", producer::commitTransaction);
        } catch (KafkaException error) {
            System.err.println("transaction: " + Clients.words(error));
            abort(txn, error);
            if (rewinds) {
                rewind();
            }
            return;
        }
        txn.ifPresent(one -> one.ended("committed", null));
        history.committed(ends);
    }

    private void abort(Optional<Transactions.Transaction> txn, KafkaException why) {
        try {
            again("abortTransaction", producer::abortTransaction);
        } catch (KafkaException fatal) {
            txn.ifPresent(one -> one.ended("info", fatal));
            throw fatal;
        }
        txn.ifPresent(one -> one.ended("aborted", why));
    }

    /** Seek to the committed offsets of the partitions that are still assigned. */
    private void rewind() {
        var assigned = consumer.assignment();
        var committed = new HashMap<TopicPartition, OffsetAndMetadata>();
        again("committed", () -> committed.putAll(consumer.committed(assigned)));
        history.ended(assigned);
        for (var partition : assigned) {
            var place = committed.get(partition);
            if (place == null) {
                consumer.seekToBeginning(List.of(partition));
            } else {
                consumer.seek(partition, place);
            }
            begin(partition);
        }
    }

    private void begin(TopicPartition partition) {
        again("position", () -> history.assigned(partition, consumer.position(partition)));
    }

    private ProducerRecord<byte[], byte[]> effect(ConsumerRecord<byte[], byte[]> record) {
        var effect = new ProducerRecord<>(sink, record.key(), Effect.of(record.value()));
        var identity = record.headers().lastHeader(Identity.RECORD);
        if (identity != null) {
            effect.headers().add(identity);
        }
        return effect;
    }

    /** The next offset to read of each partition. */
    private static Map<TopicPartition, OffsetAndMetadata> ends(
            ConsumerRecords<byte[], byte[]> read) {
        var ends = new HashMap<TopicPartition, OffsetAndMetadata>();
        read.forEach(record -> ends.put(
                new TopicPartition(record.topic(), record.partition()),
                new OffsetAndMetadata(record.offset() + 1)));
        return ends;
    }

    /** Make a call, and repeat it after timeouts until the watchdog ends the process. */
    private void again(String name, Runnable call) {
        watchdog.over(name, () -> {
            while (true) {
                try {
                    call.run();
                    return;
                } catch (TimeoutException error) {
                    System.err.println(name + ": " + Clients.words(error));
                }
            }
        });
    }

    /** End at the word `end`, or when the other end of the pipe is closed. */
    private void listen() throws IOException {
        var input = Files.readSymbolicLink(Path.of("/proc/self/fd/0")).toString();
        if (!input.startsWith("pipe:")) {
            return; // not started with a pipe
        }
        var listening = new Thread(() -> {
            var words = new Scanner(System.in);
            while (words.hasNext() && !words.next().equals("end")) {
                continue;
            }
            told = true;
        }, "orders");
        listening.setDaemon(true);
        listening.start();
    }

    /** Records the assigned partitions and the times of assignment. */
    private final class Assignments implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            partitions.forEach(Member.this::begin);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            history.ended(partitions);
        }
    }
}
