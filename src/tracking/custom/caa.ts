// Whether the owner of a name lets an authority issue for it (CAA, RFC 8659; its parameters of ACME,
// RFC 8657): the records of the name, or of the nearest name above it that has some.
import type { CaaRecord, Dns } from '../../net/dns.ts';

/** Whom the records are held to. */
export interface Issuer {
  /** The names it goes by in CAA, from its directory; empty where that does not say. */
  identities: readonly string[];
  challenge: 'http-01' | 'dns-01';
  accountUrl: string;
}

const knownTags = new Set(['issue', 'issuewild', 'iodef', 'contactemail', 'contactphone']);

/** The records that hold for a name (RFC 8659 3). @throws DnsError: then nobody may issue. */
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

/** The value of `issue`: a domain, or none, and its parameters. */
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
  // Whose directory names no identities may be any of them: the authority looks itself.
  if (identities.length > 0 && !identities.some((one) => one.toLowerCase() === domain)) {
    return false;
  }
  const account = parameters.get('accounturi');
  if (account !== undefined && account !== accountUrl) return false;
  const methods = parameters.get('validationmethods');
  return methods === undefined || methods.split(',').some((one) => one.trim() === challenge);
}

/** Why the records do not let it issue for one name, no wildcard; null where they do. */
export function caaProblem(records: readonly CaaRecord[], issuer: Issuer): string | null {
  const unknown = records.find(({ isCritical, tag }) => isCritical && !knownTags.has(tag));
  if (unknown) return `has a critical record of the unknown tag ${unknown.tag.slice(0, 40)}`;
  const issues = records.filter(({ tag }) => tag === 'issue');
  if (issues.length === 0 || issues.some(({ value }) => isLetIssue(value, issuer))) return null;
  const named = issues.map(({ value }) => `"${value.slice(0, 100)}"`).slice(0, 5);
  const whom = issuer.identities[0] ?? 'the authority';
  return `lets ${named.join(', ')} issue, not ${whom} by ${issuer.challenge}`;
}
