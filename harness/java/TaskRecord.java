import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Iterator;

/**
 * One record to be sent, as `harness/workload/task_file.py` writes it down.
 *
 * The one thing to know: `partition` and `transaction` are null where the task leaves them open.
 */
record TaskRecord(
        String record,
        String key,
        byte[] value,
        String digest,
        String topic,
        Integer partition,
        Integer transaction,
        String intended) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** The records of a file, in order. */
    static Iterator<TaskRecord> read(String path) throws IOException {
        BufferedReader lines = Files.newBufferedReader(Path.of(path));
        return lines.lines().map(TaskRecord::parse).iterator();
    }

    private static TaskRecord parse(String line) {
        try {
            var row = JSON.readTree(line);
            return new TaskRecord(
                    row.get("record").asText(),
                    row.get("key").asText(),
                    Base64.getDecoder().decode(row.get("value").asText()),
                    row.get("digest").asText(),
                    row.get("topic").asText(),
                    number(row.get("partition")),
                    number(row.get("transaction")),
                    row.get("intended").asText());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static Integer number(JsonNode value) {
        return value.isNull() ? null : value.asInt();
    }
}
