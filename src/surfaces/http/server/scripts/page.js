const $ = (id) => document.getElementById(id);
const seen = new Set();
// The fragment is never sent anywhere, and it leaves the address before anything else happens.
const given = new URLSearchParams(location.hash.slice(1)).get("k");
if (given !== null) history.replaceState(null, "", location.pathname);
let session = sessionStorage.getItem("session") ?? "";
let stopped = new AbortController();
let unsent = null;
const say = (text) => {
  $("status").textContent = text;
};
const ask = (path, options = {}) =>
  fetch("/api" + path, {
    ...options,
    headers: { ...options.headers, ...(session && { authorization: "Bearer " + session }) },
  });
const askForToken = (why = "A token is required.") => {
  session = "";
  sessionStorage.removeItem("session");
  $("key").hidden = false;
  say(why);
};
/** Exchanges the code of a link, or the token somebody typed, for a session of this tab. */
const enter = async (key) => {
  session = "";
  const response = await ask("/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(key),
  });
  const body = await response.json();
  if (!response.ok) return askForToken(body.error.message + " " + body.error.fix);
  session = body.session;
  sessionStorage.setItem("session", session);
  await start();
};
const newId = () =>
  "page-" + [...crypto.getRandomValues(new Uint8Array(8))].map((b) => b.toString(16).padStart(2, "0")).join("");

const show = (entry) => {
  if (seen.has(entry.entry_id)) return;
  seen.add(entry.entry_id);
  if (entry.author_label !== null) {
    const name = document.createElement("h2");
    name.className = "name";
    name.dir = "auto";
    name.textContent = entry.author_label;
    $("stream").append(name);
  }
  const line = document.createElement("p");
  line.className = "line";
  line.dir = "auto";
  line.textContent = entry.text;
  $("stream").append(line);
};

// EventSource cannot send a token, so the events are read with fetch.
const follow = async (id, cursor, signal) => {
  let after = cursor;
  while (!signal.aborted) {
    try {
      const response = await ask("/worlds/" + id + "/stream" + (after ? "?after=" + encodeURIComponent(after) : ""), {
        signal,
      });
      if (response.status === 401) return askForToken();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const blocks = (text + value).split("\n\n");
        text = blocks.pop();
        for (const block of blocks) {
          const field = (name) =>
            block
              .split("\n")
              .find((one) => one.startsWith(name + ": "))
              ?.slice(name.length + 2);
          if (field("event") === "entry") {
            after = field("id");
            show(JSON.parse(field("data")));
          }
          if (field("event") === "status") say(JSON.parse(field("data")).phase.toLowerCase());
          if (field("event") === "reset") return open(id);
        }
      }
    } catch {
      if (signal.aborted) return;
      say("Reconnecting.");
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
};

const open = async (id) => {
  stopped.abort();
  stopped = new AbortController();
  seen.clear();
  $("stream").textContent = "";
  const page = await (await ask("/worlds/" + id + "/projection")).json();
  page.entries.forEach(show);
  follow(id, page.cursor_after, stopped.signal);
  say("Connected.");
};

const start = async () => {
  const response = await ask("/worlds");
  if (response.status === 401) return askForToken((await response.json()).error.message);
  $("key").hidden = true;
  const { worlds } = await response.json();
  $("world").replaceChildren(...worlds.map((world) => new Option(world.title, world.world_id)));
  if (worlds.length === 0) return say("There are no worlds yet: verbatim world new TITLE");
  await open(worlds[0].world_id);
};

$("world").addEventListener("change", () => open($("world").value));
$("api").addEventListener("toggle", async () => {
  if (!$("api").open || $("api").querySelector("table") !== null) return;
  const text = await (await ask("/docs")).text();
  const table = new DOMParser().parseFromString(text, "text/html").querySelector("table");
  if (table !== null) $("api").append(document.importNode(table, true));
});
$("key").addEventListener("submit", (event) => {
  event.preventDefault();
  enter({ token: $("token").value });
});
$("say").addEventListener("submit", async (event) => {
  event.preventDefault();
  const id = $("world").value;
  const text = $("text").value;
  // What may have arrived is sent again under the same id, so that it happens once.
  if (unsent === null || unsent.text !== text || unsent.world !== id) unsent = { text, world: id, request_id: newId() };
  try {
    const shown = await (await ask("/worlds/" + id)).json();
    const response = await ask("/worlds/" + id + "/invocations", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        request_id: unsent.request_id,
        invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
        operator: { operator_id: (shown.settings ?? shown).operator_id, input_text: text },
        mode: { kind: "BEAT" },
      }),
    });
    const body = await response.json();
    if (response.status === 202) return say("Still being worked on; send it again to see what came of it.");
    if (!response.ok) return say(body.error.message + " " + body.error.fix);
    unsent = null;
    body.stream.entries.forEach(show);
    if ($("text").value === text) $("text").value = "";
    say((response.headers.get("verbatim-beat-result") ?? "").toLowerCase());
  } catch {
    say("The server cannot be reached; your text is still here.");
  }
});
if (given === null) start();
else enter({ code: given });
