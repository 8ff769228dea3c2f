// The DNS records that a sending domain needs, and how values found are judged. Pure:
// check-records.ts does the look-ups.
import {
  type DkimAlgorithm,
  dkimRecordProblem,
  dkimRecordValue,
} from '../../mail/mime/dkim/dkim-key.ts';
import type { DiagnosisCode } from './diagnoses/codes.ts';
import {
  type ExpectedSpf,
  expectedSpf,
  lackingIn,
  lackingSentence,
  type SpfConfig,
  unknownSentence,
} from './expected-spf.ts';
import { mergedDmarc, mergedSpf, spfRecordsIn } from './merged-records.ts';
import type { DomainKeyRow, DomainRow } from './queries.ts';

export type RecordPurpose = 'dkim' | 'spf' | 'return-path' | 'dmarc' | 'mx';
export type RecordStatus = 'pending' | 'valid' | 'invalid' | 'missing';

/** Verdict on the values that DNS has for a record. */
export interface RecordCheck {
  status: RecordStatus;
  found: string[];
  /** The problem in words. For a valid record: a possible improvement. */
  error: string | null;
  diagnosis: { code: DiagnosisCode; remedy: string } | null;
}

export interface ExpectedRecord {
  purpose: RecordPurpose;
  type: 'TXT' | 'MX';
  name: string;
  value: string;
  required: boolean;
  /** Id of the key that a `dkim` record publishes; null for records of a different purpose. */
  keyId: string | null;
  /**
   * Time until which mail in transit needs the record of a replaced key, ms since 1970; null for
   * all remaining records.
   */
  keepUntil: number | null;
  /** Judges the values found under the name. */
  judge(values: readonly string[]): RecordCheck;
  /** Returns the value to publish, given the values found under the name, and advice about it. */
  advise(found: readonly string[], status: RecordStatus): Advice;
}

interface Advice {
  value: string;
  /** Null without advice. */
  advice: string | null;
}

/** Time for which mail can be in transit after it was signed. */
const keptMs = 7 * 24 * 3_600_000;

/** Returns the host of the envelope sender, to which bounces are sent. */
export function returnPathOf(domain: string, label = 'bounce'): string {
  return `${label}.${domain}`;
}

/** Returns the name under which a check is stored, such as `TXT _dmarc.example.com`. */
export function recordName({ type, name }: { type: string; name: string }): string {
  return `${type} ${name}`;
}

/**
 * Returns the active keys that prove a domain: the RSA keys, as all receivers check RSA. Without an
 * RSA key, returns all active keys.
 */
export function provingKeys(keys: readonly DomainKeyRow[]): DomainKeyRow[] {
  const active = keys.filter((key) => key.is_active === 1);
  const rsa = active.filter((key) => key.algorithm === 'rsa-sha256');
  return rsa.length > 0 ? rsa : active;
}

/**
 * Returns the main key: the newest published key that proves the domain, or else the newest
 * unpublished key.
 */
export function primaryKey(keys: readonly DomainKeyRow[]): DomainKeyRow | undefined {
  const proving = provingKeys(keys);
  return proving.findLast((key) => key.is_published === 1) ?? proving.at(-1);
}

/**
 * Returns every record of a domain, in the order in which people publish them. A local domain has
 * no records, as local mail never leaves the machine. `keys` are in the order of generations, and
 * include keys that were replaced less than 7 days before `now`.
 */
export function recordsOf(
  domain: DomainRow,
  keys: readonly DomainKeyRow[],
  delivery: SpfConfig,
  now: number,
): ExpectedRecord[] {
  if (domain.is_local === 1) return [];
  const primary = primaryKey(keys);
  const mailHost = delivery.hostname;
  const expected = expectedSpf(delivery, domain);
  const mx = `10 ${mailHost}`;
  const plain = { required: false, keyId: null, keepUntil: null };
  const isKept = ({ retired_at }: DomainKeyRow) => retired_at !== null && retired_at + keptMs > now;
  const spf = {
    value: proposedSpf([], expected),
    judge: (values: readonly string[]) => judgeSpf(values, expected),
    advise: (found: readonly string[], status: RecordStatus) => adviseSpf(found, status, expected),
  };
  // Reports go to the return path, which has our MX. RFC 7489 7.1 requires no consent of a
  // subdomain.
  const reportsTo = `dmarc@${domain.return_path}`;
  const dmarc = `v=DMARC1; p=none; rua=mailto:${reportsTo}`;
  const own: ExpectedRecord[] = [
    {
      ...plain,
      purpose: 'mx',
      type: 'MX',
      name: domain.domain,
      value: mx,
      judge: (values) => judgeMx(values, mailHost),
      advise: (found, status) => adviseMx(mx, found, status, domain.domain),
    },
  ];
  return [
    ...keys
      .filter((key) => key.is_active === 1)
      .map((key) => dkimRecord(domain.domain, key, key.id === primary?.id)),
    ...keys.filter(isKept).map((key) => dkimRecord(domain.domain, key, false)),
    {
      ...plain,
      required: true,
      purpose: 'return-path',
      type: 'MX',
      name: domain.return_path,
      value: mx,
      judge: (values) => judgeMx(values, mailHost),
      advise: (found, status) => adviseMx(mx, found, status, domain.return_path),
    },
    { ...plain, ...spf, purpose: 'return-path', type: 'TXT', name: domain.return_path },
    { ...plain, ...spf, purpose: 'spf', type: 'TXT', name: domain.domain },
    {
      ...plain,
      purpose: 'dmarc',
      type: 'TXT',
      name: `_dmarc.${domain.domain}`,
      value: dmarc,
      judge: judgeDmarc,
      advise: (found) => adviseDmarc(found, dmarc, reportsTo),
    },
    // A domain without a mailbox here keeps its own MX, as all mail for it is received elsewhere.
    ...(domain.receives_mail === 1 ? own : []),
  ];
}

function adviseMx(
  value: string,
  found: readonly string[],
  status: RecordStatus,
  domain: string,
): Advice {
  if (status !== 'invalid') return { value, advice: null };
  const advice = `replaces ${found.join(', ')}: all mail to addresses of ${domain} comes here from then on`;
  return { value, advice };
}

/**
 * Returns the SPF record to publish. If a mechanism is unknown, a new record ends in `?all`, which
 * rejects no server.
 */
function proposedSpf(records: readonly string[], { mechanisms, unknown }: ExpectedSpf): string {
  return mergedSpf(records, mechanisms, unknown ? '?all' : undefined);
}

function adviseSpf(found: readonly string[], status: RecordStatus, expected: ExpectedSpf): Advice {
  const records = spfRecordsIn(found);
  const value = status === 'valid' ? (records[0] ?? '') : proposedSpf(records, expected);
  if (expected.unknown && records.length < 2) {
    const { error, remedy } = unknownSentence(expected.unknown);
    return { value, advice: `${error}. ${remedy}` };
  }
  if (status !== 'invalid') return { value, advice: null };
  const added = lackingIn(records[0] ?? '', expected).join(' ');
  const advice =
    records.length > 1
      ? `one record to replace the ${records.length} present ones`
      : `replaces the present record: keeps all of it and adds ${added}`;
  return { value, advice };
}

function adviseDmarc(found: readonly string[], plain: string, reportsTo: string): Advice {
  const [record, ...others] = found;
  if (record === undefined) return { value: plain, advice: null };
  const value = mergedDmarc(record, reportsTo);
  if (others.length > 0) return { value, advice: 'one record to replace the present ones' };
  const unchanged = value.replaceAll(/\s/g, '') === record.replaceAll(/[\s]|;\s*$/g, '');
  if (unchanged) return { value: record, advice: null };
  if (judgeDmarc(found).status !== 'valid') return { value, advice: 'replaces the present record' };
  const advice = `the present record is enough; with mailto:${reportsTo} in rua= its reports come here too`;
  return { value, advice };
}

function dkimRecord(domain: string, key: DomainKeyRow, required: boolean): ExpectedRecord {
  const algorithm: DkimAlgorithm = key.algorithm;
  const keepUntil = key.retired_at === null ? null : key.retired_at + keptMs;
  return {
    purpose: 'dkim',
    type: 'TXT',
    name: `${key.selector}._domainkey.${domain}`,
    value: dkimRecordValue(algorithm, key.public_key),
    required,
    keyId: key.id,
    keepUntil,
    advise: () => ({
      value: dkimRecordValue(algorithm, key.public_key),
      advice:
        keepUntil === null
          ? null
          : `keep until ${new Date(keepUntil).toISOString().slice(0, 10)}: mail on its way is signed with this key`,
    }),
    judge(values) {
      if (values.length === 0) return missing;
      const problems = values.map((text) => dkimRecordProblem(text, algorithm, key.public_key));
      const error = problems.includes(null) ? null : (problems[0] ?? null);
      return judged(error === null ? 'valid' : 'invalid', values, error);
    },
  };
}

const missing: RecordCheck = { status: 'missing', found: [], error: null, diagnosis: null };

function judged(status: RecordStatus, found: readonly string[], error: string | null): RecordCheck {
  return { status, found: [...found], error, diagnosis: null };
}

function judgeMx(values: readonly string[], mailHost: string): RecordCheck {
  if (values.length === 0) return missing;
  const hosts = values.map((value) => value.split(' ')[1]?.replace(/\.$/, '').toLowerCase());
  if (hosts.includes(mailHost.toLowerCase())) return judged('valid', values, null);
  return judged('invalid', values, `mail goes to other hosts than ${mailHost}`);
}

/**
 * Judges SPF by the expected mechanisms alone: it does not resolve a foreign `include:`. Gives no
 * verdict while the mechanism of a smarthost is unknown.
 */
function judgeSpf(values: readonly string[], expected: ExpectedSpf): RecordCheck {
  const found = spfRecordsIn(values);
  if (found.length > 1) {
    return judged('invalid', found, 'there is more than one SPF record (RFC 7208 4.5)');
  }
  if (expected.unknown) return judged('pending', found, unknownSentence(expected.unknown).error);
  const [record] = found;
  if (record === undefined) return missing;
  const lacking = lackingIn(record, expected);
  if (lacking.length === 0) return judged('valid', found, null);
  return judged('invalid', found, lackingSentence(lacking));
}

function judgeDmarc(values: readonly string[]): RecordCheck {
  const found = values.filter((text) => /^v\s*=\s*DMARC1\s*(;|$)/.test(text));
  if (found.length === 0) return missing;
  const error =
    found.length > 1
      ? 'there is more than one DMARC record (RFC 7489 6.6.3)'
      : /;\s*p\s*=\s*(none|quarantine|reject)\s*(;|$)/i.test(found[0] ?? '')
        ? null
        : 'the record has no p= tag of none, quarantine or reject';
  return judged(error === null ? 'valid' : 'invalid', found, error);
}
