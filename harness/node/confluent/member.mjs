// A member of a group with Confluent's client for JavaScript, which reads payments and writes them
// with their fee to another topic, effects and offsets in one transaction: `node member.mjs TASK`.
//
// The library returns to a batch that is not resolved. When it gives up, the program exits, and its
// supervisor starts it again.

import { TRANSACTION_MS, die, effect, exitIfHung, loadTask } from "../contract.mjs";
import { Kafka, retried } from "./library.mjs";

const RECORD = "onceproof-record";

const task = loadTask();
if (task.commits !== "in-transaction" || task.calls !== null) {
  die("a member with Confluent's client commits in transactions and makes no calls");
}
const kafka = new Kafka({
  "bootstrap.servers": task.bootstrap,
  "client.id": task.name,
  "socket.timeout.ms": 3000,
  "reconnect.backoff.ms": 50,
  "reconnect.backoff.max.ms": 500,
  log_level: 4,
});
const producer = kafka.producer({
  "transactional.id": task.transactional_id ?? `${task.group}-${task.name}`,
  "linger.ms": 5,
  "request.timeout.ms": 1500,
  "retry.backoff.ms": 50,
  "retry.backoff.max.ms": 200,
  "transaction.timeout.ms": TRANSACTION_MS,
  "allow.auto.create.topics": false,
});
const consumer = kafka.consumer({
  "group.id": task.group,
  "enable.auto.commit": false,
  "isolation.level": "read_committed",
  "auto.offset.reset": "earliest",
  "session.timeout.ms": 6000,
  "heartbeat.interval.ms": 1000,
  "js.consumer.max.batch.size": task.batch,
});

/** Return the effect of a message; it keeps the identity of its payment. */
function effectOf({ key, value, headers }) {
  return { key, value: effect(value), headers: { [RECORD]: headers[RECORD] } };
}

/** Commit effects and offset of a batch in one transaction; return whether it could. */
async function transform({ messages, topic, partition }) {
  await producer.transaction();
  try {
    await producer.send({ topic: task.sink, messages: messages.map(effectOf) });
    const offset = String(BigInt(messages.at(-1).offset) + 1n);
    const topics = [{ topic, partitions: [{ partition, offset }] }];
    await retried(() => producer.sendOffsets({ consumer, topics }));
  } catch (error) {
    console.error("aborting:", error.message);
    await retried(() => producer.abort());
    return false;
  }
  await retried(() => producer.commit());
  return true;
}

/**
 * End the program if the producer cannot continue, or the end of a transaction is unknown: the
 * library would read the batch again.
 */
async function eachBatch({ batch, resolveOffset }) {
  try {
    const committed = await exitIfHung("a transaction", transform(batch));
    if (committed || !task.rewind) {
      resolveOffset(batch.messages.at(-1).offset);
    }
  } catch (error) {
    die(`ended: ${error.message}`);
  }
}

try {
  await producer.connect();
  await consumer.connect();
  await consumer.subscribe({ topics: [task.topic] });
  await consumer.run({ eachBatchAutoResolve: false, eachBatch });
} catch (error) {
  die(`ended: ${error.message}`);
}
