// Reads DMARC aggregate reports (RFC 7489 7.2 and appendix C), in which receivers describe mail
// that names a domain. Takes bytes and returns a bounded value, or null for a malformed report.
import { isUtf8 } from 'node:buffer';
import { isIP } from 'node:net';
import { cleanLine } from '../../mime/headers/header-fields.ts';
import { readXml, XmlFault } from './xml-events.ts';
import { gunzip, unzipOne } from './zip-entry.ts';

export type DmarcDisposition = 'none' | 'quarantine' | 'reject';
export type DmarcVerdict = 'pass' | 'fail';

export interface DmarcPolicy {
  domain: string;
  adkim: 'relaxed' | 'strict' | null;
  aspf: 'relaxed' | 'strict' | null;
  p: DmarcDisposition | null;
  sp: DmarcDisposition | null;
  /** Percentage of mail under the policy. */
  pct: number | null;
}

export interface DmarcAuthResult {
  domain: string;
  /** DKIM selector; null for SPF. */
  selector: string | null;
  /** Result as reported, in lower case: `pass`, `fail`, `softfail`, `none`, `temperror`, … */
  result: string;
}

export interface DmarcRecord {
  sourceIp: string;
  count: number;
  disposition: DmarcDisposition | null;
  /** Results of alignment, which decide whether the mail passes. */
  dkim: DmarcVerdict | null;
  spf: DmarcVerdict | null;
  /** Reasons why the disposition differs from the policy: `forwarded`, `mailing_list`, … */
  reasons: string[];
  headerFrom: string | null;
  envelopeFrom: string | null;
  dkimResults: DmarcAuthResult[];
  spfResults: DmarcAuthResult[];
}

export interface DmarcReport {
  organizationName: string | null;
  email: string | null;
  reportId: string;
  /** Begin of the reported time, ms since 1970. */
  beginAt: number;
  endAt: number;
  policy: DmarcPolicy;
  /** First 10,000 records that have an address and a count. */
  records: DmarcRecord[];
  /** True if the report has more records. */
  isTruncated: boolean;
}

export const dmarcLimits = {
  /** Most bytes of a report, both packed and unpacked. */
  bytes: 10 * 1024 * 1024,
  records: 10_000,
  /** Most XML elements in a record, or in a different part directly below the root. */
  elements: 500,
  /**
   * Most XML elements of a report. 10 MB of real records have fewer; 10 MB of the smallest records
   * have three times as many.
   */
  elementsInAll: 1_000_000,
  textCharacters: 1000,
  results: 20,
} as const;

/** An element below the root, with its content. */
interface Element {
  name: string;
  text: string;
  children: Element[];
}

/**
 * Yields the elements directly below `<feedback>` one at a time, so that a large report is never
 * whole in memory.
 */
function* readParts(source: string): Generator<Element, void> {
  const open: Element[] = [];
  let depth = 0;
  let elements = 0;
  let all = 0;
  for (const event of readXml(source)) {
    const current = open.at(-1);
    if (event.kind === 'text') {
      if (current && current.text.length < dmarcLimits.textCharacters) current.text += event.text;
    } else if (event.kind === 'open') {
      depth += 1;
      if (depth === 1) {
        if (event.name !== 'feedback') throw new XmlFault('no feedback');
        continue;
      }
      elements = depth === 2 ? 1 : elements + 1;
      if (elements > dmarcLimits.elements) throw new XmlFault('too many elements in one part');
      all += 1;
      if (all > dmarcLimits.elementsInAll) throw new XmlFault('too many elements');
      const element: Element = { name: event.name, text: '', children: [] };
      current?.children.push(element);
      open.push(element);
    } else {
      depth -= 1;
      const closed = open.pop();
      if (closed && open.length === 0) yield closed;
    }
  }
}

function child(element: Element | undefined, name: string): Element | undefined {
  return element?.children.find((one) => one.name === name);
}

function text(element: Element | undefined, name: string): string | null {
  const value = cleanLine(child(element, name)?.text.slice(0, dmarcLimits.textCharacters) ?? '');
  return value.slice(0, 255) || null;
}

function wholeNumber(value: string | null, most: number): number | null {
  if (value === null || !/^\d{1,15}$/.test(value)) return null;
  return Number(value) <= most ? Number(value) : null;
}

function word<T extends string>(value: string | null, words: readonly T[]): T | null {
  const lower = value?.toLowerCase();
  return words.find((one) => one === lower) ?? null;
}

const dispositions = ['none', 'quarantine', 'reject'] as const;
const verdicts = ['pass', 'fail'] as const;
const latest = 253_402_300_799;

function alignment(value: string | null): 'relaxed' | 'strict' | null {
  const mode = word(value, ['r', 's']);
  return mode === null ? null : mode === 'r' ? 'relaxed' : 'strict';
}

function domainName(value: string | null): string | null {
  return value?.toLowerCase().replace(/\.$/, '') ?? null;
}

function readPolicy(element: Element | undefined): DmarcPolicy | null {
  const domain = domainName(text(element, 'domain'));
  if (domain === null) return null;
  return {
    domain,
    adkim: alignment(text(element, 'adkim')),
    aspf: alignment(text(element, 'aspf')),
    p: word(text(element, 'p'), dispositions),
    sp: word(text(element, 'sp'), dispositions),
    pct: wholeNumber(text(element, 'pct'), 100),
  };
}

function readResults(element: Element | undefined, name: string): DmarcAuthResult[] {
  const found = (element?.children ?? []).filter((one) => one.name === name);
  return found.slice(0, dmarcLimits.results).flatMap((one) => {
    const domain = domainName(text(one, 'domain'));
    const result = text(one, 'result')?.toLowerCase();
    if (domain === null || result === undefined) return [];
    return [{ domain, selector: text(one, 'selector'), result }];
  });
}

function readReasons(evaluated: Element | undefined): string[] {
  const found = (evaluated?.children ?? []).filter((one) => one.name === 'reason');
  return found
    .slice(0, dmarcLimits.results)
    .flatMap((one) => text(one, 'type')?.toLowerCase() ?? []);
}

function readRecord(element: Element): DmarcRecord | null {
  const row = child(element, 'row');
  const evaluated = child(row, 'policy_evaluated');
  const identifiers = child(element, 'identifiers');
  const results = child(element, 'auth_results');
  const sourceIp = text(row, 'source_ip');
  const count = wholeNumber(text(row, 'count'), 1_000_000_000);
  if (sourceIp === null || isIP(sourceIp) === 0 || count === null) return null;
  return {
    sourceIp,
    count,
    disposition: word(text(evaluated, 'disposition'), dispositions),
    dkim: word(text(evaluated, 'dkim'), verdicts),
    spf: word(text(evaluated, 'spf'), verdicts),
    reasons: readReasons(evaluated),
    headerFrom: domainName(text(identifiers, 'header_from')),
    envelopeFrom: domainName(text(identifiers, 'envelope_from')),
    dkimResults: readResults(results, 'dkim'),
    spfResults: readResults(results, 'spf'),
  };
}

function readFeedback(source: string): DmarcReport | null {
  let metadata: Element | undefined;
  let policy: DmarcPolicy | null = null;
  const records: DmarcRecord[] = [];
  let isTruncated = false;
  for (const part of readParts(source)) {
    if (part.name === 'report_metadata') metadata ??= part;
    else if (part.name === 'policy_published') policy ??= readPolicy(part);
    else if (part.name === 'record') {
      const record = readRecord(part);
      if (record === null) continue;
      isTruncated = records.length === dmarcLimits.records;
      if (isTruncated) break;
      records.push(record);
    }
  }
  const range = child(metadata, 'date_range');
  const begin = wholeNumber(text(range, 'begin'), latest);
  const end = wholeNumber(text(range, 'end'), latest);
  const reportId = text(metadata, 'report_id');
  if (policy === null || reportId === null || begin === null || end === null) return null;
  return {
    organizationName: text(metadata, 'org_name'),
    email: text(metadata, 'email'),
    reportId,
    beginAt: begin * 1000,
    endAt: end * 1000,
    policy,
    records,
    isTruncated,
  };
}

function decode(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString('utf16le', 2);
  const source = isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
  return source.replace(/^\ufeff/, '');
}

function unpack(bytes: Buffer): Buffer | null {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzip(bytes, dmarcLimits.bytes);
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return unzipOne(bytes, dmarcLimits.bytes);
  return bytes;
}

/**
 * Reads an aggregate report from an attachment: XML, gzip or a zip with a single file, recognized
 * by the first bytes. Returns null for other content, a malformed report, a DTD, or more than 10 MB
 * packed or unpacked. 10 MB take up to 1 s, so large reports must be read in a worker.
 */
export function readDmarcReport(bytes: Buffer): DmarcReport | null {
  if (bytes.length > dmarcLimits.bytes) return null;
  const source = unpack(bytes);
  if (source === null) return null;
  try {
    return readFeedback(decode(source));
  } catch (error) {
    if (error instanceof XmlFault) return null;
    throw error;
  }
}
