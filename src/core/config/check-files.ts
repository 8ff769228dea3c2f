// Checks the files that a configuration names, by reading them as the daemon would. `svc config
// check` thus finds faults that would prevent a start. config.ts checks the values.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { loadProviders } from '../../mail/smtp/load-providers.ts';
import type { LoadedConfig } from './config.ts';

/** Findings, a line each: place, key and fault. */
export interface FileFindings {
  /** Faults that prevent the daemon from starting. */
  problems: string[];
  warnings: string[];
}

type CertificateFiles = LoadedConfig['config']['smtp']['inbound']['tls'];

const words: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'is a directory, not a file',
};

function wordsOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return words[code] ?? message;
}

/**
 * Checks `delivery.providersFile` and the certificates of the SMTP listeners; `now` in ms since
 * 1970.
 */
export function checkFiles({ config, origin }: LoadedConfig, now: number): FileFindings {
  const problems: string[] = [];
  const warnings: string[] = [];
  const lineOf = (key: string, text: string) =>
    `${(origin.get(key) ?? key).replace(/^env /, '')}: ${key}: ${text}`;
  const read = (key: string, file: string): Buffer | null => {
    try {
      return readFileSync(file);
    } catch (error) {
      problems.push(lineOf(key, `${file}: ${wordsOf(error)}`));
      return null;
    }
  };
  const isUsable = (key: string, file: string, part: SecureContextOptions): boolean => {
    try {
      createSecureContext(part);
      return true;
    } catch (error) {
      problems.push(lineOf(key, `${file}: ${wordsOf(error)}`));
      return false;
    }
  };

  const { providersFile, maxConnectionsPerDomain } = config.delivery;
  const providersKey = 'delivery.providersFile';
  if (providersFile !== null && read(providersKey, providersFile)) {
    try {
      loadProviders(providersFile, maxConnectionsPerDomain);
    } catch (error) {
      problems.push(lineOf(providersKey, wordsOf(error).replace(`${providersKey}: `, '')));
    }
  }

  const checkPair = (at: string, { certFile, keyFile }: CertificateFiles): void => {
    if (certFile === null || keyFile === null) return;
    const [certKey, keyKey] = [`${at}.certFile`, `${at}.keyFile`];
    const cert = read(certKey, certFile);
    const key = read(keyKey, keyFile);
    const isCertUsable = cert !== null && isUsable(certKey, certFile, { cert });
    const isKeyUsable = key !== null && isUsable(keyKey, keyFile, { key });
    if (!cert || !key || !isCertUsable || !isKeyUsable) return;
    const certificate = new X509Certificate(cert);
    if (!certificate.checkPrivateKey(createPrivateKey(key))) {
      problems.push(lineOf(keyKey, `${keyFile}: is not the key of the certificate ${certFile}`));
    }
    const endsAt = Date.parse(certificate.validTo);
    if (endsAt > now) return;
    const since = new Date(endsAt).toISOString();
    warnings.push(lineOf(certKey, `${certFile}: the certificate expired at ${since}`));
  };
  checkPair('smtp.inbound.tls', config.smtp.inbound.tls);
  checkPair('smtp.submission.tls', config.smtp.submission.tls);
  return { problems, warnings };
}
