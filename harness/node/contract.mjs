// What all programs in JavaScript share: the task, its records, orders, the history and progress
// reports. harness/workload/task_file.py specifies it for producers in all languages.

import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MS = 5;
const AT_ONCE = 200;
const REPORT_EVERY = 100e6;
const CLOCK_EVERY = 10e9;
const HUNG_MS = 50_000; // longer than any pause of a zombie
/** Longer still: a transaction that has timed out would hide that a zombie is accepted. */
export const TRANSACTION_MS = 60_000;
const LOOKS = 20;
const BOOT = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
const CLOCK = `${BOOT}/CLOCK_MONOTONIC`;

/** Return nanoseconds of CLOCK_MONOTONIC, the clock of every history. */
export const now = () => Number(process.hrtime.bigint());

/** End this program with a message. */
export function die(message) {
  fs.writeSync(2, `${message}\n`);
  process.exit(1);
}

/** Load the task whose path is the last argument. */
export function loadTask() {
  if (process.env.ONCEPROOF_CONNECTION) {
    die("the Node clients connect in plain text only");
  }
  return JSON.parse(fs.readFileSync(process.argv.at(-1), "utf8"));
}

/**
 * Return the result of a promise; end this program if it takes too long.
 *
 * Looks are counted, not seconds, because a paused program cannot make progress.
 */
export async function exitIfHung(what, promise) {
  let looks = 0;
  const timer = setInterval(() => {
    looks += 1;
    if (looks > LOOKS) {
      die(`hung in ${what}`);
    }
  }, HUNG_MS / LOOKS);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}

/**
 * Return the effect of a payment: the payment with its fee, 2.9 % of the amount, rounded down, and
 * 30 cents. It is code of the pipeline on trial; harness/workload/payments.py has the expectation.
 */
export function effect(payment) {
  const { record, account, amount_cents } = JSON.parse(payment);
  const fee_cents = Math.floor((amount_cents * 29) / 1000) + 30;
  return JSON.stringify({ record, account, amount_cents, fee_cents });
}

/**
 * An append-only file of JSON lines, as harness/history/writer.py writes them.
 *
 * Written lines survive the death of this process. Nothing may follow a line that was cut short,
 * so a failed write ends the program.
 */
export class History {
  #nextPair = 0;

  constructor(folder, writer) {
    this.writer = writer;
    this.file = fs.openSync(path.join(folder, `${writer}.jsonl`), "a");
  }

  /** Write rows of one kind at once: a table's name, `called` or `returned`. */
  write(kind, ...rows) {
    const lines = rows.map((row) => JSON.stringify({ t: kind, ...row }));
    const at = now();
    if (at >= this.#nextPair) {
      this.#nextPair = at + CLOCK_EVERY;
      const pair = { t: "clocks", writer: this.writer, clock: CLOCK, monotonic_ns: at };
      // Nanoseconds since 1970 are more than a number of JavaScript can hold.
      const wall = BigInt(Date.now()) * 1_000_000n;
      lines.unshift(`${JSON.stringify(pair).slice(0, -1)},"wall_ns":${wall}}`);
    }
    const data = Buffer.from(`${lines.join("\n")}\n`);
    try {
      for (let done = 0; done < data.length; ) {
        done += fs.writeSync(this.file, data, done);
      }
    } catch (error) {
      die(`the history cannot be written: ${error.message}`);
    }
  }
}

/**
 * The orders of the harness on standard input, and the resulting rate of sends.
 *
 * The end of standard input means that the harness is gone, and ends this process at once.
 */
class Orders {
  enough = false;
  #rate = 0;
  #credit = 0;
  #last = now();

  constructor() {
    const lines = readline.createInterface({ input: process.stdin });
    lines.on("line", (line) => {
      const [word, value] = line.trim().split(" ");
      if (word === "rate") {
        this.#rate = value === "inf" ? Infinity : Number(value);
      } else if (word === "enough") {
        this.enough = true;
      }
    });
    lines.on("close", () => die("the harness is gone"));
  }

  /** Return how many records may be sent now, at most 200. */
  allowed() {
    const at = now();
    const more = this.#rate === Infinity ? AT_ONCE : ((at - this.#last) / 1e9) * this.#rate;
    this.#credit = Math.min(AT_ONCE, this.#credit + more);
    this.#last = at;
    return Math.floor(this.#credit);
  }

  /** Account for sent records; if more than allowed were sent, the next ones wait longer. */
  took(records) {
    this.#credit -= records;
  }
}

/** Return the records of a file in order. */
function loadRecords(file) {
  const lines = fs.readFileSync(file, "utf8").split("\n");
  return lines.filter(Boolean).map((line, ordinal) => ({ ...JSON.parse(line), ordinal }));
}

function valueOf(record) {
  return record.encoded === null ? record.value : Buffer.from(record.encoded, "base64");
}

function headersOf(record, attempt) {
  const found = Object.fromEntries(record.headers);
  return { ...found, "onceproof-record": record.record, "onceproof-attempt": attempt };
}

const words = (error) => `${error.name}: ${error.message}`;

/**
 * Sends the records of one task with a client:
 *
 * - `send(messages)` sends messages `{topic, key, value, headers}`, and returns an outcome for each:
 *   `{partition, offset}`, or `{error, certain}`, where `certain` says that it is certainly not in
 *   the log;
 * - `begin()`, and `end(commit)`, which returns `{outcome, error, usable}`: `committed`, `aborted`
 *   or, if that is not known, `info`, and whether the client can begin another transaction;
 * - `close()`.
 */
class Sending {
  #returned = [];
  #counts = { called: 0, ok: 0, not_ok: 0 };
  #toldAt = 0;

  constructor(task) {
    this.task = task;
    this.orders = new Orders();
    this.history = new History(task.history, task.name);
    this.records = loadRecords(task.records);
    this.place = 0;
    this.newSession();
    // Outcomes are told also while a call waits.
    this.telling = setInterval(() => this.report(false), PAUSE_MS);
  }

  newSession() {
    this.session = `${this.task.name}/${now().toString(16)}`;
  }

  get over() {
    return this.orders.enough || this.place >= this.records.length;
  }

  take(most) {
    const taken = this.records.slice(this.place, this.place + most);
    this.place += taken.length;
    return taken;
  }

  takeTransaction() {
    const { transaction } = this.records[this.place];
    let end = this.place;
    while (end < this.records.length && this.records[end].transaction === transaction) {
      end += 1;
    }
    return this.take(end - this.place);
  }

  /** Send records; return the error of one that failed, or undefined. */
  async send(client, records, txn) {
    const attempts = records.map((record) => `${this.session}/${record.ordinal}`);
    const at = now();
    this.history.write("called", ...records.map((record, place) => ({
      attempt: attempts[place], record: record.record, key: record.key, digest: record.digest,
      ordinal: record.ordinal, session: this.session, topic: record.topic, called_at: at,
      clock: CLOCK, ...(txn === undefined ? {} : { txn }),
    })));
    this.#counts.called += records.length;
    const outcomes = await client.send(records.map((record, place) => ({
      topic: record.topic, key: record.key, value: valueOf(record),
      headers: headersOf(record, attempts[place]),
    })));
    let failed;
    outcomes.forEach((outcome, place) => {
      const row = { attempt: attempts[place], returned_at: now() };
      if (outcome.error === undefined) {
        this.#counts.ok += 1;
        this.#returned.push({ ...row, outcome: "ok", ...outcome });
      } else {
        this.#counts.not_ok += 1;
        failed = outcome.error;
        const known = outcome.certain ? "fail" : "info";
        this.#returned.push({ ...row, outcome: known, error: words(failed) });
      }
    });
    return failed;
  }

  /** Write outcomes, then tell the counts; at most every 0.1 s unless all is done. */
  report(done) {
    if (!done && now() - this.#toldAt < REPORT_EVERY) {
      return;
    }
    this.#toldAt = now();
    if (this.#returned.length > 0) {
      this.history.write("returned", ...this.#returned);
      this.#returned = [];
    }
    fs.writeSync(1, `${JSON.stringify({ ...this.#counts, timeouts: {}, done })}\n`);
  }

  async finish(client) {
    clearInterval(this.telling);
    this.report(true);
    await Promise.race([client.close(), sleep(2000)]);
    process.exit(0);
  }
}

/** Send the records of a task with a client of `open()`. */
export async function run(task, open) {
  if (task.transactional_id === null) {
    await runRecords(task, await open());
  } else {
    await runTransactions(task, open);
  }
}

/** Send every record without transactions. */
async function runRecords(task, client) {
  const sending = new Sending(task);
  while (!sending.over) {
    const block = sending.take(sending.orders.allowed());
    if (block.length === 0) {
      await sleep(PAUSE_MS);
      continue;
    }
    sending.orders.took(block.length);
    await sending.send(client, block);
  }
  await sending.finish(client);
}

/** Send every transaction; a client that cannot go on is replaced by a new one of `open()`. */
async function runTransactions(task, open) {
  const sending = new Sending(task);
  let client = await opened(open);
  while (!sending.over) {
    if (sending.orders.allowed() < 1) {
      await sleep(PAUSE_MS);
      continue;
    }
    const group = sending.takeTransaction();
    sending.orders.took(group.length);
    for (let sent = false; !sent && !sending.orders.enough; ) {
      const ended = await transaction(sending, client, group);
      sent = ended.sent;
      if (!ended.usable) {
        await Promise.race([client.close().catch(() => {}), sleep(2000)]);
        sending.newSession();
        client = await opened(open);
      }
    }
  }
  await sending.finish(client);
}

/**
 * Send a transaction and end it. Return whether the records were sent, which they are not if it
 * could not begin, and whether the client is usable.
 */
async function transaction(sending, client, group) {
  const { session, task, history } = sending;
  const row = {
    txn: `${session}/t${group[0].transaction}`, session, transactional_id: task.transactional_id,
    outcome: "info", began_at: now(), clock: CLOCK,
  };
  history.write("txns", row);
  const ended = ({ outcome, error }) => {
    const why = error === undefined ? {} : { error: words(error) };
    history.write("txns", { ...row, outcome, ended_at: now(), ...why });
  };
  try {
    await client.begin();
  } catch (error) {
    ended({ outcome: "info", error });
    return { sent: false, usable: false };
  }
  const failed = await sending.send(client, group, row.txn);
  const commit = !group[0].abort && failed === undefined;
  if (commit) {
    row.commit_called_at = now();
    history.write("txns", row);
  }
  const ending = await client.end(commit);
  ended({ error: failed, ...ending });
  return { sent: true, usable: ending.usable };
}

/** Return a new client; try until there is one. */
async function opened(open) {
  for (;;) {
    try {
      return await open();
    } catch (error) {
      console.error(`no new client: ${words(error)}`);
      await sleep(200);
    }
  }
}
