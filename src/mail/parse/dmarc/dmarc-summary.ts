// The stored summary of a DMARC aggregate report: totals and the most important sources. Pure; runs
// in the worker, so that the main thread never receives 10,000 records. dmarc-report.ts reads the
// report.
import type { DmarcRecord, DmarcReport } from './dmarc-report.ts';

/** Messages from an IP address with the same disposition, results and From domain. */
export type DmarcSource = Pick<
  DmarcRecord,
  'count' | 'disposition' | 'dkim' | 'spf' | 'headerFrom'
> & {
  ip: string;
};

export interface DmarcSummary {
  /** Domain of the policy, lower case. */
  domain: string;
  /** Author of the report: the name, or else the address. */
  reporter: string;
  reportId: string;
  /** Begin of the reported time, ms since 1970. */
  beginsAt: number;
  endsAt: number;
  messages: number;
  passed: number;
  failed: number;
  /** Sources with failures first, then the largest; at most 200. */
  sources: DmarcSource[];
}

const mostSources = 200;

/** Returns true if either aligned result is a pass (RFC 7489 4.2). */
export function hasPassed({ dkim, spf }: Pick<DmarcSource, 'dkim' | 'spf'>): boolean {
  return dkim === 'pass' || spf === 'pass';
}

function sum(sources: readonly DmarcSource[]): number {
  return sources.reduce((total, { count }) => total + count, 0);
}

/** Adds up the counts of records with the same address, disposition, results and From domain. */
function mergeRecords(records: readonly DmarcRecord[]): DmarcSource[] {
  const merged = new Map<string, DmarcSource>();
  for (const { sourceIp: ip, count, disposition, dkim, spf, headerFrom } of records) {
    const name = JSON.stringify([ip, disposition, dkim, spf, headerFrom]);
    const known = merged.get(name);
    if (known) known.count += count;
    else merged.set(name, { ip, count, disposition, dkim, spf, headerFrom });
  }
  return [...merged.values()];
}

export function summarizeReport(report: DmarcReport): DmarcSummary {
  const { policy, organizationName, email, reportId, beginAt, endAt, records } = report;
  const sources = mergeRecords(records);
  const messages = sum(sources);
  const passed = sum(sources.filter(hasPassed));
  return {
    domain: policy.domain,
    reporter: organizationName ?? email ?? 'unknown',
    reportId,
    beginsAt: beginAt,
    endsAt: endAt,
    messages,
    passed,
    failed: messages - passed,
    sources: sources
      .sort((a, b) => Number(hasPassed(a)) - Number(hasPassed(b)) || b.count - a.count)
      .slice(0, mostSources),
  };
}
