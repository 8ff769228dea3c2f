// Fetches the policy file of MTA-STS over HTTPS (RFC 8461 3.3). mta-sts.ts reads the content.
import { type AddressGuard, type HttpParts, publicOnly } from '../../platform/net/http/connect.ts';

/** A policy file as it was fetched; times in ms since 1970. */
export interface KeptPolicy {
  id: string;
  text: string;
  fetchedAt: number;
  expiresAt: number;
}

/** A store that keeps policies over a restart. The functions never reject. */
export interface KeptPolicies {
  /** Returns the stored policy of a domain, even an expired policy; null if none is stored. */
  find(domain: string): Promise<KeptPolicy | null>;
  keep(domain: string, policy: KeptPolicy): Promise<void>;
}

const patience = { connectMs: 20_000, totalMs: 60_000 };
const anyAddress: AddressGuard = { hostProblem: () => null, addressProblem: () => null };

interface Fetching extends HttpParts {
  allowPrivateAddresses: boolean;
  signal: AbortSignal;
}

/**
 * Fetches the current policy file of `domain`.
 * @throws Error with the reason as message, for example a status other than 200
 */
export async function fetchPolicyText(domain: string, fetching: Fetching): Promise<string> {
  // Imported on first use: undici takes megabytes in the thread that delivers.
  const { getFromStranger } = await import('../../platform/net/http/client.ts');
  const { allowPrivateAddresses, signal } = fetching;
  const url = new URL(`https://mta-sts.${domain}/.well-known/mta-sts.txt`);
  const guard = allowPrivateAddresses ? anyAddress : publicOnly;
  const answer = await getFromStranger(fetching, url, 'text/plain', patience, { guard, signal });
  const { statusCode, text } = answer;
  if (statusCode !== 200) throw new Error(`the policy host answered with status ${statusCode}`);
  const [mediaType = ''] = (answer.header('content-type') ?? '').split(';');
  if (mediaType.trim().toLowerCase() !== 'text/plain') {
    throw new Error(`the policy is of type ${JSON.stringify(mediaType)}, not text/plain`);
  }
  return text;
}
