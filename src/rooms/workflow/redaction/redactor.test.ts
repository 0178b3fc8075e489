import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concatBytes, encodeUtf8 } from "../../../core/canonical/index.ts";
import { findKnownSecrets } from "./known-secrets.ts";
import { Redactor, redactBytes, SecretFinder } from "./redactor.ts";

const SECRET = { name: "LAMP_TOKEN", value: "harbour light é 9" };
const finder = new SecretFinder([SECRET, { name: "SHORT", value: "1234567" }]);
const show = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const redact = (text: string) => show(redactBytes(finder, encodeUtf8(text)));

// Put together here, so that no credential stands in a source file.
const FORMS: readonly [string, string][] = [
  ["anthropic-key", `sk-ant-${"a1B2".repeat(8)}`],
  ["openai-key", `sk-${"a1B2".repeat(8)}`],
  ["google-key", `AIza${"abcde".repeat(7)}`],
  ["github-token", `ghp_${"a1B2".repeat(9)}`],
  ["gitlab-token", `glpat-${"a1B2".repeat(6)}`],
  ["slack-token", `xoxb-${"12ab".repeat(4)}`],
  ["aws-key", `AKIA${"A1B2".repeat(4)}`],
  ["npm-token", `npm_${"a1B2".repeat(9)}`],
  ["jwt", `eyJ${"a1B2".repeat(4)}.eyJ${"a1B2".repeat(4)}.${"a1B2".repeat(4)}`],
  ["private-key", `-----BEGIN RSA PRIVATE KEY-----\n${"MIIE".repeat(20)}\n-----END RSA PRIVATE KEY-----`],
];

describe("what is recorded", () => {
  it.each(FORMS)("has no %s", (name, text) => {
    const said = redact(`before ${text}. after`);
    expect(said).toContain(`before [redacted:${name}]`);
    expect(said).toContain("after");
    expect(said).not.toContain(text);
  });

  it("has no Authorization header, in any case, to the end of its line", () => {
    expect(redact("AUTHORIZATION: Bearer abc.def.ghi\nnext")).toBe("[redacted:authorization]\nnext");
  });

  it("has no value of a variable: plain, in base64, in an address", () => {
    const base64 = btoa(String.fromCharCode(...encodeUtf8(SECRET.value)));
    for (const spelling of [SECRET.value, base64, encodeURIComponent(SECRET.value)]) {
      expect(redact(`a=${spelling};`)).toMatch(/^a=\[redacted:LAMP_TOKEN\]=*;$/);
    }
  });

  it("has no private key of a file of an account, where line ends are written with a backslash", () => {
    const key = `-----BEGIN PRIVATE KEY-----\\n${`${"MIIEvQ9+".repeat(8)}\\n`.repeat(3)}-----END PRIVATE KEY-----\\n`;
    expect(redact(`{"private_key": "${key}", "id": 7}`)).toMatch(
      /^\{"private_key": "\[redacted:private-key\]", "id": 7\}$/,
    );
  });

  // Put together here as well: 0 to 2 bytes before it, something behind it, and lines of 76.
  it.each(["harbour light é 9", "k7-gull-rock-4419-nort", "k7-gull-rock-4419-north", "k7-gull-rock-4419".repeat(9)])(
    "has nothing of %s in base64, wherever in a text it stood",
    (value) => {
      const one = new SecretFinder([{ name: "LAMP", value }]);
      const said = (text: string) => show(redactBytes(one, encodeUtf8(text)));
      for (const text of [value, `${value}\n`, `a${value}`, `ab${value}z`, `abc:${value}\n`, `x=${value}&y`]) {
        const base64 = Buffer.from(text).toString("base64");
        const lines = base64.replaceAll(/.{76}/g, "$&\n");
        expect(said(base64), text).toContain("[redacted:LAMP]");
        const at = Buffer.from(value).toString("base64").slice(0, 16);
        expect(said(base64), text).not.toContain(at);
        if (text.startsWith(value)) expect(said(lines).replaceAll(/\[redacted:LAMP\]|\n/g, "").length).toBeLessThan(9);
      }
    },
  );

  it("has no value of several lines with the line ends of a terminal, inside JSON, or a line of it alone", () => {
    const value = 'first: k7-gull\nk7GullRock4419NorthLightTower\n"third"\\';
    const secrets = findKnownSecrets({ LAMP_KEY: value });
    const one = new SecretFinder(secrets);
    for (const text of [
      value,
      value.replaceAll("\n", "\r\n"),
      JSON.stringify(value),
      "k7GullRock4419NorthLightTower",
      encodeURIComponent(value),
      encodeURIComponent(value).replaceAll(/%../g, (code) => code.toLowerCase()),
      new URLSearchParams({ value }).toString(),
    ]) {
      expect(show(redactBytes(one, encodeUtf8(`<${text}>`))), text).not.toContain("GullRock");
    }
  });

  it("keeps words that only begin like one, and values too short to be one", () => {
    for (const text of [
      "task-runner-with-a-long-name-in-it",
      "sk-all-lower-case-words-only-here",
      "1234567",
      "harbour",
    ]) {
      expect(redact(text)).toBe(text);
    }
    expect(redact("-----BEGIN CERTIFICATE-----\nabc\n")).toBe("-----BEGIN CERTIFICATE-----\nabc\n");
  });

  it("is the same however the stream was cut, for every place of a secret", () => {
    const pieces = fc.constantFrom(
      ...FORMS.map(([, text]) => text),
      SECRET.value,
      SECRET.value.slice(0, 5),
      "sk-",
      "harbour ",
      "eyJ",
      "-----BEGIN ",
      "authorization: Basic 12345678",
      "\n",
      " plain words, ",
      "\u001b[31m",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.array(fc.nat(40), { maxLength: 60 }), (parts, cuts) => {
        const all = encodeUtf8(parts.join(""));
        const whole = redactBytes(finder, all);
        const redactor = new Redactor(finder);
        const out: Uint8Array[] = [];
        let at = 0;
        for (const size of cuts) {
          out.push(redactor.add(all.subarray(at, at + size)));
          at += size;
        }
        out.push(redactor.add(all.subarray(at)), redactor.end());
        expect(show(concatBytes(out))).toBe(show(whole));
      }),
      { numRuns: 500 },
    );
  });

  it("has neither of two that stand side by side", () => {
    const [[first, aws], [second, jwt]] = [FORMS[6]!, FORMS[8]!];
    expect(redact(`${aws}${jwt}`)).toBe(`[redacted:${first}][redacted:${second}]`);
  });

  it("is held back only from where something may have begun", () => {
    const redactor = new Redactor(finder);
    expect(show(redactor.add(encodeUtf8("a line\nhar")))).toBe("a line\n");
    expect(show(redactor.add(encodeUtf8("vest\n")))).toBe("harvest\n");
    expect(show(redactor.add(encodeUtf8("sk-")))).toBe("");
    expect(show(redactor.end())).toBe("sk-");
    expect(redactor.count).toBe(0);
  });
});

it("takes variables for secrets by their names, or because they look random, and never places", () => {
  const names = findKnownSecrets({
    LAMP_TOKEN: "abcdefgh",
    DB_PASSWORD: "short",
    SSH_AUTH_SOCK: "/run/user/1000/keyring/ssh",
    NODE_ENV: "production",
    RANDOM: "q8Zr2LmX0vKp7TdY4sWb",
    SENTENCE: "words and more words here",
    MODULE_PATH: "/usr/lib/q8Zr2LmX0vKp7TdY4sWb",
  }).map(({ name }) => name);
  expect(names).toEqual(["LAMP_TOKEN", "RANDOM"]);
});

it("takes a secret for one that begins like a place, and the password of an address", () => {
  const found = findKnownSecrets({
    COOKIE_SECRET: "/9j4AAQSkZJRgABAQEAYABgAAD=",
    PASSWORD_STORE_DIR: "/home/mira/.password-store",
    SSH_ASKPASS: "~/bin/ask",
    PASS_E: "éèêë",
    DATABASE_URL: "postgres://mira:gull%20rock%2F44@db.example.org/lamps",
    PROXY: "http://mira@proxy.example.org:3128",
  });
  expect(found).toEqual([
    { name: "COOKIE_SECRET", value: "/9j4AAQSkZJRgABAQEAYABgAAD=" },
    { name: "PASS_E", value: "éèêë" },
    { name: "DATABASE_URL", value: "gull%20rock%2F44" },
    { name: "DATABASE_URL", value: "gull rock/44" },
  ]);
});
