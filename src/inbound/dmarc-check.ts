// DMARC (RFC 9989) of a mail: the policy of its author, read while SPF and DKIM are still checked, and
// the verdict by what passed. What is done with a mail that fails is check-sender.ts.
import type { ARCResult, DKIMVerifyResult, DMARCResult } from 'mailauth';
import { domainOf } from '../net/address.ts';
import type { Clock } from '../runtime/clock.ts';
import { type AuthResolver, boundLookups, lookupMs } from './check-lookups.ts';

const policyMs = 5_000;
const alignmentMs = 2_000;
/** A walk of 8 for the author and for each of 10 that pass, or for each of 10 authors. */
const mostLookups = 100;
/** The first is the one that a reader is shown. */
const mostAuthors = 10;

type Author = Pick<DKIMVerifyResult, 'headerFrom' | 'fromFields'>;

/** What passed, or may have: domains that DMARC compares with the author's. */
export interface Identifiers {
  spf: string[];
  dkim: { id?: string; domain: string; underSized?: number }[];
}

export interface Evidence {
  author: Author;
  /** The whole header was read: there is no other author. */
  isWhole: boolean;
  passed: Identifiers;
  /** What DNS trouble left open; null: it may be anything. */
  open: Identifiers | null;
  arc: ARCResult | null;
}

/** `dmarc` is null where there is nobody to ask; the verdict is that of the mail. */
export interface Judged {
  dmarc: DMARCResult | null;
  verdict: string;
}

export interface DmarcCheck {
  /** From the From fields alone: known while the body is still being hashed. */
  author: Promise<Author>;
  /** @returns false where there is not one author's domain (RFC 9989 5.3.1). */
  evaluate(
    author: Author,
    identifiers: Identifiers,
    arc?: ARCResult | null,
  ): Promise<DMARCResult | false>;
  /** The policy is known, or will not be: what comes now is time for the alignment. */
  align(): void;
}

/** `from` has the From fields alone, as a mail. What was looked up is looked up once. */
export function dmarcCheck(from: Buffer, resolver: AuthResolver, clock: Clock): DmarcCheck {
  const { resolve, extend } = boundLookups(resolver, clock, {
    most: mostLookups,
    eachMs: lookupMs,
    allMs: policyMs,
  });
  const library = import('mailauth');
  return {
    author: library.then(({ dkimVerify }) => dkimVerify(from, { resolver: resolve })),
    async evaluate({ headerFrom, fromFields }, { spf, dkim }, arc) {
      const { dmarc } = await library;
      return await dmarc({
        headerFrom,
        fromFields,
        spfDomains: spf,
        dkimDomains: dkim,
        ...(arc && { arcResult: arc }),
        resolver: resolve,
      });
    },
    align: () => extend(alignmentMs),
  };
}

/**
 * Without one author there is no verdict but `permerror`. Each who may be shown has a policy all the
 * same: the first that fails and asks for `reject` is told, so that no second author hides the first.
 */
async function judgeEach(
  check: DmarcCheck,
  { author: { headerFrom }, passed, arc }: Evidence,
): Promise<Judged> {
  const byDomain = new Map(headerFrom.map((address) => [domainOf(address).toLowerCase(), address]));
  const authors = [...byDomain.values()].slice(0, mostAuthors);
  const all = await Promise.all(
    authors.map((address) => check.evaluate({ headerFrom: [address], fromFields: 1 }, passed, arc)),
  );
  const forbidden = all.find(
    (dmarc) => dmarc && dmarc.status.result === 'fail' && dmarc.policy === 'reject',
  );
  return { dmarc: forbidden || null, verdict: 'permerror' };
}

/**
 * DMARC by what passed. What failed by it is `temperror` where a check that DNS trouble left open
 * could have made it pass: an aligned one, so that nobody buys it with a domain of his own.
 */
export async function judge(check: DmarcCheck, evidence: Evidence): Promise<Judged> {
  const { author, isWhole, passed, open, arc } = evidence;
  const dmarc = isWhole && (await check.evaluate(author, passed, arc));
  if (!dmarc) return await judgeEach(check, evidence);
  const verdict = dmarc.status.result;
  if (verdict !== 'fail') return { dmarc, verdict };
  if (open === null) return { dmarc, verdict: 'temperror' };
  if (open.spf.length + open.dkim.length === 0) return { dmarc, verdict };
  const best = { spf: [...passed.spf, ...open.spf], dkim: [...passed.dkim, ...open.dkim] };
  const atBest = await check.evaluate(author, best, arc);
  return { dmarc, verdict: atBest && atBest.status.result === 'fail' ? 'fail' : 'temperror' };
}
