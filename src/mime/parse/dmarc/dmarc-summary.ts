// What is kept of a DMARC aggregate report: totals, and the sources that matter most. Pure; made in
// the worker, so that 10,000 records never cross to the main thread. Reading is dmarc-report.ts.
import type { DmarcRecord, DmarcReport } from './dmarc-report.ts';

/** Mail of one address with one judgement. */
export type DmarcSource = Pick<
  DmarcRecord,
  'count' | 'disposition' | 'dkim' | 'spf' | 'headerFrom'
> & {
  ip: string;
};

export interface DmarcSummary {
  /** The policy domain, lower case. */
  domain: string;
  /** Who wrote the report: its name, else its address. */
  reporter: string;
  reportId: string;
  /** Milliseconds since 1970. */
  beginsAt: number;
  endsAt: number;
  messages: number;
  passed: number;
  failed: number;
  /** Those that failed first, then the largest; at most 200. */
  sources: DmarcSource[];
}

const mostSources = 200;

/** RFC 7489 4.2: one aligned pass of the two is a pass. */
export function hasPassed({ dkim, spf }: Pick<DmarcSource, 'dkim' | 'spf'>): boolean {
  return dkim === 'pass' || spf === 'pass';
}

function sum(sources: readonly DmarcSource[]): number {
  return sources.reduce((total, { count }) => total + count, 0);
}

/** One source for all records that differ in the count alone. */
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

/** The summary of a report. */
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
