import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;

/** Gathers orders by Kafka Streams, and hands them on every second. */
class Copy {
    /** Hands on what it has gathered, every second. */
    private static class Gather implements Processor<String, String, String, String> {
        private final Map<String, String> gathered = new HashMap<>();

        @Override
        public void init(ProcessorContext<String, String> context) {
            context.schedule(
                    Duration.ofSeconds(1),
                    PunctuationType.WALL_CLOCK_TIME,
                    now -> {
                        gathered.forEach(
                                (id, order) -> context.forward(new Record<>(id, order, now)));
                        gathered.clear();
                    });
        }

        @Override
        public void process(Record<String, String> order) {
            var id = order.value().replaceAll(".*\"order_id\": *\"([^\"]*)\".*", "$1");
            gathered.put(id, order.value());
        }
    }

    public static void main(String[] words) {
        var settings = new Properties();
        settings.put("application.id", "copy");
        settings.put("bootstrap.servers", words[0]);
        settings.put("state.dir", words[3]);
        settings.put("auto.offset.reset", "earliest");
        settings.put("session.timeout.ms", "8000");
        settings.put("num.standby.replicas", "0");
        settings.put("replication.factor", "3");
        settings.put("processing.guarantee", "exactly_once_v2");
        var builder = new StreamsBuilder();
        builder.stream(words[1], Consumed.with(Serdes.String(), Serdes.String()))
                .filter((key, value) -> value != null)
                .process(Gather::new)
                .to(words[2], Produced.with(Serdes.String(), Serdes.String()));
        var streams = new KafkaStreams(builder.build(), settings);
        streams.setUncaughtExceptionHandler(
                error -> {
                    error.printStackTrace();
                    Runtime.getRuntime().halt(1);
                    return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
                });
        streams.start();
    }
}
