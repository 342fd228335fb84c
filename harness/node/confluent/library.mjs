// What the programs with Confluent's client share.

import confluent from "@confluentinc/kafka-javascript";

export const { Kafka, ErrorCodes } = confluent.KafkaJS;

/**
 * Repeat a call while it times out, as librdkafka allows.
 *
 * Of no error does the library say that it is retriable, abortable or fatal:
 * docs/findings/confluent-javascript-flags.md.
 */
export async function retried(call) {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (error.code !== ErrorCodes.ERR__TIMED_OUT) {
        throw error;
      }
    }
  }
}

// Exiting would wait for the library's threads, which may wait for a coordinator that is gone.
process.on("exit", (code) => code && process.kill(process.pid, "SIGKILL"));
