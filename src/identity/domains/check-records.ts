// Look-ups of a domain's records: all at once, over the configured resolver. dns-records.ts has the
// expected records and judges the values.
import type { App } from '../../core/app.ts';
import { createDns, type Dns, DnsError } from '../../platform/net/dns.ts';
import { type ExpectedRecord, type RecordCheck, recordName, recordsOf } from './dns-records.ts';
import type { DomainRows } from './domains.ts';
import { organizationalDomain } from './schema.ts';

const mostValues = 20;
const longestValue = 1_000;

export interface CheckResult {
  record: ExpectedRecord;
  /** Its recordName: the check is stored under it. */
  name: string;
  check: RecordCheck;
  /** Set if DNS did not answer: the record is unknown. */
  isTemporary: boolean;
}

/** Returns the values under a name, possibly none. @throws DnsError for any other failure. */
async function lookUp(dns: Dns, type: ExpectedRecord['type'], name: string): Promise<string[]> {
  try {
    const values = type === 'TXT' ? await dns.txt(name) : await mxValues(dns, name);
    return values.slice(0, mostValues).map((value) => value.slice(0, longestValue));
  } catch (error) {
    if (error instanceof DnsError && /^no(-data|t-found)$/.test(error.kind)) return [];
    throw error;
  }
}

async function mxValues(dns: Dns, name: string): Promise<string[]> {
  const { records } = await dns.mx(name);
  return records.map(({ preference, exchange }) => `${preference} ${exchange}`);
}

async function judge(dns: Dns, record: ExpectedRecord): Promise<RecordCheck> {
  const check = record.judge(await lookUp(dns, record.type, record.name));
  if (check.status !== 'missing' || record.purpose !== 'dmarc') return check;
  // RFC 7489 6.6.3: a name without a record of its own has the record of its organizational domain.
  const organizational = organizationalDomain(record.name);
  const name = `_dmarc.${organizational}`;
  return organizational === null || name === record.name
    ? check
    : record.judge(await lookUp(dns, 'TXT', name));
}

async function checkRecord(dns: Dns, record: ExpectedRecord): Promise<CheckResult> {
  const name = recordName(record);
  try {
    return { record, name, check: await judge(dns, record), isTemporary: false };
  } catch (error) {
    if (!(error instanceof DnsError)) throw error;
    const { temporary: isTemporary, message } = error;
    const status = isTemporary ? 'pending' : 'invalid';
    return { record, name, check: { status, found: [], error: message }, isTemporary };
  }
}

/**
 * Checks each expected record, in order. Asks with an empty cache: a caller that has just published
 * a record must not get a cached answer.
 */
export async function checkRecords(app: App, { domain, keys }: DomainRows): Promise<CheckResult[]> {
  const { config, clock, random } = app;
  const records = recordsOf(domain, keys, config.delivery.hostname);
  const dns = createDns({ servers: config.dns.servers, clock, random });
  try {
    return await Promise.all(records.map((record) => checkRecord(dns, record)));
  } finally {
    dns.close();
  }
}
