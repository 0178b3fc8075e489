interface Policy {
  createScriptURL(url: string): unknown;
}

interface Factory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy;
}

/** The one policy of this page: addresses of our own built files may become scripts, nothing else, and no text becomes markup. */
const rules = {
  createScriptURL(url: string): string {
    const whole = new URL(url, location.href);
    const isOurs = whole.pathname.startsWith("/assets/") || whole.pathname === "/sw.js";
    if (whole.origin === location.origin && isOurs) return whole.href;
    throw new TypeError("only files of the Studio become scripts");
  },
};

const policy = (globalThis as { trustedTypes?: Factory }).trustedTypes?.createPolicy("verbatim", rules) ?? rules;

/** The address of a worker, in the form that a browser under a strict policy takes. */
export function scriptUrl(url: string): unknown {
  return policy.createScriptURL(url);
}
