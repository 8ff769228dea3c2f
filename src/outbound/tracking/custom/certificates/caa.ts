// Decides whether the owner of a name allows an authority to issue certificates for it (CAA, RFC
// 8659; parameters for ACME, RFC 8657). Uses the records of the name, or else of the nearest parent
// domain with CAA records.
import type { CaaRecord, Dns } from '../../../../platform/net/dns.ts';

/** Authority and account that CAA records must allow. */
export interface Issuer {
  /** Names of the authority in CAA records. Empty if the directory of the authority names none. */
  identities: readonly string[];
  challenge: 'http-01' | 'dns-01';
  accountUrl: string;
}

const knownTags = new Set(['issue', 'issuewild', 'iodef', 'contactemail', 'contactphone']);

/**
 * Finds the records that apply to a name (RFC 8659 3). @throws DnsError: then no authority may
 * issue
 */
export async function relevantCaa(
  dns: Pick<Dns, 'caa'>,
  hostname: string,
): Promise<{ name: string; records: CaaRecord[] }> {
  const labels = hostname.split('.');
  for (let at = 0; at < labels.length; at++) {
    const name = labels.slice(at).join('.');
    const records = await dns.caa(name);
    if (records.length > 0) return { name, records };
  }
  return { name: hostname, records: [] };
}

/** Parses the value of `issue`: a domain, which may be empty, and parameters. */
function readIssue(value: string): { domain: string; parameters: Map<string, string> } {
  const [domain = '', ...rest] = value.split(';').map((part) => part.trim());
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const at = part.indexOf('=');
    if (at > 0) parameters.set(part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim());
  }
  return { domain: domain.toLowerCase().replace(/\.$/, ''), parameters };
}

function isLetIssue(value: string, { identities, challenge, accountUrl }: Issuer): boolean {
  const { domain, parameters } = readIssue(value);
  if (domain === '') return false;
  // If the directory has no identities, accepts any domain: the authority checks CAA again.
  if (identities.length > 0 && !identities.some((one) => one.toLowerCase() === domain)) {
    return false;
  }
  const account = parameters.get('accounturi');
  if (account !== undefined && account !== accountUrl) return false;
  const methods = parameters.get('validationmethods');
  return methods === undefined || methods.split(',').some((one) => one.trim() === challenge);
}

/**
 * Returns the reason that the records forbid issuing for a name (no wildcard). Null if they allow
 * it.
 */
export function caaProblem(records: readonly CaaRecord[], issuer: Issuer): string | null {
  const unknown = records.find(({ isCritical, tag }) => isCritical && !knownTags.has(tag));
  if (unknown) return `has a critical record of the unknown tag ${unknown.tag.slice(0, 40)}`;
  const issues = records.filter(({ tag }) => tag === 'issue');
  if (issues.length === 0 || issues.some(({ value }) => isLetIssue(value, issuer))) return null;
  const named = issues.map(({ value }) => `"${value.slice(0, 100)}"`).slice(0, 5);
  const whom = issuer.identities[0] ?? 'the authority';
  return `lets ${named.join(', ')} issue, not ${whom} by ${issuer.challenge}`;
}
