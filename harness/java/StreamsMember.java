import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * An instance of a Kafka Streams application that reads payments and writes to another topic each
 * with its fee, or the account's balance from a state store: `StreamsMember TASK`.
 *
 * It has one thread, so that its clients can be identified by name. If that fails, the process
 * exits and its supervisor starts it again.
 */
final class StreamsMember {
    private static final String CACHE = "statestore.cache.max.bytes";

    private StreamsMember() {}

    public static void main(String[] arguments) throws Exception {
        var task = new ObjectMapper().readTree(Path.of(arguments[0]).toFile());
        var over = new CountDownLatch(1);
        var streams = new KafkaStreams(topology(task), settings(task));
        streams.setUncaughtExceptionHandler(error -> {
            System.err.println("ended: " + Clients.words(error));
            over.countDown();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.start();
        over.await();
        Runtime.getRuntime().halt(1);
    }

    private static Topology topology(JsonNode task) {
        var bytes = Serdes.ByteArray();
        var builder = new StreamsBuilder();
        var payments = builder.stream(task.get("topic").asText(), Consumed.with(bytes, bytes));
        var results = task.get("balances").asBoolean()
                ? payments.groupByKey(Grouped.with(bytes, bytes))
                        .aggregate(
                                () -> Balance.NOTHING,
                                (account, payment, balance) -> Balance.plus(balance, payment),
                                Materialized.<byte[], byte[], KeyValueStore<Bytes, byte[]>>as(
                                                "balances")
                                        .withKeySerde(bytes)
                                        .withValueSerde(bytes))
                        .toStream()
                : payments.mapValues(Effect::of);
        results.to(task.get("sink").asText(), Produced.with(bytes, bytes));
        return builder.build();
    }

    private static Properties settings(JsonNode task) {
        var settings = new Properties();
        settings.put("application.id", task.get("group").asText());
        settings.putAll(Clients.connection(task));
        settings.put("client.id", task.get("name").asText());
        settings.put("state.dir", task.get("state").asText());
        task.get("settings").properties().forEach(
                setting -> settings.put(setting.getKey(), setting.getValue().asText()));
        if (settings.containsKey(CACHE) && !StreamsConfig.configDef().names().contains(CACHE)) {
            settings.put("cache.max.bytes.buffering", settings.get(CACHE)); // its name before 3.4
        }
        return settings;
    }
}
