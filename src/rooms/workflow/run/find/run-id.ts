import { formatTime } from "../../../../core/time.ts";

const FORM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const DEVICE = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])$/i;

/** Whether the part of a name before its first dot is a device on Windows. */
export function isDeviceName(name: string): boolean {
  return DEVICE.test(name.split(".", 1)[0] ?? "");
}

/** Whether a text can name a run. */
export function isRunId(text: string): boolean {
  return FORM.test(text) && !text.endsWith(".") && !isDeviceName(text);
}

/** The default id of a run: UTC time and six random hex digits. */
export function makeRunId(now: number, random: Uint8Array): string {
  const time = formatTime(now);
  const hex = [...random.slice(0, 3)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${time.slice(0, 10).replaceAll("-", "")}-${time.slice(11, 19).replaceAll(":", "")}-${hex}`;
}
