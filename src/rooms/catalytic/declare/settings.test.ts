import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../core/canonical/index.ts";
import { DEFAULT_SETTINGS, readSettings } from "./settings.ts";

const KEY = "0123456789abcdef".repeat(4);

function read(config: JsonObject) {
  const problems: string[] = [];
  const settings = readSettings(config, (code, pointer) => void problems.push(`${code} ${pointer}`));
  return { settings, problems };
}

describe("settings of catalytic runs", () => {
  it("are the defaults where nothing is said", () => {
    expect(read({})).toEqual({ settings: DEFAULT_SETTINGS, problems: [] });
    expect(read({ tripwire: {}, limits: {} })).toEqual({ settings: DEFAULT_SETTINGS, problems: [] });
    expect(DEFAULT_SETTINGS).toMatchObject({
      guard: "auto",
      network: "inherit",
      memo: false,
      tripwire: { on_hit: "fail", max_entries: 250_000 },
      limits: {
        max_entries: 500_000,
        stage_copy_bytes: 1_073_741_824,
        log_bytes: 16_777_216,
        quarantine_bytes: 1_073_741_824,
        output_bytes: 17_179_869_184,
      },
      writer_skills: "warn",
    });
  });

  it("are read as they are given", () => {
    const given = {
      guard: "ns-bind",
      network: "none",
      memo: true,
      tripwire: { on_hit: "report", max_entries: 1, noise: ["a/./b"] },
      limits: { max_entries: 1, stage_copy_bytes: 0, log_bytes: 2, quarantine_bytes: 3, output_bytes: 4 },
      signing: { key_file: "k", pinned_keys: [KEY] },
      writer_skills: "deny",
    };
    expect(read(given)).toEqual({
      settings: { ...given, tripwire: { ...given.tripwire, noise: ["a/b"] } },
      problems: [],
    });
    expect(read({ signing: {} }).settings.signing).toEqual({ key_file: null, pinned_keys: [] });
    expect(read({ tripwire: { on_hit: "fail" } })).toMatchObject({ settings: DEFAULT_SETTINGS, problems: [] });
  });

  it.each<[JsonObject, string]>([
    [{ guard: "strong" }, "/guard"],
    [{ network: true }, "/network"],
    [{ memo: "yes" }, "/memo"],
    [{ writer_skills: "allow" }, "/writer_skills"],
    [{ tripwire: [] }, "/tripwire"],
    [{ tripwire: { "on/hit": 1 } }, "/tripwire/on~1hit"],
    [{ tripwire: { on_hit: "ignore" } }, "/tripwire/on_hit"],
    [{ tripwire: { max_entries: 0 } }, "/tripwire/max_entries"],
    [{ tripwire: { noise: "a" } }, "/tripwire/noise"],
    [{ tripwire: { noise: ["a", 1] } }, "/tripwire/noise/1"],
    [{ limits: 1 }, "/limits"],
    [{ limits: { bytes: 1 } }, "/limits/bytes"],
    [{ limits: { max_entries: 0 } }, "/limits/max_entries"],
    [{ limits: { log_bytes: -1 } }, "/limits/log_bytes"],
    [{ limits: { log_bytes: 1.5 } }, "/limits/log_bytes"],
    [{ limits: { log_bytes: "1" } }, "/limits/log_bytes"],
    [{ signing: "k" }, "/signing"],
    [{ signing: { keys: [] } }, "/signing/keys"],
    [{ signing: { key_file: "" } }, "/signing/key_file"],
    [{ signing: { key_file: 1 } }, "/signing/key_file"],
    [{ signing: { pinned_keys: KEY } }, "/signing/pinned_keys"],
    [{ signing: { pinned_keys: [KEY, KEY.toUpperCase()] } }, "/signing/pinned_keys/1"],
    [{ signing: { pinned_keys: [`${KEY}0`] } }, "/signing/pinned_keys/0"],
    [{ signing: { pinned_keys: [1] } }, "/signing/pinned_keys/0"],
  ])("are refused where they are wrong: %j", (config, pointer) => {
    expect(read(config).problems).toEqual([`CONFIG_INVALID ${pointer}`]);
  });

  it("that are wrong take their defaults, so that what follows can be judged as well", () => {
    const wrong = {
      guard: 1,
      memo: 1,
      tripwire: { on_hit: 1, max_entries: -1 },
      limits: { log_bytes: -1 },
      signing: { pinned_keys: 1, key_file: 1 },
    };
    expect(read(wrong).settings).toEqual({ ...DEFAULT_SETTINGS, signing: { key_file: null, pinned_keys: [] } });
    expect(read({ signing: { pinned_keys: [1, KEY] } }).settings.signing?.pinned_keys).toEqual([KEY]);
  });

  it("name a path of noise by the rule it breaks", () => {
    expect(read({ tripwire: { noise: ["/a", "b/../c"] } }).problems).toEqual([
      "PATH_ABSOLUTE /tripwire/noise/0",
      "PATH_CONTAINS_TRAVERSAL /tripwire/noise/1",
    ]);
  });
});
