// A member of a group with KafkaJS, which reads payments and writes them with their fee to another
// topic, effects and offsets in one transaction: `node member.mjs TASK`.
//
// Effects are sent by partition: docs/findings/kafkajs-sends-again.md says why. After an abort, the
// records are fetched again. When the library gives up, the program exits, and its supervisor
// starts it again.

import { TRANSACTION_MS, die, effect, exitIfHung, loadTask } from "../contract.mjs";
import { Places, asPlaced, byPartition, library } from "./library.mjs";

const RECORD = "onceproof-record";

const task = loadTask();
if (task.commits !== "in-transaction" || task.calls !== null) {
  die("a KafkaJS member commits in transactions and makes no calls");
}
const kafka = library(task, {
  connectionTimeout: 2000,
  requestTimeout: 3000,
  enforceRequestTimeout: true,
  retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 50 },
});
const places = new Places(kafka);
const producer = kafka.producer({
  transactionalId: task.transactional_id ?? `${task.group}-${task.name}`,
  idempotent: true,
  maxInFlightRequests: 1,
  transactionTimeout: TRANSACTION_MS,
  allowAutoTopicCreation: false,
  metadataMaxAge: 1000,
  createPartitioner: asPlaced,
});
const consumer = kafka.consumer({
  groupId: task.group,
  readUncommitted: false,
  sessionTimeout: 6000,
  heartbeatInterval: 1000,
  rebalanceTimeout: 10_000,
  maxWaitTimeInMs: 200,
  metadataMaxAge: 1000,
  allowAutoTopicCreation: false,
});

/** Return the effect of a message; it keeps the identity of its payment. */
function effectOf({ key, value, headers }) {
  return {
    topic: task.sink, key, value: effect(value), headers: { [RECORD]: headers[RECORD] },
  };
}

/** Commit effects and offsets of one partition in one transaction; return whether it could. */
async function transform(messages, partition) {
  const transaction = await producer.transaction();
  try {
    for (const part of byPartition(await places.of(messages.map(effectOf)))) {
      await transaction.send({ topic: task.sink, acks: -1, messages: part });
    }
    const offset = String(BigInt(messages.at(-1).offset) + 1n);
    await transaction.sendOffsets({
      consumerGroupId: task.group,
      topics: [{ topic: task.topic, partitions: [{ partition, offset }] }],
    });
  } catch (error) {
    console.error("aborting:", error.message);
    await transaction.abort();
    return false;
  }
  await transaction.commit();
  return true;
}

/** End the program if a transaction's end is unknown: the library would read the batch again. */
async function committed(read, partition) {
  try {
    return await exitIfHung("a transaction", transform(read, partition));
  } catch (error) {
    return die(`ended: ${error.message}`);
  }
}

async function eachBatch({ batch, resolveOffset, heartbeat, isRunning, isStale }) {
  const { messages, partition } = batch;
  for (let at = 0; at < messages.length && isRunning() && !isStale(); at += task.batch) {
    const read = messages.slice(at, at + task.batch);
    if (!(await committed(read, partition)) && task.rewind) {
      return; // what is not resolved is fetched again
    }
    resolveOffset(read.at(-1).offset);
    await heartbeat();
  }
}

consumer.on(consumer.events.CRASH, ({ payload }) => die(`ended: ${payload.error.message}`));
try {
  await producer.connect();
  await consumer.connect();
  await consumer.subscribe({ topics: [task.topic], fromBeginning: true });
  await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch });
} catch (error) {
  die(`ended: ${error.message}`);
}
