// Finds the first diagnosis of each record. Asks the questions of the diagnoses in rounds, because
// an answer can lead to further questions. The probe bounds their number and time.
import type { Probe, ProbeQuestion } from '../../../platform/net/dns-probe.ts';
import { dkimDiagnoses } from './dkim.ts';
import { dmarcDiagnoses } from './dmarc.ts';
import type { Diagnosis, Facts, Finding, Suspect } from './facts.ts';
import { mxDiagnoses } from './mx.ts';
import { spfDiagnoses } from './spf.ts';
import { authorityAnswer, hiddenDiagnoses, placeDiagnoses } from './zone.ts';

/** Most rounds of questions: a chain of SPF records needs eleven at most. */
const mostRounds = 16;

const diagnoses: readonly Diagnosis[] = [
  ...hiddenDiagnoses,
  ...dkimDiagnoses,
  ...spfDiagnoses,
  ...dmarcDiagnoses,
  ...mxDiagnoses,
  ...placeDiagnoses,
];

/** Returns the finding of each record, in order; null for a record without a finding. */
export async function diagnose(
  probe: Probe,
  facts: Facts,
  suspects: readonly Suspect[],
): Promise<(Finding | null)[]> {
  for (let round = 0; round < mostRounds; round++) {
    const open = openQuestions(facts, suspects);
    if (open.length === 0) break;
    await Promise.all(open.map(async (question) => facts.put(question, await probe.ask(question))));
  }
  return suspects.map((suspect) => findingOf(facts, suspect));
}

function openQuestions(facts: Facts, suspects: readonly Suspect[]): ProbeQuestion[] {
  return suspects
    .flatMap((suspect) => diagnoses.flatMap((one) => one.needs?.(suspect, facts) ?? []))
    .filter((question) => facts.get(question) === undefined);
}

function findingOf(facts: Facts, suspect: Suspect): Finding | null {
  for (const diagnosis of diagnoses) {
    const finding = diagnosis.find(suspect, facts);
    if (finding) return { ...finding, error: finding.error + doubtOf(facts, suspect) };
  }
  return null;
}

/** Returns a remark if no name server of the zone answered, only the resolver; else ''. */
function doubtOf(facts: Facts, suspect: Suspect): string {
  const authority = suspect.check.status === 'valid' ? undefined : authorityAnswer(suspect, facts);
  if (authority?.answer.kind !== 'silent') return '';
  return ` (the name servers of ${authority.zone} did not answer in 3 s: this is the answer of our DNS servers)`;
}
