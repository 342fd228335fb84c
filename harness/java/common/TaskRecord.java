import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A record to send, as `harness/workload/task_file.py` describes it.
 *
 * `ordinal` is the line number in the file, from 0; `transaction` is null without transactions.
 */
record TaskRecord(
        long ordinal,
        String record,
        String topic,
        String key,
        String value,
        String digest,
        Integer transaction,
        boolean abort) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** The records of a file in order, with one record of lookahead. */
    static final class Reader {
        private final BufferedReader lines;
        private long ordinal;
        private TaskRecord next;

        Reader(String path) throws IOException {
            lines = Files.newBufferedReader(Path.of(path));
            next = read();
        }

        boolean over() {
            return next == null;
        }

        /** At most `count` records. */
        List<TaskRecord> take(int most) {
            var taken = new ArrayList<TaskRecord>();
            while (taken.size() < most && next != null) {
                taken.add(next);
                next = read();
            }
            return taken;
        }

        /** The records of the next transaction. */
        List<TaskRecord> takeTransaction() {
            var taken = take(1);
            while (next != null && taken.get(0).transaction().equals(next.transaction())) {
                taken.addAll(take(1));
            }
            return taken;
        }

        private TaskRecord read() {
            try {
                var line = lines.readLine();
                return line == null ? null : parse(ordinal++, line);
            } catch (IOException error) {
                throw new UncheckedIOException("the records cannot be read", error);
            }
        }
    }

    private static TaskRecord parse(long ordinal, String line) throws IOException {
        JsonNode row = JSON.readTree(line);
        var transaction = row.get("transaction");
        return new TaskRecord(
                ordinal,
                row.get("record").asText(),
                row.get("topic").asText(),
                row.get("key").asText(),
                row.get("value").asText(),
                row.get("digest").asText(),
                transaction.isNull() ? null : transaction.asInt(),
                row.get("abort").asBoolean());
    }
}
