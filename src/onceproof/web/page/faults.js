// The dialog that injects a fault, the faults so far, and the message that one of them holds.

import { html, useEffect, useRef, useState } from "./vendor/htm-preact.module.js";
import { ask } from "./connection.js";
import { faultsOf } from "./fits.js";

const LABELS = { "request|response": "direction", API: "API", MS: "milliseconds" };

/** The faults of one thing, in a dialog. */
export function FaultDialog({ thing, kinds, choices, close }) {
  const dialog = useRef(null);
  useEffect(() => {
    dialog.current.showModal();
  }, []);
  const faults = faultsOf(thing, kinds, choices);
  return html`<dialog ref=${dialog} onClose=${close} aria-labelledby="thing">
    <h2 id="thing">${thing.name}</h2>
    ${faults.length ? null : html`<p>No fault of this lab acts on it.</p>`}
    ${faults.map((fault) => html`<${FaultForm} key=${fault.kind.name + fault.fixed} ...${fault} choices=${choices} done=${() => dialog.current?.close()} />`)}
    <p class="actions"><button onClick=${() => dialog.current.close()}>Close</button></p>
  </dialog>`;
}

function FaultForm({ kind, fixed, open, examples, windows, choices, done }) {
  const given = examples ?? kind.example.split(" ").slice(1 + fixed.length);
  const [trouble, setTrouble] = useState("");
  const [busy, setBusy] = useState(false);
  const form = useRef(null);
  const inject = async (event) => {
    event.preventDefault();
    const fields = [...new FormData(form.current).entries()];
    const words = fields.filter(([name]) => name !== "--at").map(([, value]) => value.trim());
    const at = fields.find(([name, value]) => name === "--at" && value)?.[1];
    const args = [...fixed, ...words, ...(at ? ["--at", at] : [])];
    setBusy(true);
    try {
      await ask("POST", "/lab/faults", { fault: kind.name, arguments: args });
      done?.();
    } catch (error) {
      setTrouble(error.message);
    } finally {
      setBusy(false);
    }
  };
  return html`<form ref=${form} class="fault" onSubmit=${inject} aria-label=${kind.name}>
    <button class="act" disabled=${busy}>${busy ? "…" : kind.name}</button>
    <p class="quiet">${kind.says}</p>
    ${open.map((word, n) => html`<${Field} key=${n} word=${word} name=${`${n} ${word}`} choices=${choices} example=${given[n]} />`)}
    ${windows?.length
      ? html`<label>when <select name="--at"><option value="">at once</option>${windows.map((window) => html`<option value=${window}>${window}</option>`)}</select></label>`
      : null}
    ${trouble && html`<p role="alert" class="trouble">${trouble}</p>`}
  </form>`;
}

function Field({ word, name, choices, example }) {
  const values = choices[word] ?? (word.includes("|") && word === word.toLowerCase() ? word.split("|") : null);
  const label = LABELS[word] ?? (word.includes("|") ? "which" : word.toLowerCase().replaceAll("_", " "));
  if (values && word !== "TARGET") {
    const chosen = values.includes(example) ? example : values[0];
    return html`<label>${label} <select name=${name}>${values.map((value) => html`<option value=${value} selected=${value === chosen}>${value}</option>`)}</select></label>`;
  }
  return html`<label>${label} <input name=${name} value=${example ?? ""} required autocomplete="off" /></label>`;
}

/** Wait for a message of the protocol, and act on it. */
export function Messages({ kinds, choices }) {
  const kind = kinds.find((one) => one.name === "message");
  if (!kind?.offered) return null;
  return html`<section aria-labelledby="messages">
    <h2 id="messages">Messages</h2>
    <p class="quiet">Act on the next message of Kafka's protocol. A held one can be seen, then let go, lost or answered with an error.</p>
    <${FaultForm} kind=${kind} fixed=${[]} open=${kind.takes} examples=${["producer", "request", "Produce", "hold"]} choices=${choices} />
  </section>`;
}

/** The messages that faults hold now. */
export function Held({ faults, choices }) {
  const holding = faults.filter((fault) => fault.active && fault.holding);
  return holding.map((fault) => html`<${HeldMessage} key=${fault.name} fault=${fault} choices=${choices} />`);
}

function HeldMessage({ fault, choices }) {
  const [trouble, setTrouble] = useState("");
  const [error, setError] = useState("NOT_COORDINATOR");
  const place = useRef(null);
  useEffect(() => place.current.scrollIntoView({ block: "nearest" }), []);
  const held = fault.messages.filter((message) => message.became === "held");
  const [message] = held;
  const [source] = message.link.split("→");
  const decide = (messages, again) => async () => {
    try {
      if (again) {
        await ask("POST", "/lab/faults", { fault: "message", arguments: [source, message.direction, message.api, "hold"] });
      }
      await ask("POST", `/lab/faults/${fault.name}/heal`, { messages });
    } catch (error) {
      setTrouble(error.message);
    }
  };
  return html`<section ref=${place} class="held" aria-label="Held message">
    <h2>Held: ${held.length > 1 ? `${held.length} × ` : ""}${message.api} ${message.direction}</h2>
    <p>By ${fault.name}. Everything behind it on its connection, in this direction, waits too; if it is lost, so is that.</p>
    ${held.map((one) => html`<dl key=${one.link}>${Object.entries({ link: one.link, ...one }).filter(([name, value]) => shown(name, value)).map(([name, value]) => html`<div><dt>${name.replaceAll("_", " ")}</dt><dd>${written(value)}</dd></div>`)}</dl>`)}
    <p class="actions">
      <button class="act" onClick=${decide("forward")}>Let it go</button>
      <button onClick=${decide("forward", true)}>Let it go, hold the next</button>
      <button onClick=${decide("drop")}>Lose it</button>
      <label>error <select value=${error} onChange=${(event) => setError(event.target.value)}>${choices.errors.map((one) => html`<option value=${one}>${one}</option>`)}</select></label>
      <button onClick=${decide(`error:${error}`)}>Answer with it</button>
    </p>
    ${trouble && html`<p role="alert" class="trouble">${trouble}</p>`}
  </section>`;
}

function shown(name, value) {
  const empty = value === null || (typeof value === "object" && !Object.keys(value).length);
  return !empty && !["event", "rule", "at", "direction", "api", "became"].includes(name);
}

function written(value) {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Every fault so far, with its evidence. */
export function Faults({ faults, control, others }) {
  const [trouble, setTrouble] = useState("");
  const heal = (name) => async () => {
    setTrouble("");
    try {
      await ask("POST", name ? `/lab/faults/${name}/heal` : "/lab/heal");
    } catch (error) {
      setTrouble(error.message);
    }
  };
  const active = faults.some((fault) => fault.active);
  return html`<section aria-labelledby="faults">
    <h2 id="faults">Faults</h2>
    ${control && html`<p class="actions">
      <button onClick=${others}>Other faults …</button>
      <button onClick=${heal()} disabled=${!active}>Heal all</button>
    </p>`}
    ${trouble && html`<p role="alert" class="trouble">${trouble}</p>`}
    ${faults.length ? null : html`<p class="quiet">None yet.${control ? " Click a broker, a link, a process or a partition." : ""}</p>`}
    <ul class="faults">
      ${[...faults].reverse().map((fault) => html`<li class="fault-row">
        <p><b>${fault.name}</b> <span class="state s-${fault.state === "healed" ? "up" : fault.state === "failed" ? "down" : "paused"}">${fault.state}</span> <span class="quiet">${fault.does}</span></p>
        <p class="evidence">${fault.evidence ?? fault.detail}</p>
        ${control && fault.active ? html`<button onClick=${heal(fault.name)}>Heal ${fault.name}</button>` : null}
      </li>`)}
    </ul>
  </section>`;
}
