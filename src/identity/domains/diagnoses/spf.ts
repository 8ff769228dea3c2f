// Diagnoses of SPF records (RFC 7208).
import { lackingIn, lackingSentence, placeOf, unknownSentence } from '../expected-spf.ts';
import { spfRecordsIn } from '../merged-records.ts';
import type { Diagnosis, Suspect } from './facts.ts';
import { mostLookups, mostVoidLookups, walkSpf } from './spf-walk.ts';

/** Tells whether the record is an SPF record: of the domain or of the return path. */
const isSpf = ({ record }: Suspect) =>
  record.type === 'TXT' && (record.purpose === 'spf' || record.purpose === 'return-path');

const termsOf = (text: string) => text.trim().split(/\s+/).slice(1);
const isAll = (term: string) => /^[+?~-]?all$/i.test(term);

/** Returns the only SPF record that was found; null for none or several. */
function onlyRecord(suspect: Suspect): string | null {
  if (!isSpf(suspect)) return null;
  const records = spfRecordsIn(suspect.check.found);
  return records.length === 1 ? (records[0] ?? null) : null;
}

const multipleSpf: Diagnosis = {
  find(suspect) {
    if (!isSpf(suspect) || spfRecordsIn(suspect.check.found).length < 2) return null;
    return {
      code: 'multiple-spf',
      error: 'there is more than one SPF record (RFC 7208 4.5)',
      remedy: 'Replace all of them by the one that is shown here: receivers take none of several.',
    };
  },
};

const spfType: Diagnosis = {
  needs: (suspect) =>
    isSpf(suspect) && suspect.check.status === 'missing'
      ? [{ type: 'SPF', name: suspect.record.name }]
      : [],
  find(suspect, facts) {
    if (!isSpf(suspect) || suspect.check.status !== 'missing') return null;
    if (facts.values('SPF', suspect.record.name).length === 0) return null;
    return {
      code: 'spf-type',
      error:
        'the record is of the type SPF, which receivers stopped reading in 2014 (RFC 7208 3.1)',
      remedy: 'Publish the same text as a record of the type TXT.',
    };
  },
};

const afterAll: Diagnosis = {
  find(suspect, { of: { spf } }) {
    const text = onlyRecord(suspect);
    if (text === null) return null;
    const terms = termsOf(text);
    const all = terms.findIndex(isAll);
    const behind = spf.mechanisms.filter((mechanism) => placeOf(mechanism, terms) > all).join(' ');
    if (all < 0 || behind === '') return null;
    return {
      code: 'after-all',
      error: `${behind} stands behind "${terms[all]}", where receivers stop reading`,
      remedy: `Move ${behind} to the beginning of the record, behind v=spf1.`,
      isInvalid: true,
    };
  },
};

const tooManyLookups: Diagnosis = {
  needs(suspect, facts) {
    const text = onlyRecord(suspect);
    return text === null ? [] : walkSpf(facts, suspect.record.name, text).open;
  },
  find(suspect, facts) {
    const text = onlyRecord(suspect);
    if (text === null) return null;
    const { lookups, voids } = walkSpf(facts, suspect.record.name, text);
    if (lookups > mostLookups) {
      return {
        code: 'too-many-lookups',
        error: `the record needs more than ${mostLookups} DNS look-ups, so receivers do not use it (RFC 7208 4.6.4)`,
        remedy: 'Remove each include: of a service that sends no mail for you any more.',
        isInvalid: true,
      };
    }
    if (voids <= mostVoidLookups) return null;
    return {
      code: 'void-lookups',
      error: `${voids} names in the record do not exist; receivers allow ${mostVoidLookups} (RFC 7208 4.6.4)`,
      remedy: 'Remove the mechanisms whose names do not exist.',
      isInvalid: true,
    };
  },
};

const noMechanism: Diagnosis = {
  find(suspect, { of: { spf } }) {
    const text = onlyRecord(suspect);
    if (text === null || suspect.check.status !== 'invalid') return null;
    return {
      code: 'no-mechanism',
      error: lackingSentence(lackingIn(text, spf)),
      remedy: 'Replace the present record by the one that is shown here: it keeps all of it.',
    };
  },
};

const passAll: Diagnosis = {
  find(suspect) {
    const text = onlyRecord(suspect);
    if (text === null || !termsOf(text).some((term) => /^\+?all$/i.test(term))) return null;
    return {
      code: 'pass-all',
      error: 'the record ends in +all: everybody may send in the name of the domain',
      remedy: 'Replace +all by ~all.',
    };
  },
};

/** SPF cannot be judged while the mechanism of the smarthost is unknown. */
const relaySpf: Diagnosis = {
  find(suspect, { of: { spf } }) {
    if (!isSpf(suspect) || spf.unknown === null) return null;
    const { error, remedy } = unknownSentence(spf.unknown);
    return suspect.check.error === error ? { code: 'relay-spf', error, remedy } : null;
  },
};

export const spfDiagnoses: readonly Diagnosis[] = [
  multipleSpf,
  spfType,
  afterAll,
  tooManyLookups,
  noMechanism,
  passAll,
  relaySpf,
];
