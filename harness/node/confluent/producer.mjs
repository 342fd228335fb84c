// A producer with Confluent's client for JavaScript: `node producer.mjs TASK`.

import { loadTask, run } from "../contract.mjs";
import { ErrorCodes, Kafka, retried } from "./library.mjs";

/** Errors after which a record is certainly not in the log: it never left the queue. */
const NEVER_SENT = new Set([ErrorCodes.ERR__PURGE_QUEUE, ErrorCodes.ERR__QUEUE_FULL]);

class Client {
  constructor(task) {
    this.producer = new Kafka().producer({
      ...task.client,
      "bootstrap.servers": task.bootstrap,
      "client.id": task.name,
      ...(task.transactional_id === null ? {} : { "transactional.id": task.transactional_id }),
    });
  }

  async connect() {
    try {
      await this.producer.connect();
    } catch (error) {
      await this.close().catch(() => {});
      throw error;
    }
    return this;
  }

  /** Send each message with a call of its own, which tells its offset; librdkafka batches them. */
  async send(messages) {
    const told = await Promise.allSettled(messages.map(
      ({ topic, ...message }) => this.producer.send({ topic, messages: [message] }),
    ));
    return told.map(({ value, reason: error }) => {
      if (error !== undefined) {
        return { error, certain: NEVER_SENT.has(error.code) };
      }
      const [{ partition, baseOffset }] = value;
      return { partition, offset: baseOffset === undefined ? null : Number(baseOffset) };
    });
  }

  async begin() {
    await this.producer.transaction();
  }

  async end(commit) {
    try {
      await retried(() => (commit ? this.producer.commit() : this.producer.abort()));
      return { outcome: commit ? "committed" : "aborted", usable: true };
    } catch (error) {
      // Whether the coordinator has ended it is not known; a new client ends it if not.
      return { outcome: "info", error, usable: false };
    }
  }

  close() {
    return this.producer.disconnect();
  }
}

const task = loadTask();
await run(task, () => new Client(task).connect());
