// Which faults can be injected into the thing that was clicked on, and with which arguments.

/** Return the faults of a thing: each with its fixed arguments and the ones to choose. */
export function faultsOf(thing, kinds, choices) {
  const offered = kinds.filter((kind) => kind.offered);
  switch (thing.is) {
    case "broker":
      return [...first(offered, ["TARGET"], [thing.name]), ...first(offered, ["TARGET|all"], [thing.name])];
    case "link": {
      const found = first(offered, ["SOURCE", "TARGET"], [thing.source, thing.target]);
      const audience = choices.AUDIENCE.includes(thing.source);
      return audience ? [...first(offered, ["AUDIENCE", "TARGET"], [thing.source, thing.target]), ...found] : found;
    }
    case "partition": {
      const leader = `leader:${thing.name}`;
      return [...first(offered, ["TOPIC-PARTITION"], [thing.name]), ...first(offered, ["TARGET"], [leader])];
    }
    case "group":
      return first(offered, ["GROUP"], [thing.name]);
    case "transaction":
      return first(offered, ["TRANSACTIONAL_ID"], [thing.name]);
    case "process":
      return processFaults(thing.process, offered);
    default:
      return offered.filter((kind) => !clickable(kind)).map((kind) => ({ kind, fixed: [], open: kind.takes }));
  }
}

function first(kinds, takes, fixed) {
  return kinds
    .filter((kind) => takes.every((word, n) => kind.takes[n] === word))
    .map((kind) => ({ kind, fixed, open: kind.takes.slice(takes.length) }));
}

function processFaults(process, kinds) {
  return kinds
    .filter((kind) => process.verbs[kind.name])
    .map((kind) => ({
      kind,
      // One of several, such as member-0: which one is for the user to say.
      ...(process.written.includes("<n>") ? { fixed: [], open: [process.written], examples: [process.name] } : { fixed: [process.name], open: [] }),
      windows: process.verbs[kind.name],
    }));
}

function clickable(kind) {
  const [word, next] = kind.takes;
  if (kind.name === "message") return true;
  if (word === "SOURCE" || word === "AUDIENCE") return next === "TARGET";
  return ["TARGET", "TARGET|all", "TOPIC-PARTITION", "GROUP", "TRANSACTIONAL_ID"].includes(word);
}
