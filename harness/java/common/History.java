import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Append-only JSON Lines, as `harness/history/writer.py` writes them.
 *
 * Written lines survive the death of this process. Nothing may follow a line that was cut short, so
 * a failed write ends the program.
 */
final class History {
    private static final long CLOCK_EVERY = 10_000_000_000L;

    private final ObjectMapper json = new ObjectMapper();
    private final String writer;
    private final FileChannel file;
    private long nextPair = Long.MIN_VALUE;

    /** Open one writer's file, `folder/writer.jsonl`, for appending. */
    History(String folder, String writer) throws IOException {
        this.writer = writer;
        file = FileChannel.open(
                Path.of(folder, writer + ".jsonl"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.APPEND);
    }

    /** Write one line: its kind (a table's name, `called` or `returned`) and its fields. */
    void write(String kind, Map<String, ?> row) {
        write(kind, List.of(row));
    }

    /** Write several lines of one kind at once. */
    synchronized void write(String kind, List<? extends Map<String, ?>> rows) {
        var lines = new ByteArrayOutputStream();
        var now = Clock.now();
        if (now >= nextPair) {
            nextPair = now + CLOCK_EVERY;
            add(lines, "clocks", Map.of(
                    "writer", writer,
                    "clock", Clock.id(),
                    "monotonic_ns", now,
                    "wall_ns", Clock.wall()));
        }
        rows.forEach(row -> add(lines, kind, row));
        var rest = ByteBuffer.wrap(lines.toByteArray());
        try {
            while (rest.hasRemaining()) {
                file.write(rest);
            }
        } catch (IOException error) {
            System.err.println("history cannot be written: " + error);
            Runtime.getRuntime().halt(1);
        }
    }

    private void add(ByteArrayOutputStream lines, String kind, Map<String, ?> row) {
        var line = new LinkedHashMap<String, Object>();
        line.put("t", kind);
        line.putAll(row);
        try {
            lines.writeBytes(json.writeValueAsBytes(line));
        } catch (JsonProcessingException error) {
            throw new UncheckedIOException(error);
        }
        lines.write('\n');
    }
}
