// SPF (RFC 7208) by mailauth in its strict form, over DNS answers put in the form that it reads as the
// RFC does. Which domain SPF speaks for, and what a verdict means for the mail, is authenticate.ts.
import type { SPFResult } from 'mailauth';
import type { AuthResolver } from './check-lookups.ts';

export interface SpfClient {
  ip: string;
  helo: string;
  /** Empty for the null return path: then the HELO name is checked (RFC 7208 2.4). */
  mailFrom: string;
  /** Our name. */
  mta: string;
}

/** Whether the terms of a record are without an error; mailauth says what is wrong, or false. */
type ValidateTerms = (terms: string[]) => string | false;

const record = /^v=spf1(?: |$)/i;
const explanation = /^exp=/i;
/** A host with addresses: more than one label, the last one no number (RFC 7208 7.1). */
const hostName = /^(?:[^.]{1,63}\.)+(?=[^.]*[a-z])[a-z0-9-]{1,63}\.?$/i;

/**
 * Without its explanation, which says why to a person and is never a reason for an error (6.2): so
 * nobody's server is asked for it. A record with an error stays as it is.
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
 * No addresses of one kind where there are some of the other: the host is there, and its look-up is
 * none of the two in vain that 4.6.4 allows. Else a sender on IPv6 would fail by hosts on IPv4.
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
    // A host of one label, or an address as a host, has no addresses: it is no error of the record.
    const hosts = answer as unknown as { exchange: string }[];
    return hosts.filter(({ exchange }) => hostName.test(exchange)) as never;
  };
}

/** The result for one client and sender. Never looks up an explanation. */
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
