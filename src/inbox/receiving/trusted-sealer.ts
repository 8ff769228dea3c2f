// ARC as an override of DMARC (RFC 8617 7.2.1). A mailing list or forwarder breaks SPF and DKIM of
// the author, but a trusted seal says that DMARC passed before. check-sender.ts and placing/spam.ts
// use the result.
import type { ARCResult } from 'mailauth';

/**
 * The DMARC result in an ARC set. In the newest set mailauth calls it `result`, in earlier sets
 * `value`.
 */
interface SealedResults {
  dmarc?: { value?: unknown; result?: unknown; header?: { from?: unknown } };
}

/** An ARC set, as mailauth parses it. */
interface Link {
  'arc-seal'?: { parsed?: { d?: { value?: unknown } } };
  'arc-authentication-results'?: { parsed?: SealedResults };
}

const folded = (value: unknown) => (typeof value === 'string' ? value.trim().toLowerCase() : '');

/** Tells whether the results say `dmarc=pass` for this author, or without an author. */
function sayPass(results: SealedResults | undefined, authorDomain: string): boolean {
  const dmarc = results?.dmarc;
  if (folded(dmarc?.result ?? dmarc?.value) !== 'pass') return false;
  const from = folded(dmarc?.header?.from);
  return from === '' || from === authorDomain;
}

/**
 * Returns the domain of the trusted sealer for which DMARC passed, or null. The chain must pass,
 * and the message signature must cover the whole body. All later seals must be of trusted sealers
 * too: an untrusted sealer could have forged an earlier pass.
 */
export function findTrustedSealer(
  arc: ARCResult | null,
  authorDomain: string,
  trusted: ReadonlySet<string>,
): string | null {
  if (arc?.status.result !== 'pass' || trusted.size === 0) return null;
  if (!arc.signature || arc.signature.status.underSized) return null;
  const { chain = [] } = arc as { chain?: Link[] };
  for (const [at, link] of [...chain.entries()].reverse()) {
    const sealer = folded(link['arc-seal']?.parsed?.d?.value);
    if (!trusted.has(sealer)) return null;
    const isNewest = at === chain.length - 1;
    const older = link['arc-authentication-results']?.parsed;
    const results: SealedResults | undefined = isNewest ? arc.authenticationResults : older;
    if (sayPass(results, authorDomain.toLowerCase())) return sealer;
  }
  return null;
}
