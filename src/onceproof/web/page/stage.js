// Brokers, processes, links, partitions, groups and transactions; each opens its faults.

import { html } from "./vendor/htm-preact.module.js";
import { Chart } from "./charts.js";
import { rates } from "./history.js";

export function Stage({ found, about, choices, open }) {
  const { status, cluster } = found;
  const brokers = Object.keys(status.nodes).filter((node) => node.startsWith("broker-"));
  return html`
    <section aria-labelledby="stage">
      <h2 id="stage">Stage</h2>
      <ul class="cards">
        ${Object.entries(status.nodes).map(([node, state]) => {
          const process = choices?.processes.find((one) => one.node === node);
          const thing = brokers.includes(node) ? { is: "broker", name: node } : { is: "process", name: node, process };
          const leads = status.partitions.filter((one) => one.leader === node).length;
          return html`<li><${Card} thing=${thing} open=${process || brokers.includes(node) ? open : null} state=${state}
            says=${brokers.includes(node) ? `leads ${leads} of ${status.partitions.length} partitions` : ""} /></li>`;
        })}
        ${(choices?.processes ?? [])
          .filter((process) => !process.node && Object.keys(process.verbs).length)
          .map((process) => html`<li><${Card} thing=${{ is: "process", name: process.name, process }} open=${open} /></li>`)}
      </ul>
      ${status.pipeline && html`<p class="meta">Pipeline ${status.pipeline.state}: ${status.pipeline.progress || "nothing committed yet"}</p>`}
    </section>
    ${about && html`<${Links} links=${about.links} disturbed=${status.links} open=${open} />`}
    <${Partitions} partitions=${status.partitions} ends=${cluster.ends} open=${open} />
    <${Groups} groups=${cluster.groups} open=${open} />
    <${Transactions} transactions=${cluster.transactions} open=${open} />
  `;
}

function Card({ thing, open, state, says }) {
  const content = html`<b>${thing.name}</b>${state && html` <span class="state s-${state}">${state}</span>`}
    ${says && html`<small>${says}</small>`}`;
  return open
    ? html`<button class="card" onClick=${() => open(thing)}>${content}</button>`
    : html`<div class="card">${content}</div>`;
}

export function Charts({ found: { samples } }) {
  const lag = samples.filter((sample) => sample.lag !== null).map((sample) => ({ now: sample.now, value: sample.lag }));
  return html`<section aria-label="Throughput and lag" class="charts">
    <${Chart} title="Acknowledged" points=${rates(samples, "acknowledged")} unit="records/s" />
    <${Chart} title="Appended, with markers" points=${rates(samples, "ends")} unit="entries/s" />
    <${Chart} title="Lag of all groups" points=${lag} unit="records" />
  </section>`;
}

function Links({ links, disturbed, open }) {
  const pairs = links.map((link) => link.split("→"));
  const [sources, targets] = [0, 1].map((side) => [...new Set(pairs.map((pair) => pair[side]))].sort());
  return html`<section aria-labelledby="links">
    <h2 id="links">Links</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Links, scroll sideways">
      <table>
        <thead><tr><th scope="col">from</th>${targets.map((target) => html`<th scope="col">to ${target}</th>`)}</tr></thead>
        <tbody>
          ${sources.map((source) => html`<tr><th scope="row">${source}</th>
            ${targets.map((target) => {
              const link = `${source}→${target}`;
              if (!links.includes(link)) return html`<td class="none">–</td>`;
              const state = disturbed[link] ?? "open";
              return html`<td><button class="link ${disturbed[link] ? "disturbed" : ""}" aria-label="${source} to ${target}: ${state}"
                onClick=${() => open({ is: "link", name: link, source, target })}>${state}</button></td>`;
            })}</tr>`)}
        </tbody>
      </table>
    </div>
  </section>`;
}

function Partitions({ partitions, ends, open }) {
  const end = (one) => ends.find((each) => each.topic === one.topic && each.partition === one.partition)?.end;
  return html`<section aria-labelledby="partitions">
    <h2 id="partitions">Partitions</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Partitions, scroll sideways">
      <table>
        <thead><tr><th scope="col">Partition</th><th scope="col">Leader</th><th scope="col">In sync</th><th scope="col">End offset</th><th scope="col">Brokers that differ</th></tr></thead>
        <tbody>
          ${partitions.map((one) => {
            const name = `${one.topic}-${one.partition}`;
            const dissent = Object.entries(one.dissent).map(([broker, leader]) => `${broker} reports ${leader ?? "none"}`);
            return html`<tr><th scope="row"><button class="link" onClick=${() => open({ is: "partition", name })}>${name}</button></th>
              <td>${one.leader ?? "none"}</td>
              <td class=${one.in_sync.length < one.replicas.length ? "disturbed" : ""}>${one.in_sync.join(" ")} of ${one.replicas.join(" ")}</td>
              <td class="num">${end(one)?.toLocaleString("en") ?? "–"}</td><td>${dissent.join(", ")}</td></tr>`;
          })}
        </tbody>
      </table>
    </div>
  </section>`;
}

function Groups({ groups, open }) {
  if (!groups.length) return null;
  return html`<section aria-labelledby="groups">
    <h2 id="groups">Consumer groups</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Consumer groups, scroll sideways">
      <table>
        <thead><tr><th scope="col">Group</th><th scope="col">State</th><th scope="col">Lag</th><th scope="col">Members and their partitions</th></tr></thead>
        <tbody>
          ${groups.map((group) => html`<tr><th scope="row"><button class="link" onClick=${() => open({ is: "group", name: group.group })}>${group.group}</button></th>
            <td>${group.state}</td><td class="num">${group.lag.toLocaleString("en")}</td>
            <td>${group.members.map((one) => html`<div>${one.client}: ${one.partitions.join(" ") || "none"}</div>`)}</td></tr>`)}
        </tbody>
      </table>
    </div>
  </section>`;
}

function Transactions({ transactions, open }) {
  return html`<section aria-labelledby="transactions">
    <h2 id="transactions">Open transactions</h2>
    ${transactions.length
      ? html`<ul class="plain">${transactions.map((one) => html`<li><button class="link" onClick=${() => open({ is: "transaction", name: one.transactional_id })}>${one.transactional_id}</button> ${one.state}</li>`)}</ul>`
      : html`<p class="quiet">None at the last look.</p>`}
  </section>`;
}
