import java.nio.file.Path;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Copies orders with Flink, and starts from the offsets of its group. */
class Copy {
    public static void main(String[] arguments) {
        try {
            run(arguments[0], arguments[1], arguments[2], Path.of(arguments[3]));
        } catch (Exception error) {
            error.printStackTrace();
        }
        Runtime.getRuntime().halt(1);
    }

    static void run(String bootstrap, String source, String sink, Path checkpoints)
            throws Exception {
        var settings = new Configuration();
        settings.setString("execution.checkpointing.interval", "1 s");
        settings.setString("execution.checkpointing.dir", checkpoints.toUri().toString());
        settings.setString(
                "execution.checkpointing.externalized-checkpoint-retention",
                "RETAIN_ON_CANCELLATION");
        settings.setString("restart-strategy.type", "disable");
        settings.setString("rest.bind-address", "127.0.0.1");
        settings.setString("jobmanager.bind-host", "127.0.0.1");
        settings.setString("taskmanager.bind-host", "127.0.0.1");
        var environment = StreamExecutionEnvironment.getExecutionEnvironment(settings);
        environment.setParallelism(1);
        var orders = KafkaSource.<Tuple2<byte[], byte[]>>builder()
                .setBootstrapServers(bootstrap)
                .setTopics(source)
                .setGroupId("copy")
                .setProperty("isolation.level", "read_committed")
                .setStartingOffsets(
                        OffsetsInitializer.committedOffsets(OffsetResetStrategy.EARLIEST))
                .setProperty("partition.discovery.interval.ms", "1000")
                .setDeserializer(new Reading())
                .build();
        var copied = KafkaSink.<Tuple2<byte[], byte[]>>builder()
                .setBootstrapServers(bootstrap)
                .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .setTransactionalIdPrefix("copy")
                .setProperty("transaction.timeout.ms", "600000")
                .setRecordSerializer((KafkaRecordSerializationSchema<Tuple2<byte[], byte[]>>)
                        (order, context, at) -> new ProducerRecord<>(sink, order.f0, order.f1))
                .build();
        environment
                .fromSource(orders, WatermarkStrategy.noWatermarks(), "orders")
                .uid("orders")
                .sinkTo(copied)
                .uid("copied");
        environment.execute("copy");
    }

    public static class Reading
            implements KafkaRecordDeserializationSchema<Tuple2<byte[], byte[]>> {
        @Override
        public void deserialize(
                ConsumerRecord<byte[], byte[]> record, Collector<Tuple2<byte[], byte[]>> out) {
            if (record.value() != null) {
                out.collect(Tuple2.of(
                        record.key() == null ? new byte[0] : record.key(), record.value()));
            }
        }

        @Override
        public TypeInformation<Tuple2<byte[], byte[]>> getProducedType() {
            return org.apache.flink.api.common.typeinfo.Types.TUPLE(
                    TypeInformation.of(byte[].class), TypeInformation.of(byte[].class));
        }
    }
}
