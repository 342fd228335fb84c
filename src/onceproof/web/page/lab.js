// The page of a lab or a run.

import { html, render, useEffect, useState } from "./vendor/htm-preact.module.js";
import { ask, begin, follow, report } from "./connection.js";
import { FaultDialog, Faults, Held, Messages } from "./faults.js";
import { EMPTY, after, clock } from "./history.js";
import { Charts, Stage } from "./stage.js";
import { Verdict } from "./verdict.js";

const AGAIN_MS = 2000;
const EVENTS = 200;

function Page() {
  const [found, setFound] = useState(EMPTY);
  const [lab, setLab] = useState(null);
  const [trouble, setTrouble] = useState("");
  const [thing, setThing] = useState(null);
  const [address, setAddress] = useState(null);

  useEffect(() => {
    let close = () => {};
    let over = false;
    const start = () => {
      let known = EMPTY;
      close = follow(
        (lines) => {
          for (const line of lines) known = after(known, line);
          setFound(known);
          setTrouble("");
          if (known.over && !over) {
            over = true;
            (known.reported ? report().then(setAddress) : Promise.resolve()).finally(close);
          }
        },
        (error) => {
          if (over) return;
          setTrouble(error.message);
          if (error.status !== 401) setTimeout(start, AGAIN_MS);
        },
      );
    };
    begin().catch((error) => setTrouble(error.message)).then(start);
    return () => close();
  }, []);

  const ready = found.status !== null;
  useEffect(() => {
    if (!ready) return;
    Promise.all(["/lab/", "/lab/kinds", "/lab/choices"].map((path) => ask("GET", path)))
      .then(([about, kinds, choices]) => setLab({ about, kinds, choices }))
      .catch(() => {}); // a run is only looked at
  }, [ready]);

  const control = lab && !found.over && found.phase === "disturb";
  const open = control ? setThing : null;
  return html`
    <a class="skip" href="#main">Skip to the stage</a>
    <${Head} found=${found} control=${control} />
    <main id="main" class="page two">
      ${trouble && html`<p role="alert" class="trouble">${trouble}</p>`}
      <div class="wholly">
      ${found.earlier.map((run) => html`<p class="meta"><b>${run.scenario}</b>: ${run.verdicts.join(", ") || "not judged"} <span class="id">${run.report}</span></p>`)}
      ${found.claims && html`<${Verdict} claims=${found.claims} findings=${found.findings} address=${address} path=${found.reported} />`}
      ${control && ready && html`<${Held} faults=${found.status.faults} choices=${lab.choices} />`}
      </div>
      <div>
      ${found.over
        ? html`<p class="quiet">The stage is torn down.</p>`
        : ready
          ? html`<${Stage} found=${found} about=${lab?.about} choices=${lab?.choices} open=${open} />`
          : html`<p class="quiet" role="status">${trouble ? "" : "Waiting for the stage …"}</p>`}
      ${control && html`<${Messages} kinds=${lab.kinds} choices=${lab.choices} />`}
      </div>
      <div>
      ${ready && html`<${Charts} found=${found} />`}
      ${ready && html`<${Faults} faults=${found.status.faults} control=${control} others=${() => setThing({ is: "other", name: "Other faults" })} />`}
      ${control && html`<${Notes} />`}
      <${Events} events=${found.events} />
      </div>
    </main>
    ${thing && control ? html`<${FaultDialog} thing=${thing} kinds=${lab.kinds} choices=${lab.choices} close=${() => setThing(null)} />` : null}
  `;
}

function Head({ found, control }) {
  const [other, setOther] = useState("");
  const work = found.status?.workload;
  const [trouble, setTrouble] = useState("");
  const [sure, setSure] = useState(false);
  const end = (judge) => () => ask("POST", "/lab/end", { judge }).catch((error) => setTrouble(error.message));
  return html`<header class="top">
    <div class="inner">
      <p class="eyebrow"><span class="brand">onceproof</span>${found.run && html`<span>${found.run.scenario}</span><span>seed ${found.run.seed}</span><span class="id">${found.run.run}</span>`}</p>
      <h1>${found.run?.title ?? "onceproof"}</h1>
      <p class="lead" role="status">
        <span>${found.over ? "over" : found.phase ?? "starting"}</span>
        ${work && html`<span>${work.acknowledged.toLocaleString("en")} of ${work.records.toLocaleString("en")} records acknowledged</span>`}
      </p>
      <p class="actions">
        ${control && html`<button class="act" onClick=${end(true)}>End and judge</button><button onClick=${sure ? end(false) : () => setSure(true)}>${sure ? "Throw this lab away" : "End without a verdict"}</button>`}
        ${found.over ? null : html`<button onClick=${async () => setOther((await ask("POST", "/links")).address)}>Link for another browser</button>`}
      </p>
      ${trouble && html`<p role="alert" class="trouble">${trouble}</p>`}
      ${other && html`<label class="link-for">For one browser: <input readonly value=${other} onFocus=${(event) => event.target.select()} /></label>`}
    </div>
  </header>`;
}

function Notes() {
  const [text, setText] = useState("");
  const [trouble, setTrouble] = useState("");
  const add = async (event) => {
    event.preventDefault();
    try {
      await ask("POST", "/lab/notes", { text });
      setText("");
      setTrouble("");
    } catch (error) {
      setTrouble(error.message);
    }
  };
  return html`<section aria-labelledby="notes">
    <h2 id="notes">Note</h2>
    <form class="note" onSubmit=${add}>
      <label>For the report <input value=${text} onInput=${(event) => setText(event.target.value)} required maxlength="2000" autocomplete="off" /></label>
      <button>Add</button>
    </form>
    ${trouble && html`<p role="alert" class="trouble">${trouble}</p>`}
  </section>`;
}

function Events({ events }) {
  const [processes, setProcesses] = useState(false);
  const shown = events.filter((event) => processes || event.kind !== "process").slice(-EVENTS).reverse();
  return html`<section aria-labelledby="events">
    <h2 id="events">What happened</h2>
    <label><input type="checkbox" checked=${processes} onChange=${(event) => setProcesses(event.target.checked)} /> with processes</label>
    <ol class="events">
      ${shown.map((event) => html`<li class="e-${event.kind}"><span class="at">${clock(event.at)}</span> <b>${event.kind}</b> <span>${event.text}</span></li>`)}
    </ol>
  </section>`;
}

const place = document.getElementById("page");
place.textContent = "";
render(html`<${Page} />`, place);
