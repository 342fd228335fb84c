import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;

/**
 * The effect of a payment, the same in every language.
 *
 * This is code of the pipeline under test; `harness/workload/payments.py` has the expectation.
 */
final class Effect {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Effect() {}

    /** The payment with its fee, as JSON: 2.9 % of the amount, rounded down, and 30 cents. */
    static byte[] of(byte[] payment) {
        try {
            var read = JSON.readTree(payment);
            var amount = read.get("amount_cents").asLong();
            var effect = new LinkedHashMap<String, Object>();
            effect.put("record", read.get("record").asText());
            effect.put("account", read.get("account").asText());
            effect.put("amount_cents", amount);
            effect.put("fee_cents", Math.floorDiv(amount * 29, 1000) + 30);
            return JSON.writeValueAsString(effect).getBytes(UTF_8);
        } catch (IOException error) {
            throw new UncheckedIOException("not a payment: " + new String(payment, UTF_8), error);
        }
    }
}
