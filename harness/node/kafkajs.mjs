// A producer with KafkaJS: `node kafkajs.mjs TASK`.

import kafkajs from "kafkajs";

import { loadTask, run, runTransactions } from "./contract.mjs";

const { Kafka, Partitioners, logLevel } = kafkajs;

class Client {
  #partitions = new WeakMap();
  #transaction;

  constructor(task) {
    const { connection, producer } = task.client;
    const kafka = new Kafka({
      ...connection,
      clientId: task.name,
      brokers: task.bootstrap.split(","),
      logLevel: logLevel.WARN,
      logCreator: () => ({ label, log }) => console.error(label, log.message, log.error ?? ""),
    });
    this.acks = producer.idempotent ? -1 : producer.acks;
    const { acks, ...settings } = producer;
    this.producer = kafka.producer({
      ...settings,
      createPartitioner: () => this.#remembering(Partitioners.DefaultPartitioner()),
      ...(task.transactional_id === null ? {} : { transactionalId: task.transactional_id }),
    });
  }

  async connect() {
    await this.producer.connect();
    return this;
  }

  /** Send messages; the library tells the first offset of each partition only. */
  async send(messages) {
    const topics = new Map();
    for (const message of messages) {
      topics.set(message.topic, [...(topics.get(message.topic) ?? []), message]);
    }
    const sender = this.#transaction ?? this.producer;
    let told;
    try {
      told = await sender.sendBatch({
        acks: this.acks,
        topicMessages: [...topics].map(([topic, of]) => ({ topic, messages: of })),
      });
    } catch (error) {
      return messages.map(() => ({ error, certain: false }));
    }
    const next = new Map(told.map((t) => [`${t.topicName}-${t.partition}`, BigInt(t.baseOffset)]));
    return messages.map((message) => {
      const partition = this.#partitions.get(message);
      const place = `${message.topic}-${partition}`;
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

  /** A partitioner that remembers what it chose. */
  #remembering(choose) {
    return (given) => {
      const partition = choose(given);
      this.#partitions.set(given.message, partition);
      return partition;
    };
  }
}

const task = loadTask();
if (task.transactional_id === null) {
  await run(task, await new Client(task).connect());
} else {
  await runTransactions(task, () => new Client(task).connect());
}
