// What the programs with Confluent's client share.

import confluent from "@confluentinc/kafka-javascript";

export const { Kafka, ErrorCodes } = confluent.KafkaJS;

/** Repeat a call while its error is retriable, as librdkafka allows after a time-out. */
export async function retried(call) {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!error.retriable) {
        throw error;
      }
    }
  }
}
