import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { readGuarded } from "../../adapters/disk/guarded/guarded-file.ts";
import { findFiles, findOtherNames } from "../../adapters/disk/source/find-files.ts";
import { treeIgnores } from "../../adapters/git/tree-ignores.ts";
import { readHost } from "../../adapters/process/host.ts";
import { listListeningSockets } from "../../adapters/process/listening-sockets.ts";
import { formatCanonical, sortedUnique } from "../../core/canonical/index.ts";
import type { TreeScan } from "../../rooms/catalytic/index.ts";
import {
  BROWSER_FOLDERS,
  compileMasks,
  type HiddenValue,
  HOME_SECRETS,
  INSTALLED_FOLDERS,
  type KnownProfile,
  listMoved,
  placeInHome,
  readAssignments,
} from "../../rooms/workflow/index.ts";
import { listAllProfiles } from "../agent/request/equip.ts";
import type { MaskRequest, Masks } from "../agent/request/masks.ts";
import { toHiddenPlaces } from "./catalytic-ports.ts";
import type { Composition } from "./compose.ts";
import { userPorts } from "./user-ports.ts";

const WITHOUT: readonly string[] = [".git", ".verbatim", ...INSTALLED_FOLDERS];
const SERVICES = "/run";
/** What a file with assignments may have. */
const MOST_BYTES = 64 * 1024;
const MOST_FILES = 200;

/** What is hidden from an agent, and from the commands that verify its work, in a tree and on this machine. */
export function findMasks(composition: Composition, request: MaskRequest, root: string, look: TreeScan | null): Masks {
  const { agent } = composition.config();
  const home = readHost().home;
  const toPlace = (text: string) => (home !== null && text.startsWith("~/") ? join(home, text.slice(2)) : text);
  const show = [...agent.masks.show, ...request.unmask];
  const [shownPlaces, shownPatterns] = split(show.map(toPlace), root);
  const moved = listMoved(composition.env).filter(isSecretAt);
  const [addedPlaces, addedPatterns] = split([...agent.masks.add.map(toPlace), ...moved], root);
  const sources = { secret: agent.policy.secret ?? [], add: addedPatterns, show: [] };
  const rules = compileMasks({ ...sources, show: shownPatterns });
  // Looked for whether they are shown or not: what they assign is never written down.
  const found = findInTree(composition, root, look, sources);
  const beside = findBeside(root, request.seen, sources);
  const isShownFile = (path: string) => request.all || !rules.isHidden(path);
  const files = withLed(
    root,
    found.files.filter((path) => !isShownFile(path)),
    found.links.filter((path) => !isShownFile(path)),
  );
  const logins = listLogins(composition, request, home);
  const closed = [...found.closed, ...beside.closed];
  const all = [
    ...listHome(composition, home),
    ...addedPlaces,
    ...logins,
    ...files.elsewhere,
    ...closed,
    ...beside.files,
  ];
  const isAsked = (place: string) => shownPlaces.some((one) => isAt(place, one));
  const isShown = (place: string) =>
    isAsked(place) || request.kept.some((kept) => kept === place || (logins.includes(place) && isAt(place, kept)));
  const places = all.filter(existsSync).map((place) => ({ place, target: realpathSync(place) }));
  const real = places.filter(({ place, target }) => {
    return !request.all && !isShown(place) && !isShown(target) && target !== root && target !== "/";
  });
  const inFiles = real.filter(({ target }) => !isBrowser(target, home)).flatMap(({ target }) => listFiles(target));
  const secret = [...files.files.map((path) => join(root, path)), ...inFiles];
  const masked = sortedUnique([...files.files, ...findOtherNames(root, secret, WITHOUT)]);
  const twins = beside.folders.flatMap((folder) =>
    findOtherNames(folder, secret, WITHOUT).map((path) => join(folder, path)),
  );
  const sockets = listSockets().filter((place) => !isAsked(place));
  const hidden = sortedUnique([
    ...real.map(({ target }) => target),
    ...twins.filter((one) => !isShown(one)),
    ...sockets,
  ]);
  const always = toHiddenPlaces(composition);
  const shown = [...listNeeded(), ...shownPlaces.filter(existsSync).map((place) => realpathSync(place))];
  const isInside = (place: string) => hidden.some((one) => place.startsWith(`${one}/`));
  const read = [...found.files, ...found.links].map((path) => join(root, path));
  return {
    files: masked,
    isHidden: (path) => masked.includes(path) || !isShownFile(path),
    hidden,
    shown: sortedUnique(shown.filter((place) => isInside(place) && !always.some((one) => isAt(place, one)))),
    names: sortedUnique([
      ...masked,
      ...[...real.map(({ place }) => place), ...twins].map((one) => toName(one, home, root)),
    ]),
    values: readValues([...read, ...places.map(({ target }) => target).filter((place) => !isBrowser(place, home))]),
  };
}

interface Beside {
  readonly folders: readonly string[];
  /** Absolute, what links with such a name lead to among them. */
  readonly files: readonly string[];
  readonly closed: readonly string[];
}

/** Where git keeps what somebody named: a branch may be called like a secret, and an empty ref would be a broken one. */
const NAMED_BY_GIT: readonly string[] = ["refs", "logs", "objects"];

/** Secrets in the folders that an agent sees besides its tree: what somebody named, and git folders elsewhere. */
function findBeside(root: string, seen: readonly string[], sources: Parameters<typeof compileMasks>[0]): Beside {
  const { isSuspect, isHidden } = compileMasks(sources);
  // A file that was named is meant, whatever it is called.
  const named = seen.filter((place) => statSync(place, { throwIfNoEntry: false })?.isDirectory() === true);
  const git = treeIgnores.outsideRoot(root);
  const found = [...named, ...git].map((folder) => {
    const without = git.includes(folder) ? [...WITHOUT, ...NAMED_BY_GIT] : WITHOUT;
    const inside = findFiles(folder, { without, isSuspect, isMeant: isHidden });
    const places = (paths: readonly string[]) => paths.map((path) => join(folder, path));
    return { files: places([...inside.files, ...inside.links]), closed: places(inside.closed) };
  });
  return {
    folders: [...named, ...git],
    files: found.flatMap(({ files }) => files),
    closed: found.flatMap(({ closed }) => closed),
  };
}

function isAt(place: string, folder: string): boolean {
  return place === folder || place.startsWith(`${folder}/`);
}

/** Where services of the machine listen: `/run`, and every other place where one does at this moment. */
function listSockets(): string[] {
  if (!existsSync("/proc/net/unix")) return [];
  return [
    ...(existsSync(SERVICES) ? [SERVICES] : []),
    ...listListeningSockets().filter((place) => !isAt(place, SERVICES)),
  ];
}

/** What programs need of it: how names are found, and on NixOS the programs themselves. */
function listNeeded(): string[] {
  const names = existsSync("/etc/resolv.conf") ? [realpathSync("/etc/resolv.conf")] : [];
  const programs = ["booted-system", "current-system", "opengl-driver", "wrappers"].map(
    (name) => `${SERVICES}/${name}`,
  );
  return [...names, ...programs.filter(existsSync)];
}

/** Places of the machine, and patterns of the repository. */
function split(texts: readonly string[], root: string): [places: string[], patterns: string[]] {
  const isPlace = (text: string) => text.startsWith("/") && !text.startsWith(`${root}/`);
  const clean = (text: string) => text.replace(/(?<=.)\/+$/, "");
  const patterns = texts.filter((text) => !isPlace(text));
  return [
    texts.filter(isPlace).map(clean),
    patterns.map((text) => (text.startsWith(`${root}/`) ? text.slice(root.length) : text)),
  ];
}

interface InTree {
  readonly files: readonly string[];
  readonly links: readonly string[];
  /** Absolute: folders that cannot be listed here, and that whoever owns them could open. */
  readonly closed: readonly string[];
}

/** The secret files of a tree. Where the tree is as it was, they are known from the last time. */
function findInTree(
  { crypto }: Composition,
  root: string,
  look: TreeScan | null,
  sources: Parameters<typeof compileMasks>[0],
): InTree {
  const note = `masks:${crypto.sha256(formatCanonical({ secret: [...sources.secret], add: [...sources.add] }))}`;
  const known = look?.note(note) ?? null;
  if (known !== null) return JSON.parse(known) as InTree;
  const { isSuspect, isHidden } = compileMasks(sources);
  const { files, links, closed } = findFiles(root, { without: WITHOUT, isSuspect, isMeant: isHidden });
  const found = { files, links, closed: closed.map((path) => join(root, path)) };
  look?.setNote(note, JSON.stringify(found));
  return found;
}

/** Some files of a tree, and what links lead to. */
function withLed(
  root: string,
  files: readonly string[],
  links: readonly string[],
): { readonly files: string[]; readonly elsewhere: string[] } {
  const places = links.map((path) => join(root, path)).filter(existsSync);
  const led = places.map((place) => realpathSync(place));
  const own = led.filter((place) => place.startsWith(`${root}/`) && statSync(place).isFile());
  return {
    files: sortedUnique([...files, ...own.map((place) => place.slice(root.length + 1))]),
    elsewhere: led.filter((place) => !place.startsWith(`${root}/`)),
  };
}

/** Credentials and browsers in the home folder; what follows XDG_CONFIG_HOME is looked for there too. */
function listHome({ env }: Composition, home: string | null): string[] {
  if (home === null) return [];
  const config = env["XDG_CONFIG_HOME"];
  const names = [...HOME_SECRETS, ...BROWSER_FOLDERS];
  const moved = names.filter((name) => name.startsWith(".config/")).map((name) => name.slice(".config/".length));
  const places = [
    ...names.map((name) => join(home, name)),
    ...(config?.startsWith("/") === true ? moved.map((name) => join(config, name)) : []),
  ];
  return places.filter(isSecretAt);
}

function isSecretAt(place: string): boolean {
  return !place.endsWith("npmrc") || hasCredentials(place);
}

/** Most settings of npm are none. One that cannot be read here could be read by the agent. */
function hasCredentials(place: string): boolean {
  if (!existsSync(place)) return false;
  const bytes = readGuarded(realpathSync(place), MOST_BYTES);
  return bytes === null || /_auth|_password/i.test(Buffer.from(bytes).toString("latin1"));
}

/** The logins of all agents but this one. */
function listLogins(composition: Composition, { profile }: MaskRequest, home: string | null): string[] {
  if (home === null) return [];
  const user = userPorts(composition);
  const profiles = listAllProfiles({ user, config: composition.config });
  const placesOf = (some: readonly KnownProfile[]) =>
    some.flatMap((one) => (one.profile.login ?? []).map((file) => placeInHome(file, user.env, home)));
  const named = profiles.filter((one) => one.profile.name === profile);
  // A repository that puts a profile of its own in the place of a known one neither shows nor forgets the login of that.
  const isReplaced = named.some(({ source }) => source === "repository");
  const own = placesOf(isReplaced ? named.filter(({ source }) => source === "repository") : named);
  return placesOf(profiles).filter((place) => !own.includes(place));
}

function isBrowser(place: string, home: string | null): boolean {
  return home !== null && BROWSER_FOLDERS.some((name) => isAt(place, join(home, name)));
}

function toName(place: string, home: string | null, root: string): string {
  if (place.startsWith(`${root}/`)) return place.slice(root.length + 1);
  return home !== null && place.startsWith(`${home}/`) ? `~${place.slice(home.length)}` : place;
}

/** What hidden files assign, so that no record repeats it. */
function readValues(places: readonly string[]): HiddenValue[] {
  return places
    .flatMap(listFiles)
    .slice(0, MOST_FILES)
    .flatMap((place) => {
      const bytes = existsSync(place) ? readGuarded(realpathSync(place), MOST_BYTES) : null;
      return bytes === null ? [] : readAssignments(Buffer.from(bytes).toString("utf8"));
    });
}

/** A file, or those right in a folder. */
function listFiles(place: string): string[] {
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return [place];
  try {
    const entries = readdirSync(place, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => join(place, name));
  } catch {
    // What cannot be listed here cannot be repeated from here.
    return [];
  }
}
