import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

/** Copies orders by Kafka Streams. */
class Copy {
    public static void main(String[] words) {
        var settings = new Properties();
        settings.put("application.id", "copy");
        settings.put("bootstrap.servers", words[0]);
        settings.put("state.dir", words[3]);
        settings.put("auto.offset.reset", "earliest");
        settings.put("session.timeout.ms", "8000");
        settings.put("num.standby.replicas", "0");
        settings.put("replication.factor", "3");
        var builder = new StreamsBuilder();
        builder.stream(words[1], Consumed.with(Serdes.String(), Serdes.String()))
                .filter((key, value) -> value != null)
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
