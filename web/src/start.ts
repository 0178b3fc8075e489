// The key of a link leaves the address before anything else is loaded: it must not stay in the history.
const fragment = new URLSearchParams(location.hash.slice(1));
const code = fragment.get("k");
if (code !== null) history.replaceState(history.state, "", location.pathname + location.search);

const { startStudio } = await import("./app/main.tsx");
startStudio(code);

export {};
