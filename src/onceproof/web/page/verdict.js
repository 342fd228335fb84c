// The verdict of each claim, and the report.

import { html } from "./vendor/htm-preact.module.js";

export function Verdict({ claims, findings, address, path }) {
  return html`<section aria-labelledby="verdict">
    <h2 id="verdict">Verdict</h2>
    <ul class="claims">
      ${claims.map((claim) => html`<li class="v-${claim.verdict}">
        <div><span class="verdict">${claim.verdict}</span></div>
        <div><h3>${claim.claim}</h3><p>${claim.reason}</p></div>
        <div></div>
      </li>`)}
    </ul>
    ${findings.map((finding) => html`<div class="finding-story"><h3>${finding.anomaly}, ${finding.count}</h3>${finding.sentences.map((sentence) => html`<p>${sentence}</p>`)}</div>`)}
    ${address ? html`<p><a href=${address} target="_blank" rel="noopener">Open the report</a></p>` : null}
    ${path && html`<p class="meta">Report: <span class="id">${path}</span></p>`}
  </section>`;
}
