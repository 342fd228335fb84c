import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

/** Pass records on with Kafka Streams: `StreamsTransform TASK`, a task of `transform.py`. */
final class StreamsTransform {
    private StreamsTransform() {}

    public static void main(String[] arguments) throws Exception {
        var task = new ObjectMapper().readTree(arguments[0]);
        var bytes = Serdes.ByteArray();
        var builder = new StreamsBuilder();
        builder.stream(task.get("source").asText(), Consumed.with(bytes, bytes))
                .to(task.get("sink").asText(), Produced.with(bytes, bytes));
        var settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, task.get("group").asText());
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, task.get("bootstrap").asText());
        settings.put(
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG,
                task.get("exactly_once").asBoolean()
                        ? StreamsConfig.EXACTLY_ONCE_V2
                        : StreamsConfig.AT_LEAST_ONCE);
        settings.put(
                StreamsConfig.COMMIT_INTERVAL_MS_CONFIG,
                Math.max(1, (long) (task.get("commit_every").asDouble() * 1e3)));
        settings.put("auto.offset.reset", "earliest");
        settings.put("fetch.max.wait.ms", 10);
        settings.put("linger.ms", task.get("linger").asInt());
        settings.put(StreamsConfig.STATE_DIR_CONFIG, task.get("state").asText());
        var streams = new KafkaStreams(builder.build(), settings);
        var ended = new CountDownLatch(1);
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) {
                System.out.println("{\"ready\": true}");
            } else if (now.hasStartedOrFinishedShuttingDown()) {
                ended.countDown();
            }
        });
        streams.start();
        ended.await();
        Runtime.getRuntime().halt(1);
    }
}
