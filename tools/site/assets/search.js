// Search in the page: every word must occur in a part, at the beginning of a word; names count more than text.
// The index is loaded when the box is used for the first time. Nothing leaves the browser.
const box = document.getElementById("search-box");
const list = document.getElementById("search-results");
const count = document.getElementById("search-count");
const root = document.body.dataset.root;
const MOST = 20;

function loadIndex() {
  if (document.getElementById("search-index") !== null) return;
  const script = document.createElement("script");
  script.id = "search-index";
  script.src = `${root}/search-index.js`;
  script.addEventListener("load", show);
  document.head.append(script);
}

function findWord(text, word) {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return at;
  }
  return -1;
}

function search(query) {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return [];
  const found = [];
  for (const [url, page, title, text] of globalThis.verbatimSearchIndex ?? []) {
    const [name, body] = [title.toLowerCase(), text.toLowerCase()];
    let score = 0;
    let first = -1;
    for (const word of words) {
      const inName = findWord(name, word);
      const inBody = findWord(body, word);
      if (inName === -1 && inBody === -1) {
        score = 0;
        break;
      }
      score += inName === -1 ? 1 : 8;
      if (first === -1) first = inBody;
    }
    if (score > 0) found.push({ url, page, title, score, excerpt: text.slice(Math.max(0, first - 40), first + 120) });
  }
  return found.sort((a, b) => b.score - a.score);
}

function makeLink({ url, page, title, excerpt }) {
  const link = document.createElement("a");
  link.href = `${root}/${url}`;
  for (const [tag, text] of [
    ["b", title],
    ["i", page],
    ["span", excerpt],
  ]) {
    const part = document.createElement(tag);
    part.textContent = text;
    link.append(part);
  }
  return link;
}

function show() {
  const found = search(box.value);
  const isAsked = box.value.trim() !== "" && globalThis.verbatimSearchIndex !== undefined;
  list.replaceChildren(...found.slice(0, MOST).map(makeLink));
  list.hidden = found.length === 0;
  count.textContent = isAsked ? `${found.length} ${found.length === 1 ? "place" : "places"} found` : "";
  if (isAsked && found.length === 0) {
    list.textContent = "Nothing found.";
    list.hidden = false;
  }
}

function move(event) {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
  else if (event.key === "ArrowUp") (at <= 0 ? box : links[at - 1]).focus();
  else if (event.key === "Escape") {
    list.hidden = true;
    box.focus();
  } else return;
  event.preventDefault();
}

box.addEventListener("focus", loadIndex);
box.addEventListener("input", show);
for (const part of [box, list]) part.addEventListener("keydown", move);
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select") !== null;
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  box.focus();
});
document.addEventListener("click", (event) => {
  if (event.target.closest("search") === null) list.hidden = true;
});
const pages = document.querySelector("nav details");
if (globalThis.matchMedia("(max-width: 860px)").matches) pages.open = false;
