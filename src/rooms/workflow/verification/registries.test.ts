import { expect, it } from "vitest";
import { findRegistryHosts, type RegistryFacts, registryOf } from "./registries.ts";

const facts = (more: Partial<RegistryFacts> = {}): RegistryFacts => ({
  home: () => null,
  base: () => null,
  env: {},
  ...more,
});
const names = (found: ReturnType<typeof findRegistryHosts>) =>
  found.map(({ host, port, private: own }) => `${host}:${port}${own ? " private" : ""}`);

it("names the well-known hosts of each registry that is needed, and of no other", () => {
  expect(names(findRegistryHosts(["npm", "npm", null], facts()))).toEqual([
    "registry.npmjs.org:443",
    "registry.yarnpkg.com:443",
  ]);
  expect(names(findRegistryHosts(["pip"], facts()))).toEqual(["pypi.org:443", "files.pythonhosted.org:443"]);
  expect(findRegistryHosts([null], facts())).toEqual([]);
});

it("reads the settings of the user, which may name private hosts, and of the repository, which may not", () => {
  const home = (path: string) =>
    path === ".npmrc"
      ? "registry=http://packages.intern.example:4873/\n//packages.intern.example/:_authToken=x\n@lamp:registry = https://lamp.example/npm/\n"
      : null;
  const base = (path: string) =>
    path === ".npmrc" ? "@pier:registry=https://pier.example\nregistry=http://packages.intern.example:4873/\n" : null;
  expect(names(findRegistryHosts(["npm"], facts({ home, base }))).slice(2)).toEqual([
    "packages.intern.example:4873 private",
    "lamp.example:443 private",
    "pier.example:443",
  ]);
});

it.each([
  ["npm", { env: { npm_config_registry: "https://mirror.example/npm" } }, "mirror.example:443 private"],
  ["pip", { env: { PIP_EXTRA_INDEX_URL: "https://a.example/simple http://b.example" } }, "b.example:80 private"],
  [
    "pip",
    {
      home: (path: string) =>
        path.includes("pip.conf") ? "[global]\nindex-url = https://u:p@py.example/simple\n" : null,
    },
    "py.example:443 private",
  ],
  ["go", { env: { GOPROXY: "https://go.example,direct" } }, "go.example:443 private"],
  [
    "cargo",
    {
      base: (path: string) =>
        path === ".cargo/config.toml" ? 'index = "sparse+https://crates.example/index/"\n' : null,
    },
    "crates.example:443",
  ],
  [
    "npm",
    { base: (path: string) => (path === ".yarnrc.yml" ? 'npmRegistryServer: "https://yarn.example"\n' : null) },
    "yarn.example:443",
  ],
] as const)("finds a registry of %s where it is named: %#", (registry, more, expected) => {
  expect(names(findRegistryHosts([registry], facts(more)))).toContain(expected);
});

it.each([
  "https://127.0.0.1/",
  "http://[::1]:80/",
  "file:///etc",
  "ssh://git@x.example",
  "https://",
  "http://x.example:99999/",
])("does not take %s for a host", (address) => {
  const found = findRegistryHosts(["npm"], facts({ env: { npm_config_registry: address } }));
  expect(found).toHaveLength(2);
});

it("knows a program by its name, wherever it lies", () => {
  expect([["npm", "ci"], [".venv/bin/pip", "install"], ["make"], []].map(registryOf)).toEqual([
    "npm",
    "pip",
    null,
    null,
  ]);
});
