import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;

/**
 * What an account has: the sum of its payments, in cents, and their number.
 *
 * `harness/subjects/expected.py` says what it must be; this is the pipeline's
 * own code, which is on trial.
 */
final class Balance {
    private static final ObjectMapper JSON = new ObjectMapper();
    static final byte[] NOTHING = "{\"balance\":0,\"payments\":0}".getBytes(UTF_8);

    private Balance() {}

    /** A balance and one payment more. */
    static byte[] plus(byte[] balance, byte[] payment) {
        try {
            var before = JSON.readTree(balance);
            var after = new LinkedHashMap<String, Object>();
            after.put(
                    "balance",
                    before.get("balance").asLong()
                            + JSON.readTree(payment).get("amount_cents").asLong());
            after.put("payments", before.get("payments").asLong() + 1);
            return JSON.writeValueAsBytes(after);
        } catch (IOException error) {
            throw new UncheckedIOException("no payment: " + new String(payment, UTF_8), error);
        }
    }
}
