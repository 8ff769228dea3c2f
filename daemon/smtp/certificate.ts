// The certificate of a listener: read at the start, and again when its files change, so that a renewal needs
// no restart. Without a configured one TLS is off; the key that smtp-server ships is never used.
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { App } from '../../src/core/app.ts';
import { ConfigError, messageOf } from '../../src/platform/errors.ts';

interface CertificateFiles {
  readonly certFile: string | null;
  readonly keyFile: string | null;
}

export interface KeyPair {
  key: Buffer;
  cert: Buffer;
}

/** Interval of the checks of the files, which only a new connection triggers. */
const lookEveryMs = 1_000;

export class Certificate {
  readonly #app: App;
  readonly #files: readonly [cert: string, key: string];
  readonly #where: string;
  /** State of the files behind the pair in use, and of a pair that cannot be used. */
  #inUse: string;
  #broken: string | null = null;
  #lookedAt: number;
  readonly initial: KeyPair;

  /** Reads the pair. @throws ConfigError if it cannot be used. */
  constructor(app: App, files: readonly [cert: string, key: string], where: string) {
    this.#app = app;
    this.#files = files;
    this.#where = where;
    this.#lookedAt = app.clock.elapsed();
    try {
      this.#inUse = this.#stamp();
      this.initial = this.#read();
    } catch (error) {
      throw new ConfigError(`${where}: the certificate cannot be used: ${messageOf(error)}`);
    }
  }

  /** Returns the new pair if the files changed to a usable one; null otherwise. */
  renewed(): KeyPair | null {
    const now = this.#app.clock.elapsed();
    if (now - this.#lookedAt < lookEveryMs) return null;
    this.#lookedAt = now;
    let stamp = '';
    try {
      stamp = this.#stamp();
      if (stamp === this.#inUse) return null;
      const pair = this.#read();
      this.#inUse = stamp;
      this.#app.log.info(
        { certFile: this.#files[0] },
        `${this.#where}: a new certificate is in use`,
      );
      return pair;
    } catch (error) {
      this.#warnOnce(stamp, error);
      return null;
    }
  }

  /**
   * Warns once for each state of the files. While they are rewritten, certificate and key do not
   * match for a moment.
   */
  #warnOnce(stamp: string, error: unknown): void {
    if (stamp === this.#broken) return;
    this.#broken = stamp;
    const text = `${this.#where}: the new certificate cannot be used; the old one stays in use`;
    this.#app.log.warn({ err: error, certFile: this.#files[0] }, text);
  }

  #stamp(): string {
    const stats = this.#files.map((file) => statSync(file));
    return stats.map(({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`).join(' ');
  }

  #read(): KeyPair {
    const [cert, key] = this.#files.map((file) => readFileSync(file)) as [Buffer, Buffer];
    createSecureContext({ cert, key });
    return { cert, key };
  }
}

/** Returns the configured certificate, or null. @throws ConfigError if it cannot be used. */
export function openCertificate(
  app: App,
  { certFile, keyFile }: CertificateFiles,
  where: string,
): Certificate | null {
  if (certFile === null || keyFile === null) return null;
  return new Certificate(app, [certFile, keyFile], where);
}
