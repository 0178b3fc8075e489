import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

/** A certificate that signs itself, for `studio.test` and loopback, and its key. */
export function makeCertificate(folder: string, name = "studio"): Certificate {
  const [certFile, keyFile] = [join(folder, `${name}-cert.pem`), join(folder, `${name}-key.pem`)];
  const names = "subjectAltName=DNS:studio.test,IP:127.0.0.1";
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const args = ["req", "-x509", ...kind, "-subj", "/CN=studio.test", "-addext", names];
  execFileSync("openssl", [...args, "-keyout", keyFile, "-out", certFile], { stdio: "pipe" });
  chmodSync(keyFile, 0o600);
  return { certFile, keyFile, cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
}
