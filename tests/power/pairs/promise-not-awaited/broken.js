// Copies orders; the client commits each batch that was handled.
const { Kafka, logLevel } = require("kafkajs");

const [bootstrap, source, sink] = process.argv.slice(2);
const kafka = new Kafka({ brokers: bootstrap.split(","), logLevel: logLevel.ERROR });
const consumer = kafka.consumer({ groupId: "copy", sessionTimeout: 8000, maxWaitTimeInMs: 500 });
consumer.on(consumer.events.CRASH, () => process.exit(1));
const producer = kafka.producer({ idempotent: true });

async function main() {
    await producer.connect();
    await consumer.connect();
    await consumer.subscribe({ topics: [source], fromBeginning: true });
    await consumer.run({
        eachBatch: async ({ batch }) => {
            const messages = batch.messages
                .filter((message) => message.value !== null)
                .map(({ key, value }) => ({ key, value }));
            if (messages.length > 0) {
                producer.send({ topic: sink, messages });
            }
        },
    });
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
