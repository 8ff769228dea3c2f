// What may be registered as a sending domain (contract 6): a name in A-labels that somebody can own.
// The doorway to the public suffix list.
import { getDomain } from 'tldts';
import { parseAddress } from '../net/address.ts';

/** Room for `svc99rsa._domainkey.` within the 253 octets of a name. */
const longestDomain = 220;

/** Why a text is no sending domain, or the domain in its one form (lower case, A-labels). */
export type DomainName = { domain: string } | { problem: string };

/** Reads a domain as people type it; IDNA and a trailing dot are taken. */
export function readDomainName(text: string): DomainName {
  const domain = parseAddress(`postmaster@${text.replace(/\.$/, '')}`)?.domain;
  if (!domain) return { problem: 'is not a domain name such as example.com' };
  if (domain.length > longestDomain) {
    return { problem: `is longer than ${longestDomain} characters` };
  }
  if (organizationalDomain(domain) === null) {
    return { problem: 'is a public suffix: anyone may register names under it' };
  }
  return { domain };
}

/** The registrable part (`example.co.uk` of `mail.example.co.uk`); null for a public suffix. */
export function organizationalDomain(domain: string): string | null {
  return getDomain(domain, { allowPrivateDomains: true, validateHostname: false });
}
