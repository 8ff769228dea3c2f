// SPF (RFC 7208) by mailauth in strict mode. Adapts DNS answers so that mailauth reads them as
// the RFC requires. authenticate.ts chooses the domain and uses the verdict.
import type { SPFResult } from 'mailauth';
import type { AuthResolver } from './check-lookups.ts';

export interface SpfClient {
  ip: string;
  helo: string;
  /** Empty for the null return path: then the HELO name is checked (RFC 7208 2.4). */
  mailFrom: string;
  /** Our host name. */
  mta: string;
}

/** Validates the terms of a record. mailauth returns the problem, or false for a valid record. */
type ValidateTerms = (terms: string[]) => string | false;

const record = /^v=spf1(?: |$)/i;
const explanation = /^exp=/i;
/**
 * Matches a host that can have addresses: several labels, the last not a number (RFC 7208 7.1).
 */
const hostName = /^(?:[^.]{1,63}\.)+(?=[^.]*[a-z])[a-z0-9-]{1,63}\.?$/i;

/**
 * Removes the explanation (`exp=`), which is text for people and never causes an error (RFC 7208
 * 6.2), so the host in `exp=` is never queried. A record with an error stays unchanged.
 */
function withoutExplanation(text: string, validateTerms: ValidateTerms): string {
  if (!record.test(text)) return text;
  const [version, ...terms] = text.split(' ').filter((term) => term !== '');
  if (validateTerms(terms) !== false) return text;
  return [version, ...terms.filter((term) => !explanation.test(term))].join(' ');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Resolves IPv4 (A) or IPv6 (AAAA) addresses. Returns an empty list if the host has only addresses
 * of the IP version that was not asked: the host exists, so the look-up does not count towards the
 * two void look-ups of RFC 7208 4.6.4. Otherwise a sender on IPv6 would fail by hosts on IPv4.
 */
async function resolveAddresses(resolve: AuthResolver, name: string, type: string) {
  try {
    return await resolve(name, type);
  } catch (error) {
    if (!hasCode(error, 'ENODATA')) throw error;
    const others = await resolve(name, type === 'A' ? 'AAAA' : 'A').catch(() => []);
    if (others.length > 0) return [];
    throw error;
  }
}

function inReadableForm(resolve: AuthResolver, validateTerms: ValidateTerms): AuthResolver {
  return async (name, type) => {
    if (type === 'A' || type === 'AAAA') return await resolveAddresses(resolve, name, type);
    const answer = await resolve(name, type);
    if (type === 'TXT') {
      return answer.map((row) => [withoutExplanation([row].flat().join(''), validateTerms)]);
    }
    if (type !== 'MX') return answer;
    // A host with a single label, or an address in place of a host, has no addresses. RFC 7208 does
    // not treat it as an error.
    const hosts = answer as unknown as { exchange: string }[];
    return hosts.filter(({ exchange }) => hostName.test(exchange)) as never;
  };
}

/** Checks a client and sender. Never looks up an explanation. */
export async function checkSpf(
  { ip, helo, mailFrom, mta }: SpfClient,
  resolve: AuthResolver,
): Promise<SPFResult> {
  const [{ spf }, { default: syntax }] = await Promise.all([
    import('mailauth'),
    import('mailauth/lib/spf/syntax.js'),
  ]);
  return await spf({
    ip,
    helo,
    sender: mailFrom,
    mta,
    strict: true,
    resolver: inReadableForm(resolve, syntax.validateTerms),
  });
}
