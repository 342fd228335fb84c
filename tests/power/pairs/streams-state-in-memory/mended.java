import java.time.Duration;
import java.util.ArrayList;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/** Gathers orders by Kafka Streams, and hands them on every second. */
class Copy {
    private static final ProcessorSupplier<String, String, String, String> GATHER =
            new ProcessorSupplier<>() {
                @Override
                public Processor<String, String, String, String> get() {
                    return new Gather();
                }

                @Override
                public Set<StoreBuilder<?>> stores() {
                    return Set.of(
                            Stores.keyValueStoreBuilder(
                                    Stores.persistentKeyValueStore("gathered"),
                                    Serdes.String(),
                                    Serdes.String()));
                }
            };

    /** Hands on what it has gathered, every second. */
    private static class Gather implements Processor<String, String, String, String> {
        private KeyValueStore<String, String> gathered;

        @Override
        public void init(ProcessorContext<String, String> context) {
            gathered = context.getStateStore("gathered");
            context.schedule(
                    Duration.ofSeconds(1),
                    PunctuationType.WALL_CLOCK_TIME,
                    now -> {
                        var all = new ArrayList<KeyValue<String, String>>();
                        try (var found = gathered.all()) {
                            found.forEachRemaining(all::add);
                        }
                        for (var each : all) {
                            context.forward(new Record<>(each.key, each.value, now));
                            gathered.delete(each.key);
                        }
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
                .process(GATHER)
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
