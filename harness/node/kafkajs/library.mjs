// What the programs with KafkaJS share.

import kafkajs from "kafkajs";

const { Kafka, Partitioners, logLevel } = kafkajs;

/** Return an instance of the library; `settings` are its own. */
export function library(task, settings) {
  return new Kafka({
    ...settings,
    clientId: task.name,
    brokers: task.bootstrap.split(","),
    logLevel: logLevel.WARN,
    logCreator: () => ({ label, log }) => console.error(label, log.message, log.error ?? ""),
  });
}

/** For the setting `createPartitioner` of producers whose messages have a partition. */
export const asPlaced = () => ({ message }) => message.partition;

/** The partition of each message, chosen as Kafka's own client does, before it is sent. */
export class Places {
  #kafka;
  #choose = Partitioners.DefaultPartitioner();
  #topics = new Map();

  constructor(kafka) {
    this.#kafka = kafka;
  }

  /** Return messages `{topic, key, …}` with their partition. */
  async of(messages) {
    for (const { topic } of messages) {
      if (!this.#topics.has(topic)) {
        this.#topics.set(topic, await this.#partitions(topic));
      }
    }
    return messages.map((message) => {
      const { topic } = message;
      const partitionMetadata = this.#topics.get(topic);
      return { ...message, partition: this.#choose({ topic, partitionMetadata, message }) };
    });
  }

  async #partitions(topic) {
    const admin = this.#kafka.admin();
    await admin.connect();
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      return topics[0].partitions;
    } finally {
      await admin.disconnect();
    }
  }
}

/** Return messages in groups of one partition. */
export function byPartition(messages) {
  return grouped(messages, ({ topic, partition }) => `${topic}-${partition}`).map(([, of]) => of);
}

/** Return messages as `sendBatch` takes them. */
export function byTopic(messages) {
  return grouped(messages, ({ topic }) => topic).map(([topic, of]) => ({ topic, messages: of }));
}

function grouped(messages, key) {
  const found = new Map();
  for (const message of messages) {
    found.set(key(message), [...(found.get(key(message)) ?? []), message]);
  }
  return [...found];
}
