// A producer with KafkaJS: `node producer.mjs TASK`.
//
// The records that are due are sent with one call, or, `by_partition`, with a call for each
// partition, one after the other.

import { loadTask, run } from "../contract.mjs";
import { Places, asPlaced, byPartition, byTopic, library } from "./library.mjs";

class Client {
  #transaction;

  constructor(task) {
    const { connection, producer, by_partition } = task.client;
    const kafka = library(task, connection);
    this.byPartition = by_partition;
    this.places = new Places(kafka);
    this.acks = producer.idempotent ? -1 : producer.acks;
    const { acks, ...settings } = producer;
    this.producer = kafka.producer({
      ...settings,
      createPartitioner: asPlaced,
      ...(task.transactional_id === null ? {} : { transactionalId: task.transactional_id }),
    });
  }

  async connect() {
    await this.producer.connect();
    return this;
  }

  async send(messages) {
    const placed = await this.places.of(messages);
    const outcomes = new Map();
    let failed;
    for (const part of this.byPartition ? byPartition(placed) : [placed]) {
      const sends = failed === undefined || this.#transaction === undefined;
      const told = sends ? await this.#sendBatch(part) : part.map(() => failed);
      part.forEach((message, place) => outcomes.set(message, told[place]));
      if (told[0].error !== undefined) {
        failed = { error: told[0].error, certain: true }; // for those that are not sent any more
      }
    }
    return placed.map((message) => outcomes.get(message));
  }

  /** Send messages with one call; the library tells the first offset of each partition only. */
  async #sendBatch(messages) {
    const sender = this.#transaction ?? this.producer;
    let told;
    try {
      told = await sender.sendBatch({ acks: this.acks, topicMessages: byTopic(messages) });
    } catch (error) {
      return messages.map(() => ({ error, certain: false }));
    }
    const next = new Map(told.map((t) => [`${t.topicName}-${t.partition}`, BigInt(t.baseOffset)]));
    return messages.map(({ topic, partition }) => {
      const place = `${topic}-${partition}`;
      const offset = next.get(place) ?? -1n;
      next.set(place, offset < 0n ? offset : offset + 1n);
      return { partition, offset: offset < 0n ? null : Number(offset) };
    });
  }

  async begin() {
    this.#transaction = await this.producer.transaction();
  }

  async end(commit) {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    try {
      await (commit ? transaction.commit() : transaction.abort());
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
