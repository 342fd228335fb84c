// Writes each order into two tables.
const { Kafka, logLevel } = require("kafkajs");
const { Client } = require("pg");

const [bootstrap, source, where] = process.argv.slice(2);
const kafka = new Kafka({ brokers: bootstrap.split(","), logLevel: logLevel.ERROR });
const consumer = kafka.consumer({ groupId: "copy", sessionTimeout: 8000, maxWaitTimeInMs: 500 });
consumer.on(consumer.events.CRASH, () => process.exit(1));

const said = Object.fromEntries(where.split(" ").map((word) => word.split("=")));
const { host, port, user, dbname } = said;

// Wait for the database, however long it is away.
async function connected() {
    for (;;) {
        const client = new Client({ host, port, user, database: dbname });
        try {
            await client.connect();
            return client;
        } catch (error) {
            console.error(error.message);
            await new Promise((resolve) => setTimeout(resolve, 1000));
        }
    }
}

async function main() {
    const database = await connected();
    await database.query(
        "CREATE TABLE IF NOT EXISTS shipped (order_id text PRIMARY KEY, item text)",
    );
    await database.query("CREATE TABLE IF NOT EXISTS invoices (order_id text, item text)");
    await consumer.connect();
    await consumer.subscribe({ topics: [source], fromBeginning: true });
    await consumer.run({
        eachBatch: async ({ batch }) => {
            const orders = batch.messages
                .filter((message) => message.value !== null)
                .map((message) => JSON.parse(message.value.toString()));
            const added = await database.query(
                "INSERT INTO shipped SELECT * FROM unnest($1::text[], $2::text[]) " +
                    "ON CONFLICT DO NOTHING RETURNING order_id, item",
                [orders.map((order) => order.order_id), orders.map((order) => order.item)],
            );
            await database.query(
                "INSERT INTO invoices SELECT * FROM unnest($1::text[], $2::text[])",
                [added.rows.map((row) => row.order_id), added.rows.map((row) => row.item)],
            );
        },
    });
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
