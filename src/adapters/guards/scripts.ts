import { readFileSync } from "node:fs";

const WATCH = readFileSync(new URL("./scripts/watch.pl", import.meta.url), "utf8");

const RELAY = readFileSync(new URL("./scripts/relay.pl", import.meta.url), "utf8");

/** The launcher of the namespace guards, run by perl. */
export const NAMESPACE_SCRIPT =
  WATCH + RELAY + readFileSync(new URL("./scripts/namespace.pl", import.meta.url), "utf8");

/** Becomes the program that its arguments name, with nothing open but as many descriptors as the first of them says. */
export const SHUT_SCRIPT = `${WATCH}my $most = shift; shut_others($most); exec { $ARGV[0] } @ARGV; stop("exec: $!");`;

/** The launcher of the landlock and audit guards, run by perl. */
export const SUPERVISOR_SCRIPT = WATCH + readFileSync(new URL("./scripts/supervisor.pl", import.meta.url), "utf8");

/** What starts the relay inside bubblewrap, run by perl. */
export const BUBBLEWRAP_SCRIPT =
  WATCH + RELAY + readFileSync(new URL("./scripts/bubblewrap.pl", import.meta.url), "utf8");
