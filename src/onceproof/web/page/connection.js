// The session of this browser, requests to the lab, and the lines that it follows.

const KEPT = "onceproof-session";

/** Begin a session with the token of the link, or go on with the one that this tab has. */
export async function begin() {
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  const { session } = await ask("POST", "/session", { token });
  sessionStorage.setItem(KEPT, session);
}

/** Send a request; throw an Error with the server's words if it is refused. */
export async function ask(method, path, body) {
  const answer = await fetch(path, { method, headers: headers(), body: body && JSON.stringify(body) });
  const content = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(content.error), { status: answer.status });
  return content;
}

/** Fetch the report and return an address that this browser can open. */
export async function report() {
  const answer = await fetch("/report", { headers: headers() });
  return answer.ok ? URL.createObjectURL(await answer.blob()) : null;
}

/** Call `take` with each line of the stream, until it is closed with the returned function. */
export function follow(take, failed) {
  const stop = new AbortController();
  const read = async () => {
    const answer = await fetch("/events", { headers: headers(), signal: stop.signal });
    if (!answer.ok) throw Object.assign(new Error((await answer.json()).error), { status: answer.status });
    let rest = "";
    for (const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) throw new Error("the connection was closed");
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      take(lines.map((line) => JSON.parse(line)));
    }
  };
  read().catch((error) => stop.signal.aborted || failed(error));
  return () => stop.abort();
}

function headers() {
  return { Authorization: `Bearer ${sessionStorage.getItem(KEPT)}`, "Content-Type": "application/json" };
}
