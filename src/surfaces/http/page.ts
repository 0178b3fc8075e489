/** A small page that proves the API works; the Studio takes its place. */
export const PAGE_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Verbatim</title>
<link rel="stylesheet" href="/page.css">
</head>
<body>
<main>
<h1>Verbatim</h1>
<p id="status" role="status">Looking for worlds.</p>
<label for="world">World</label>
<select id="world"></select>
<div id="stream" role="log" aria-live="off" tabindex="0" aria-label="Stream"></div>
<form id="say">
<label for="text">Say something</label>
<textarea id="text" rows="2"></textarea>
<button type="submit">Send</button>
</form>
<p><a href="/api/docs">API</a> · <a href="/api/openapi.json">OpenAPI</a> · <a href="/api/health">Health</a></p>
</main>
<script src="/page.js" type="module"></script>
</body>
</html>
`;

export const PAGE_CSS = `:root { color-scheme: light dark; font: 1rem/1.6 Georgia, serif; }
main { max-width: 68ch; margin: 0 auto; padding: 1rem; }
#stream { min-height: 8rem; white-space: pre-wrap; }
.name { font-variant: small-caps; font-size: .9rem; display: block; margin-top: .6rem; }
.line { display: block; unicode-bidi: isolate; }
textarea, select, button { font: inherit; width: 100%; min-height: 44px; box-sizing: border-box; }
button { margin-top: .5rem; }
`;

export const PAGE_JS = `const $ = (id) => document.getElementById(id);
const seen = new Set();
let source;
const say = (text) => { $("status").textContent = text; };
const show = (entry) => {
  if (seen.has(entry.entry_id)) return;
  seen.add(entry.entry_id);
  if (entry.author_label !== null) {
    const name = document.createElement("span");
    name.className = "name";
    name.textContent = entry.author_label;
    $("stream").append(name);
  }
  const line = document.createElement("span");
  line.className = "line";
  line.dir = "auto";
  line.textContent = entry.text;
  $("stream").append(line);
};
const open = async (id) => {
  source?.close();
  seen.clear();
  $("stream").textContent = "";
  const page = await (await fetch("/api/worlds/" + id + "/projection")).json();
  page.entries.forEach(show);
  const after = page.cursor_after === null ? "" : "?after=" + encodeURIComponent(page.cursor_after);
  source = new EventSource("/api/worlds/" + id + "/stream" + after);
  source.addEventListener("entry", (event) => show(JSON.parse(event.data)));
  source.addEventListener("status", (event) => say(JSON.parse(event.data).phase.toLowerCase()));
  say("Connected.");
};
const { worlds } = await (await fetch("/api/worlds")).json();
if (worlds.length === 0) say("There is no world yet: verbatim world new TITLE");
for (const world of worlds) $("world").append(new Option(world.title, world.world_id));
$("world").addEventListener("change", () => open($("world").value));
if (worlds.length > 0) await open(worlds[0].world_id);
$("say").addEventListener("submit", async (event) => {
  event.preventDefault();
  const id = $("world").value;
  const shown = await (await fetch("/api/worlds/" + id)).json();
  const response = await fetch("/api/worlds/" + id + "/invocations", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      request_id: crypto.randomUUID(),
      invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
      operator: { operator_id: shown.settings.operator_id, input_text: $("text").value },
      mode: { kind: "BEAT" },
    }),
  });
  const body = await response.json();
  if (!response.ok) return say(body.error.message);
  body.stream.entries.forEach(show);
  $("text").value = "";
  say((response.headers.get("verbatim-beat-result") ?? "").toLowerCase());
});
`;
