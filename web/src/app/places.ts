import {
  BookOpen,
  Feather,
  House,
  ListChecks,
  type LucideIcon,
  Package,
  Play,
  ScrollText,
  Settings,
} from "lucide-react";
import { isAtLeast } from "../api/session.ts";
import { words } from "../words/words.ts";

interface Place {
  readonly to: "/" | "/runs" | "/context" | "/jobs" | "/bundles" | "/ledger" | "/worlds" | "/settings";
  readonly label: string;
  readonly icon: LucideIcon;
  /** The letter that leads there after g. */
  readonly letter: string;
  /** Whether the bar of a phone has room for it; the others are under More. */
  readonly onPhone: boolean;
  /** Open to everybody of a team; the others need the owner's key. */
  readonly forReaders?: true;
}

/** The rooms that have a page. */
export const PLACES: readonly Place[] = [
  { to: "/", label: words.places.home, icon: House, letter: "h", onPhone: true },
  { to: "/runs", label: words.places.runs, icon: Play, letter: "r", onPhone: true },
  { to: "/context", label: words.places.context, icon: BookOpen, letter: "c", onPhone: false, forReaders: true },
  { to: "/jobs", label: words.places.jobs, icon: ListChecks, letter: "j", onPhone: false, forReaders: true },
  { to: "/bundles", label: words.places.bundles, icon: Package, letter: "b", onPhone: false, forReaders: true },
  { to: "/ledger", label: words.places.ledger, icon: ScrollText, letter: "l", onPhone: false, forReaders: true },
  { to: "/worlds", label: words.places.worlds, icon: Feather, letter: "w", onPhone: true },
  { to: "/settings", label: words.places.settings, icon: Settings, letter: "s", onPhone: false, forReaders: true },
];

/** The places that somebody has. The first one is everybody's: it says what a role is. */
export function listPlaces(): readonly Place[] {
  return PLACES.filter(({ to, forReaders }) => isAtLeast("owner") || to === "/" || forReaders === true);
}

/** Whether an address is in a place that everybody of a team has. */
export function isForReaders(pathname: string): boolean {
  return PLACES.some(({ to, forReaders }) => forReaders === true && (pathname === to || pathname.startsWith(`${to}/`)));
}
