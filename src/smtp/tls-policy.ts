// What a mail host of a recipient domain must show before it gets a message: DANE (RFC 7672), else
// MTA-STS (RFC 8461), else what the route or the provider asks for, else whatever TLS there is.
// Decides per host; the records are dane.ts, the policies mta-sts.ts, the handshake smtp/tls.ts.
import { createHash } from 'node:crypto';
import type { Dns } from '../net/dns.ts';
import { type DaneReference, findDane } from './dane.ts';
import { type Verdict, verdict } from './destination.ts';
import type { StsPolicy } from './mta-sts.ts';

/** The security of sessions with one host; `label` is equal where a session may be shared. */
export interface HostSecurity {
  tls: 'opportunistic' | 'required';
  verifyCertificate: boolean;
  dane: DaneReference | null;
  label: string;
  /** For the attempt history: what was found and does not hinder. */
  notes: readonly string[];
}

export type SecurityAnswer = { security: HostSecurity; verdict: null } | { verdict: Verdict };

/** What is asked of every host of the way. */
export interface WaySecurity {
  domain: string;
  port: number;
  /** The MX answer that named the hosts was authenticated (AD). */
  isMxAuthenticated: boolean;
  sts: StsPolicy | null;
  /** `proven`: TLS with a certificate for the host's name; `encrypted`: TLS, whoever answers. */
  demand: 'proven' | 'encrypted' | 'none';
}

/**
 * The security that `host` must have, or the verdict that it must not be used. DANE decides alone
 * where the host has usable records, so that an MTA-STS policy can never weaken it (RFC 8461 2).
 */
export async function securityOf(
  dns: Dns,
  host: string,
  way: WaySecurity,
): Promise<SecurityAnswer> {
  const dane = await daneOf(dns, host, way);
  if (dane.kind === 'failed') return refuse(`the TLSA records of ${host}: ${dane.why}`);
  if (dane.kind === 'usable') return allow(byDane(dane.reference));
  const { sts, domain, demand } = way;
  const isCovered = sts === null || sts.mode === 'none' || sts.covers(host);
  if (sts?.mode === 'enforce' && !isCovered) {
    return refuse(`the MTA-STS policy of ${domain} (enforce) does not list the MX ${host}`);
  }
  const notes =
    sts?.mode === 'testing' && !isCovered
      ? [`MTA-STS: the policy of ${domain} (testing) does not list the MX ${host}`]
      : [];
  const mustProve = demand === 'proven' || sts?.mode === 'enforce';
  const mustEncrypt = mustProve || demand === 'encrypted' || dane.kind === 'unusable';
  return allow({
    tls: mustEncrypt ? 'required' : 'opportunistic',
    verifyCertificate: mustProve,
    dane: null,
    label: mustProve ? 'proven' : mustEncrypt ? 'encrypted' : '',
    notes,
  });
}

function allow(security: HostSecurity): SecurityAnswer {
  return { security, verdict: null };
}

function refuse(text: string): SecurityAnswer {
  return verdict('deferred', 'policy', '4.7.5', text);
}

/** Only what DNSSEC vouches for all the way may speak of TLSA records (RFC 7672 2.1). */
async function daneOf(dns: Dns, host: string, { domain, port, isMxAuthenticated }: WaySecurity) {
  if (!isMxAuthenticated) return { kind: 'none' } as const;
  // A host without an address is passed over where its addresses are asked for; the answer is kept.
  const isSecure = await dns.addresses(host).then(
    ({ authenticated }) => authenticated,
    () => false,
  );
  return isSecure ? findDane(dns, { host, port, domain }) : ({ kind: 'none' } as const);
}

function byDane(dane: DaneReference): HostSecurity {
  const hash = createHash('sha256').update(dane.names.join(' '));
  for (const { usage, selector, matchingType, certificate } of dane.records) {
    hash.update(` ${usage} ${selector} ${matchingType} `).update(certificate);
  }
  const label = `dane ${hash.digest('base64url')}`;
  return { tls: 'required', verifyCertificate: false, dane, label, notes: [] };
}
