// Diagnoses of DMARC records (RFC 7489).
import type { ProbeQuestion } from '../../../platform/net/dns-probe.ts';
import { readTag } from '../merged-records.ts';
import { organizationalDomain } from '../schema.ts';
import type { Diagnosis, Facts, Suspect } from './facts.ts';

const isDmarc = ({ record }: Suspect) => record.purpose === 'dmarc';
/** Most addresses for reports that are read from a record. */
const mostUris = 10;

const recordsIn = (texts: readonly string[]) =>
  texts.filter((text) => /^v\s*=\s*DMARC1\s*(;|$)/.test(text));

/** Returns the tags of a DMARC record; null unless exactly one DMARC record was found. */
function tagsOf(suspect: Suspect): Map<string, string> | null {
  if (!isDmarc(suspect)) return null;
  const records = recordsIn(suspect.check.found);
  if (records.length !== 1) return null;
  return new Map((records[0] ?? '').split(';').map(readTag));
}

const multipleDmarc: Diagnosis = {
  find(suspect) {
    if (!isDmarc(suspect) || recordsIn(suspect.check.found).length < 2) return null;
    return {
      code: 'multiple-dmarc',
      error: 'there is more than one DMARC record (RFC 7489 6.6.3)',
      remedy: 'Replace all of them by the one that is shown here: receivers take none of several.',
    };
  },
};

const noPolicy: Diagnosis = {
  find(suspect) {
    if (tagsOf(suspect) === null || suspect.check.status !== 'invalid') return null;
    return {
      code: 'dmarc-no-policy',
      error: 'the record has no p= tag of none, quarantine or reject',
      remedy: 'Add p=none; once all reports show that your mail passes, p=quarantine.',
    };
  },
};

/** Strict SPF alignment requires the domain itself, but our return path is a name below it. */
const alignment: Diagnosis = {
  find(suspect, { of: { domain } }) {
    if (tagsOf(suspect)?.get('aspf')?.toLowerCase() !== 's') return null;
    return {
      code: 'alignment',
      error: `aspf=s asks for a return path at ${domain} itself, so SPF never counts for our mail`,
      remedy: 'Remove aspf=s, or rely on DKIM alone.',
    };
  },
};

/** Returns the domains in `rua` and `ruf` that belong to a different organizational domain. */
function foreignDomains(suspect: Suspect, { of: { organizational } }: Facts): string[] {
  const tags = tagsOf(suspect);
  const uris = [tags?.get('rua'), tags?.get('ruf')].flatMap((list) => list?.split(',') ?? []);
  const domains = uris.slice(0, mostUris).flatMap((uri) => {
    const [, domain] = /^\s*mailto:[^@\s]+@([^!\s]+)/i.exec(uri) ?? [];
    return domain === undefined ? [] : [domain.toLowerCase().replace(/\.$/, '')];
  });
  return [...new Set(domains)].filter(
    (one) => (organizationalDomain(one) ?? one) !== organizational,
  );
}

function consentOf(suspect: Suspect, foreign: string): ProbeQuestion {
  const [, at = ''] = /^_dmarc\.(.+)$/.exec(suspect.record.name) ?? [];
  return { type: 'TXT', name: `${at}._report._dmarc.${foreign}` };
}

const ruaConsent: Diagnosis = {
  needs: (suspect, facts) =>
    foreignDomains(suspect, facts).map((foreign) => consentOf(suspect, foreign)),
  find(suspect, facts) {
    const silent = foreignDomains(suspect, facts).find((foreign) => {
      const answer = facts.get(consentOf(suspect, foreign));
      const isThere = answer?.values.some((text) => /^v\s*=\s*DMARC1/.test(text));
      return answer !== undefined && !isThere && answer.problem === null;
    });
    if (silent === undefined) return null;
    return {
      code: 'rua-consent',
      error: `${silent} has not agreed to get reports on this domain, so receivers send it none (RFC 7489 7.1)`,
      remedy: `Have ${silent} publish TXT ${consentOf(suspect, silent).name} "v=DMARC1", or remove its address.`,
    };
  },
};

export const dmarcDiagnoses: readonly Diagnosis[] = [
  multipleDmarc,
  noPolicy,
  alignment,
  ruaConsent,
];
