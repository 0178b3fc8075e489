// The service worker: the files of the page itself, so that it opens while the server is away. What is under /api it neither
// answers nor looks at, so that no key and no answer ever passes through it.

/** Filled in by the build: every file of the page, by addresses that change with their content. */
const FILES = "__STUDIO_FILES__";

interface Waiting extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface Asked extends Event {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

const scope = globalThis as unknown as {
  readonly location: Location;
  readonly caches: CacheStorage;
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(name: "install" | "activate", listener: (event: Waiting) => void): void;
  addEventListener(name: "fetch", listener: (event: Asked) => void): void;
};

const [version = "", ...files] = FILES.split(" ");
/** As the server tells them apart: names of files of a record have a dot. */
const RECORD = /^\/runs\/[^/.]+\/files\//;
const CACHE = `verbatim-${version}`;

scope.addEventListener("install", (event) => event.waitUntil(install()));
scope.addEventListener("activate", (event) => event.waitUntil(activate()));
scope.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== scope.location.origin || pathname.startsWith("/api")) return;
  if (pathname.startsWith("/assets/")) event.respondWith(fromCache(event.request));
  else if (mode === "navigate" && (!pathname.includes(".") || RECORD.test(pathname)))
    event.respondWith(page(event.request));
});

async function install(): Promise<void> {
  const cache = await scope.caches.open(CACHE);
  await cache.addAll(["/", ...files]);
  await scope.skipWaiting();
}

async function activate(): Promise<void> {
  const names = await scope.caches.keys();
  await Promise.all(names.filter((name) => name !== CACHE).map((name) => scope.caches.delete(name)));
  await scope.clients.claim();
}

/** Files whose address changes with their content never change. */
async function fromCache(request: Request): Promise<Response> {
  return (await scope.caches.match(request)) ?? (await fetch(request));
}

/** The page as the server has it now; while nobody answers, as it was. */
async function page(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (thrown) {
    const kept = await scope.caches.match("/");
    if (kept === undefined) throw thrown;
    return kept;
  }
}
