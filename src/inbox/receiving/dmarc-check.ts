// DMARC (RFC 9989) of a mail: reads the policy of the author while SPF and DKIM still run, then
// derives the verdict from the passed identifiers. check-sender.ts decides on mail that fails.
import type { ARCResult, DKIMVerifyResult, DMARCResult } from 'mailauth';
import { parseAddressList } from '../../mail/mime/headers/header-addresses.ts';
import { readHeaderBlock } from '../../mail/mime/headers/header-fields.ts';
import { domainOf, parseAddress } from '../../platform/net/address.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { type AuthResolver, boundLookups, lookupMs } from './check-lookups.ts';

const policyMs = 5_000;
const alignmentMs = 2_000;
/** Most look-ups of a mail: 8 for the author and each of 10 passed domains, or for 10 authors. */
const mostLookups = 100;
/** Most authors that are checked. Mail programs show the first author. */
const mostAuthors = 10;

type Author = Pick<DKIMVerifyResult, 'headerFrom' | 'fromFields'>;

/**
 * Puts the authors that mail programs show before the authors that mailauth found, without the
 * malformed addresses of mailauth. If the two readings differ, the mail counts as written by
 * several authors: a DMARC pass for a hidden author then never vouches for the shown author. `from`
 * is a header block with only the From fields.
 */
export function withShownAuthors<Found extends Author>(found: Found, from: Buffer): Found {
  const values = readHeaderBlock(from).all('from');
  const shown = values.flatMap((value) => parseAddressList(value).addresses);
  if (shown.length === 0) return found;
  const clean = found.headerFrom.filter((address) => parseAddress(address) !== null);
  return { ...found, headerFrom: [...shown.map(({ email }) => email), ...clean] };
}

/** Domains of passed or open checks, which DMARC compares with the domain of the author. */
export interface Identifiers {
  spf: string[];
  dkim: { id?: string; domain: string; underSized?: number }[];
}

export interface Evidence {
  author: Author;
  /** Whether the whole header was read: only then no further author can follow. */
  isWhole: boolean;
  passed: Identifiers;
  /** Identifiers of checks that DNS trouble left open. Null if they are unknown. */
  open: Identifiers | null;
  arc: ARCResult | null;
}

/** Verdict of the mail. With `permerror`, `dmarc` is null unless an author fails under `reject`. */
export interface Judged {
  dmarc: DMARCResult | null;
  verdict: string;
}

export interface DmarcCheck {
  /** Author from the From fields alone, known while the body is still being hashed. */
  author: Promise<Author>;
  /** @returns false without exactly one author's domain (RFC 9989 5.3.1). */
  evaluate(
    author: Author,
    identifiers: Identifiers,
    arc?: ARCResult | null,
  ): Promise<DMARCResult | false>;
  /**
   * Starts the time limit of the alignment look-ups. Call it once the policy look-up has ended or
   * failed.
   */
  align(): void;
}

/** Creates the check. `from` is a header block of the From fields. Looks up each name once. */
export function dmarcCheck(from: Buffer, resolver: AuthResolver, clock: Clock): DmarcCheck {
  const { resolve, extend } = boundLookups(resolver, clock, {
    most: mostLookups,
    eachMs: lookupMs,
    allMs: policyMs,
  });
  const library = import('mailauth');
  return {
    author: library.then(async ({ dkimVerify }) =>
      withShownAuthors(await dkimVerify(from, { resolver: resolve }), from),
    ),
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
 * Gives `permerror` to a mail without exactly one author, or with a cut header. Still reads the
 * policy of each author and reports the first author that fails under `reject`, so that a second
 * author cannot hide the first.
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
 * Derives the verdict from the passed identifiers. A failure becomes `temperror` only if the open
 * checks are unknown, or if their pass would prove the author: broken DNS of an unrelated domain
 * then cannot hide a failure.
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
