import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

/**
 * One instance of a Kafka Streams application that reads payments and writes them with their fee into
 * another topic: `StreamsMember TASK`.
 *
 * The one thing to know: it has one thread, so that its clients can be told by name; when that fails
 * for good the process ends, and is started again by whoever started it.
 */
final class StreamsMember {
    private StreamsMember() {}

    public static void main(String[] arguments) throws Exception {
        var task = new ObjectMapper().readTree(Path.of(arguments[0]).toFile());
        var over = new CountDownLatch(1);
        var streams = new KafkaStreams(topology(task), settings(task));
        streams.setUncaughtExceptionHandler(error -> {
            System.err.println("over: " + Clients.words(error));
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
        builder.stream(task.get("topic").asText(), Consumed.with(bytes, bytes))
                .mapValues(Effect::of)
                .to(task.get("sink").asText(), Produced.with(bytes, bytes));
        return builder.build();
    }

    private static Properties settings(JsonNode task) {
        var settings = new Properties();
        settings.put("application.id", task.get("group").asText());
        settings.put("bootstrap.servers", task.get("bootstrap").asText());
        settings.put("client.id", task.get("name").asText());
        settings.put("state.dir", task.get("state").asText());
        task.get("settings").properties().forEach(
                setting -> settings.put(setting.getKey(), setting.getValue().asText()));
        return settings;
    }
}
