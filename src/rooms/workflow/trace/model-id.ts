/** Providers as models.dev writes them, by how the names of their models begin. */
const PROVIDERS: readonly (readonly [beginning: RegExp, provider: string])[] = [
  [/^claude-/, "anthropic"],
  [/^(?:gpt-|o[0-9]|codex-)/, "openai"],
  [/^gemini-/, "google"],
];

/** `provider/model`; a name that says nothing of its provider stays as it is. */
export function toModelId(model: string): string {
  const found = model.includes("/") ? undefined : PROVIDERS.find(([beginning]) => beginning.test(model));
  return (found === undefined ? model : `${found[1]}/${model}`).slice(0, 250);
}
