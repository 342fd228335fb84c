// What the lines of the stream amount to.

const SHOWN = { fault: "fault", hazard: "hazard", process: "process", note: "note", "phase-began": "phase", finding: "finding" };
const SAMPLES = 120;

export const EMPTY = {
  earlier: [],
  run: null,
  phase: null,
  events: [],
  claims: null,
  findings: [],
  reported: null,
  over: null,
  status: null,
  cluster: null,
  samples: [],
};

/** Return the history after one more line. */
export function after(found, line) {
  const more = SHOWN[line.event]
    ? { events: [...found.events, { at: line.seconds, kind: SHOWN[line.event], text: words(line) }] }
    : {};
  switch (line.event) {
    case "run-began":
      return { ...EMPTY, run: line, earlier: found.run ? [...found.earlier, outcome(found)] : [] };
    case "phase-began":
      return { ...found, ...more, phase: line.phase };
    case "finding":
      return { ...found, ...more, findings: [...found.findings, line] };
    case "judged":
      return { ...found, claims: line.claims };
    case "report":
      return { ...found, reported: line.html };
    case "stream-ended":
      return { ...found, over: line };
    case "state":
      return { ...found, status: line.status, cluster: line.cluster, samples: sampled(found.samples, line) };
    default:
      return { ...found, ...more };
  }
}

function outcome({ run, claims, reported }) {
  return { scenario: run.scenario, verdicts: (claims ?? []).map((one) => `${one.claim} ${one.verdict}`), report: reported };
}

function words(line) {
  switch (line.event) {
    case "fault":
      return `${line.fault}: ${line.state}: ${line.detail}`;
    case "hazard":
      return `${line.hazard}: ${line.detail}`;
    case "process":
      return `${line.instance}: ${line.state}`;
    case "note":
      return line.text;
    case "phase-began":
      return `${line.phase} begins`;
    default:
      return `${line.anomaly}: ${line.sentences[0] ?? line.count}`;
  }
}

function sampled(samples, { now, status, cluster }) {
  const sample = {
    now,
    acknowledged: status.workload?.acknowledged ?? null,
    ends: cluster.ends.reduce((sum, one) => sum + one.end, 0),
    lag: cluster.groups.length ? cluster.groups.reduce((sum, group) => sum + group.lag, 0) : null,
  };
  return [...samples, sample].slice(-SAMPLES);
}

/** Return a value per second between samples, such as records appended. */
export function rates(samples, name) {
  return samples.slice(1).flatMap((sample, n) => {
    const before = samples[n];
    if (sample[name] === null || before[name] === null) return [];
    return [{ now: sample.now, value: Math.max(0, (sample[name] - before[name]) / (sample.now - before.now)) }];
  });
}

export function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
