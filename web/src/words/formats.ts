import { words } from "./words.ts";

/** How long ago, in the largest unit that fits; what a clock that was set back makes future has its own time. */
export function formatAge(at: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(at)) / 60_000);
  if (minutes < -1) return formatClock(at, now);
  if (minutes < 1) return words.times.now;
  if (minutes < 60) return words.times.minutes(minutes);
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? words.times.hours(hours) : words.times.days(Math.floor(hours / 24));
}

/** 14:02, or the day as well when it was another one. */
export function formatClock(at: string, now: number = Date.now()): string {
  const then = new Date(at);
  const two = (n: number) => String(n).padStart(2, "0");
  const clock = `${two(then.getHours())}:${two(then.getMinutes())}`;
  if (then.toDateString() === new Date(now).toDateString()) return clock;
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} ${clock}`;
}

/** With seconds, for what happens close together. */
export function formatSecond(at: string | number): string {
  const then = new Date(at);
  return [then.getHours(), then.getMinutes(), then.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":");
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return words.times.ms(Math.round(ms));
  if (ms < 60_000) return words.times.seconds((ms / 1000).toFixed(1));
  const seconds = Math.round(ms / 1000);
  return words.times.minutesSeconds(Math.floor(seconds / 60), seconds % 60);
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return words.bytes.bytes(bytes);
  if (bytes < 1_000_000) return words.bytes.kilo((bytes / 1000).toFixed(1));
  return words.bytes.mega((bytes / 1_000_000).toFixed(1));
}

/** A command as words, each quoted where a reader could not tell it from two. */
export function formatCommand(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}
