import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;

/**
 * The balance of an account: sum, in cents, and number of its payments.
 *
 * This is code of the pipeline under test; `harness/subjects/expected.py` computes the expectation.
 */
final class Balance {
    private static final ObjectMapper JSON = new ObjectMapper();
    static final byte[] NOTHING = "{\"balance\":0,\"payments\":0}".getBytes(UTF_8);

    private Balance() {}

    /** Add a payment to a balance. */
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
            throw new UncheckedIOException("not a payment: " + new String(payment, UTF_8), error);
        }
    }
}
