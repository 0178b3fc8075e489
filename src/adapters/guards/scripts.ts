import { readFileSync } from "node:fs";

const WATCH = readFileSync(new URL("./scripts/watch.pl", import.meta.url), "utf8");

const RELAY = readFileSync(new URL("./scripts/relay.pl", import.meta.url), "utf8");

/** The launcher of the namespace guards, run by perl. */
export const NAMESPACE_SCRIPT =
  WATCH + RELAY + readFileSync(new URL("./scripts/namespace.pl", import.meta.url), "utf8");

const BECOME = 'exec { $ARGV[0] } @ARGV; stop("exec: $!");';

/**
 * Becomes the program that its arguments name, without core files and with nothing open but as many descriptors as the second
 * of them says. The first is the processor.
 */
export const SHUT_SCRIPT = `${WATCH}no_core(shift eq "arm64"); shut_others(shift); ${BECOME}`;

/** Becomes the program that its arguments name, without the sockets of the machine that have no path. */
export const UNABSTRACT_SCRIPT = `${WATCH}no_abstract(); ${BECOME}`;

/** The launcher of the landlock and audit guards, run by perl. */
export const SUPERVISOR_SCRIPT = WATCH + readFileSync(new URL("./scripts/supervisor.pl", import.meta.url), "utf8");

/** What starts the relay inside bubblewrap, run by perl. */
export const BUBBLEWRAP_SCRIPT =
  WATCH + RELAY + readFileSync(new URL("./scripts/bubblewrap.pl", import.meta.url), "utf8");
