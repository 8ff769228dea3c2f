// Fetches the policy file of MTA-STS over HTTPS (RFC 8461 3.3). mta-sts.ts reads its content.
import { type HttpsAccess, httpsGet } from './https-get.ts';

/** A fetched policy file; times in ms since 1970. */
export interface KeptPolicy {
  id: string;
  text: string;
  fetchedAt: number;
  expiresAt: number;
}

/** A store that keeps policies over a restart. Its functions never reject. */
export interface KeptPolicies {
  /** Returns the policy of a domain, or null if none is kept; it may have expired. */
  find(domain: string): Promise<KeptPolicy | null>;
  keep(domain: string, policy: KeptPolicy): Promise<void>;
}

const totalMs = 60_000;
const connectMs = 20_000;

/**
 * Fetches the current policy file of `domain`.
 * @throws Error with the obstacle in words
 */
export async function fetchPolicyText(domain: string, access: HttpsAccess): Promise<string> {
  const host = `mta-sts.${domain}`;
  const path = '/.well-known/mta-sts.txt';
  const asked = { host, path, accept: 'text/plain', connectMs, totalMs };
  const { statusCode, mediaType, text } = await httpsGet(asked, access);
  if (statusCode !== 200) throw new Error(`the policy host answered with status ${statusCode}`);
  if (mediaType !== 'text/plain') {
    throw new Error(`the policy is of type ${JSON.stringify(mediaType)}, not text/plain`);
  }
  return text;
}
