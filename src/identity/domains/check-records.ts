// Look-ups of a domain's records, all at the same time, by the configured resolver. dns-records.ts
// has the expected records and judges the values. diagnoses/ explains wrong records.
import type { App } from '../../core/app.ts';
import {
  createProbe,
  type Probe,
  type ProbeAnswer,
  type ProbeQuestion,
} from '../../platform/net/dns-probe.ts';
import { isPublicAddress } from '../../platform/net/network-address.ts';
import { diagnose } from './diagnoses/diagnose.ts';
import { Facts, type Finding } from './diagnoses/facts.ts';
import { type ExpectedRecord, type RecordCheck, recordName, recordsOf } from './dns-records.ts';
import type { DomainRows } from './domains.ts';
import { expectedSpf } from './expected-spf.ts';
import { organizationalDomain } from './schema.ts';

/** Bounds of a check. dns-probe.ts bounds the answers. */
const bounds = {
  /** Longest time of the look-ups. Leaves half a second, so that a check ends within 10 s. */
  deadlineMs: 9_500,
  mostQuestions: 200,
  /** Time-out of a name server. Three servers are asked in sequence, for three seconds in all. */
  authorityMs: 1_000,
};
const mostValues = 20;
const longestValue = 1_000;
/** Most CNAMEs that further questions follow, if the resolver does not follow them. */
const longestChain = 8;

export interface CheckResult {
  record: ExpectedRecord;
  /** Name by `recordName`, under which the check is stored. */
  name: string;
  check: RecordCheck;
  /** Whether DNS did not answer, so that the state of the record is unknown. */
  isTemporary: boolean;
}

/** Returns the last answer of a chain of CNAMEs. */
async function lookUp(probe: Probe, facts: Facts, question: ProbeQuestion): Promise<ProbeAnswer> {
  let answer = await probe.ask(question);
  facts.put(question, answer);
  for (let step = 0; step < longestChain; step++) {
    if (answer.kind !== 'no-data' || answer.alias === null) break;
    answer = await probe.ask({ ...question, name: answer.alias });
  }
  return answer;
}

async function checkRecord(
  probe: Probe,
  facts: Facts,
  record: ExpectedRecord,
): Promise<CheckResult> {
  const name = recordName(record);
  const { type } = record;
  const own = await lookUp(probe, facts, { type, name: record.name });
  const answer = await inherited(probe, facts, record, own);
  const values = answer.values.slice(0, mostValues).map((value) => value.slice(0, longestValue));
  if (answer.problem === null) {
    return { record, name, check: record.judge(values), isTemporary: false };
  }
  const check: RecordCheck = {
    status: 'pending',
    found: [],
    error: answer.problem,
    diagnosis: null,
  };
  return { record, name, check, isTemporary: true };
}

/** RFC 7489 6.6.3: a name without a DMARC record uses the record of the organizational domain. */
async function inherited(
  probe: Probe,
  facts: Facts,
  record: ExpectedRecord,
  own: ProbeAnswer,
): Promise<ProbeAnswer> {
  if (record.purpose !== 'dmarc' || own.problem !== null) return own;
  if (record.judge(own.values).status !== 'missing') return own;
  const name = `_dmarc.${facts.of.organizational}`;
  return name === record.name ? own : lookUp(probe, facts, { type: 'TXT', name });
}

/**
 * Checks each expected record, in order, and explains wrong records. Uses an empty cache: a caller
 * that has just published a record must not get a cached answer.
 */
export async function checkRecords(app: App, { domain, keys }: DomainRows): Promise<CheckResult[]> {
  const { config, clock, random } = app;
  const mailHost = config.delivery.hostname;
  const records = recordsOf(domain, keys, config.delivery, clock.now());
  const facts = new Facts({
    domain: domain.domain,
    organizational: organizationalDomain(domain.domain) ?? domain.domain,
    mailHost,
    spf: expectedSpf(config.delivery, domain),
    keys,
    randomLabel: `svc-${Buffer.from(random.bytes(8)).toString('hex')}`,
    authorityAt: app.nameServerAt ?? publicNameServer,
  });
  const probe = createProbe({ servers: config.dns.servers, clock, random, ...bounds });
  try {
    const results = await Promise.all(records.map((record) => checkRecord(probe, facts, record)));
    const findings = await diagnose(probe, facts, results);
    return results.map((result, index) => explained(result, findings[index] ?? null));
  } finally {
    probe.close();
  }
}

/** A zone may list any address as a name server. Private addresses are never asked. */
const publicNameServer = (address: string) => (isPublicAddress(address) ? address : null);

function explained(result: CheckResult, finding: Finding | null): CheckResult {
  if (!finding) return result;
  const { code, error, remedy, isInvalid = false } = finding;
  const { check } = result;
  const status = isInvalid ? 'invalid' : check.status;
  return { ...result, check: { ...check, status, error, diagnosis: { code, remedy } } };
}
