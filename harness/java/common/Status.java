import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A sender's progress, printed to standard output.
 *
 * Outcomes are on disk before they are counted here.
 */
final class Status {
    private static final long EVERY = 100_000_000L;

    private final ObjectMapper json = new ObjectMapper();
    private long told = Long.MIN_VALUE;
    long called;
    long ok;
    long notOk;

    /** Whether it is time to print again. */
    boolean due() {
        var now = Clock.now();
        if (told != Long.MIN_VALUE && now - told < EVERY) {
            return false;
        }
        told = now;
        return true;
    }

    /** Print the counts. */
    void tell(boolean done) {
        var said = new LinkedHashMap<String, Object>();
        said.put("called", called);
        said.put("ok", ok);
        said.put("not_ok", notOk);
        said.put("timeouts", Map.of());
        said.put("done", done);
        try {
            System.out.println(json.writeValueAsString(said));
        } catch (JsonProcessingException wrong) {
            throw new UncheckedIOException(wrong);
        }
        System.out.flush();
    }
}
