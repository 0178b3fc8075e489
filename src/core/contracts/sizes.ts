const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  B: 1,
  kB: 1000,
  MB: 1_000_000,
  GB: 1_000_000_000,
  K: 1024,
  KiB: 1024,
  M: 1024 ** 2,
  MiB: 1024 ** 2,
  G: 1024 ** 3,
  GiB: 1024 ** 3,
};

/** How people write a size. */
export const SIZE_FORM = /^([0-9]{1,12})(B|kB|MB|GB|K|KiB|M|MiB|G|GiB)?$/;

/**
 * A size in bytes; null: it is not one.
 *
 * @example
 * readSize("2MiB"); // => 2097152
 * readSize("2 MB"); // => null
 */
export function readSize(text: string): number | null {
  const [, count, unit = ""] = SIZE_FORM.exec(text) ?? [];
  const bytes = Number(count) * UNITS[unit]!;
  return Number.isSafeInteger(bytes) ? bytes : null;
}
