/**
 * A double as Python's `repr` writes it: shortest digits that read back the same,
 * plain notation for decimal exponents -4..15, otherwise `d.ddde+XX`.
 */
export function formatFloat(value: number): string {
  const size = Math.abs(value);
  // Between these bounds JavaScript and Python both write a fraction in plain notation with the same digits.
  if (size >= 0.0001 && size < 1e16 && !Number.isInteger(value)) return String(value);
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [mantissa, power] = size.toExponential().split("e") as [string, string];
  const sign = value < 0 ? "-" : "";
  const digits = mantissa.replace(".", "");
  const exponent = Number(power);
  if (exponent < -4 || exponent > 15) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
    const width = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${digits[0]}${fraction}e${exponent < 0 ? "-" : "+"}${width}`;
  }
  // Fractions of this size were written above, so this is a whole number.
  return `${sign}${digits.padEnd(exponent + 1, "0")}.0`;
}
