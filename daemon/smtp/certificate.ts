// The certificate of a listener: read at the start, and again when the files change or a reload
// names new files, so that a renewal needs no restart. Without a configured certificate TLS is off;
// the key that smtp-server ships is never used.
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

/** Least interval between checks of the files. Only a new connection checks them. */
const lookEveryMs = 1_000;

export class Certificate {
  readonly #app: App;
  readonly #named: CertificateFiles;
  readonly #where: string;
  /** Paths, times, sizes and inodes of the files in use; `#broken`: of the last invalid files. */
  #inUse: string;
  #broken: string | null = null;
  #lookedAt: number;
  readonly initial: KeyPair;

  /** Reads the pair. @throws ConfigError if it cannot be used. */
  constructor(app: App, named: CertificateFiles, where: string) {
    this.#app = app;
    this.#named = named;
    this.#where = where;
    this.#lookedAt = app.clock.elapsed();
    try {
      this.#inUse = this.#stamp();
      this.initial = this.#read();
    } catch (error) {
      throw new ConfigError(`${where}: the certificate cannot be used: ${messageOf(error)}`);
    }
  }

  /**
   * Returns the new pair if the files have changed to a valid pair; else null. Also null within a
   * second after the last check.
   */
  renewed(): KeyPair | null {
    const isDue = this.#app.clock.elapsed() - this.#lookedAt >= lookEveryMs;
    return isDue ? this.look() : null;
  }

  /** Checks the files now. Returns the new pair if they have changed to a valid pair, else null. */
  look(): KeyPair | null {
    this.#lookedAt = this.#app.clock.elapsed();
    let stamp = '';
    try {
      stamp = this.#stamp();
      if (stamp === this.#inUse) return null;
      const pair = this.#read();
      this.#inUse = stamp;
      this.#app.log.info(
        { certFile: this.#named.certFile },
        `${this.#where}: a new certificate is in use`,
      );
      return pair;
    } catch (error) {
      this.#warnOnce(stamp, error);
      return null;
    }
  }

  /**
   * Warns once for each state of the files. While the files are being rewritten, certificate and
   * key do not match for a moment.
   */
  #warnOnce(stamp: string, error: unknown): void {
    if (stamp === this.#broken) return;
    this.#broken = stamp;
    const text = `${this.#where}: the new certificate cannot be used; the old one stays in use`;
    this.#app.log.warn({ err: error, certFile: this.#named.certFile }, text);
  }

  /** Returns the paths of certificate and key in the current configuration. */
  #files(): [string, string] {
    return [this.#named.certFile ?? '', this.#named.keyFile ?? ''];
  }

  #stamp(): string {
    const stampOf = (file: string) => {
      const { mtimeMs, size, ino } = statSync(file);
      return `${file} ${mtimeMs} ${size} ${ino}`;
    };
    return this.#files().map(stampOf).join(' ');
  }

  #read(): KeyPair {
    const [cert, key] = this.#files().map((file) => readFileSync(file)) as [Buffer, Buffer];
    createSecureContext({ cert, key });
    return { cert, key };
  }
}

/** Returns the configured certificate, or null. @throws ConfigError if it cannot be used. */
export function openCertificate(
  app: App,
  named: CertificateFiles,
  where: string,
): Certificate | null {
  if (named.certFile === null || named.keyFile === null) return null;
  return new Certificate(app, named, where);
}
