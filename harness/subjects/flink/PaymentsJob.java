import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * A Flink job that reads payments from one topic and writes to another each payment with its fee, or
 * the balance of its account, which is in its state: `PaymentsJob NAME=VALUE …`.
 *
 * It follows Flink's documentation. A broken twin differs in its settings, or in how it is started.
 */
public final class PaymentsJob {
    private static final String RECORD_HEADER = "onceproof-record";
    private static final ObjectMapper JSON = new ObjectMapper();

    private PaymentsJob() {}

    public static void main(String[] arguments) {
        var settings = new HashMap<String, String>();
        for (var argument : arguments) {
            var equals = argument.indexOf('=');
            settings.put(argument.substring(0, equals), argument.substring(equals + 1));
        }
        try {
            run(settings);
        } catch (Exception error) {
            for (Throwable cause = error; cause != null; cause = cause.getCause()) {
                System.err.println("over: " + cause);
            }
        }
        // The mini cluster's threads would keep the process alive.
        Runtime.getRuntime().halt(1);
    }

    private static void run(Map<String, String> settings) throws Exception {
        var flink = Configuration.fromMap(part(settings, "flink."));
        var environment = StreamExecutionEnvironment.getExecutionEnvironment(flink);
        var payments = environment.fromSource(
                source(settings), WatermarkStrategy.noWatermarks(), "payments");
        var results = settings.get("job.balances").equals("true")
                ? payments.uid("payments")
                        .keyBy(payment -> new String(payment.key, UTF_8))
                        .process(new Balance())
                        .uid("balance")
                : payments.uid("payments").map(PaymentsJob::withFee).uid("fee");
        results.sinkTo(sink(settings)).uid("sink");
        environment.execute(settings.get("job.name"));
    }

    private static KafkaSource<Message> source(Map<String, String> settings) {
        var start = settings.get("job.start").equals("group")
                ? OffsetsInitializer.committedOffsets(OffsetResetStrategy.EARLIEST)
                : OffsetsInitializer.earliest();
        return KafkaSource.<Message>builder()
                .setProperties(properties(settings, "source."))
                .setTopics(settings.get("job.topic"))
                .setStartingOffsets(start)
                .setDeserializer(new Reading())
                .build();
    }

    private static KafkaSink<Message> sink(Map<String, String> settings) {
        return KafkaSink.<Message>builder()
                .setKafkaProducerConfig(properties(settings, "sink."))
                .setDeliveryGuarantee(DeliveryGuarantee.valueOf(settings.get("job.guarantee")))
                .setTransactionalIdPrefix(settings.get("job.name"))
                .setRecordSerializer(new Writing(settings.get("job.into")))
                .build();
    }

    private static Map<String, String> part(Map<String, String> settings, String prefix) {
        var found = new HashMap<String, String>();
        settings.forEach((name, value) -> {
            if (name.startsWith(prefix)) {
                found.put(name.substring(prefix.length()), value);
            }
        });
        return found;
    }

    private static Properties properties(Map<String, String> settings, String prefix) {
        var found = new Properties();
        found.putAll(part(settings, prefix));
        return found;
    }

    /** The payment with its fee: 2.9 % of the amount, rounded down, and 30 cents. */
    private static Message withFee(Message payment) throws IOException {
        var read = JSON.readTree(payment.value);
        var amount = read.get("amount_cents").asLong();
        var effect = new LinkedHashMap<String, Object>();
        effect.put("record", read.get("record").asText());
        effect.put("account", read.get("account").asText());
        effect.put("amount_cents", amount);
        effect.put("fee_cents", Math.floorDiv(amount * 29, 1000) + 30);
        return payment.with(JSON.writeValueAsBytes(effect));
    }

    /** A payment or its effect. */
    public static class Message {
        public byte[] record;
        public byte[] key;
        public byte[] value;

        public Message() {}

        Message(byte[] record, byte[] key, byte[] value) {
            this.record = record;
            this.key = key;
            this.value = value;
        }

        Message with(byte[] another) {
            return new Message(record, key, another);
        }
    }

    /** Reads a Kafka record and its record header. */
    public static final class Reading implements KafkaRecordDeserializationSchema<Message> {
        @Override
        public void deserialize(ConsumerRecord<byte[], byte[]> read, Collector<Message> out) {
            var identity = read.headers().lastHeader(RECORD_HEADER);
            out.collect(new Message(
                    identity == null ? new byte[0] : identity.value(), read.key(), read.value()));
        }

        @Override
        public TypeInformation<Message> getProducedType() {
            return TypeInformation.of(Message.class);
        }
    }

    /** Writes a Kafka record with the record header of its payment. */
    public static final class Writing implements KafkaRecordSerializationSchema<Message> {
        private final String topic;

        Writing(String topic) {
            this.topic = topic;
        }

        @Override
        public ProducerRecord<byte[], byte[]> serialize(
                Message message, KafkaSinkContext context, Long timestamp) {
            var written = new ProducerRecord<>(topic, message.key, message.value);
            written.headers().add(RECORD_HEADER, message.record);
            return written;
        }
    }

    /** An account's balance: the sum of its payments in cents, and their number. */
    public static final class Balance extends KeyedProcessFunction<String, Message, Message> {
        private transient ValueState<Long> balance;
        private transient ValueState<Long> payments;

        @Override
        public void open(OpenContext context) {
            balance = getRuntimeContext().getState(new ValueStateDescriptor<>("balance", Types.LONG));
            payments =
                    getRuntimeContext().getState(new ValueStateDescriptor<>("payments", Types.LONG));
        }

        @Override
        public void processElement(Message payment, Context context, Collector<Message> out)
                throws Exception {
            JsonNode read = JSON.readTree(payment.value);
            balance.update(before(balance) + read.get("amount_cents").asLong());
            payments.update(before(payments) + 1);
            var after = new LinkedHashMap<String, Object>();
            after.put("balance", balance.value());
            after.put("payments", payments.value());
            out.collect(payment.with(JSON.writeValueAsBytes(after)));
        }

        private static long before(ValueState<Long> state) throws IOException {
            var value = state.value();
            return value == null ? 0 : value;
        }
    }
}
