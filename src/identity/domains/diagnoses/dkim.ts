// Diagnoses of DKIM records (RFC 6376 3.6.1).
import { readDkimRecord } from '../../../mail/mime/dkim/dkim-key.ts';
import type { Diagnosis, Finding, Suspect } from './facts.ts';

const isDkim = ({ record }: Suspect) => record.purpose === 'dkim';
const bare = (text: string) => text.replace(/\s/g, '');

/** Returns the tags of the first DNS value with a `p` tag, or null. */
function tagsOf({ check: { found } }: Suspect) {
  const [first] = found.map(readDkimRecord).filter(({ p }) => p !== undefined);
  return first ?? null;
}

const expectedOf = ({ record }: Suspect) => readDkimRecord(record.value);

/** Finds the right value within quotes, backslashes or a TXT keyword, pasted from a zone file. */
const quoted: Diagnosis = {
  find(suspect) {
    const { record, check } = suspect;
    if (!isDkim(suspect) || check.status !== 'invalid') return null;
    const plain = (text: string) =>
      bare(text.replace(/^\s*(?:IN\s+)?TXT\s+/i, '').replaceAll(/["\\]/g, ''));
    const isPasted = (text: string) => /["\\]|^\s*(IN\s+)?TXT\s/i.test(text);
    if (!check.found.some((text) => isPasted(text) && plain(text) === bare(record.value)))
      return null;
    return {
      code: 'quoted',
      error: 'the value has quotes, backslashes or the word TXT in it',
      remedy: 'Paste the value alone, as it is shown here: your provider adds the quotes.',
    };
  },
};

/** Finds a long key that was published as several records instead of several strings. */
const splitRecords: Diagnosis = {
  find(suspect) {
    const { record, check } = suspect;
    if (!isDkim(suspect) || check.status !== 'invalid' || check.found.length < 2) return null;
    const whole = bare(record.value);
    const parts = check.found.map(bare);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length !== whole.length || !parts.every((part) => whole.includes(part))) return null;
    return {
      code: 'split-records',
      error: `the key is split into ${parts.length} TXT records, which receivers read one by one`,
      remedy:
        'Publish one TXT record. If it is too long for one string, use several strings within it.',
    };
  },
};

const truncated: Diagnosis = {
  find(suspect) {
    if (!isDkim(suspect) || suspect.check.status !== 'invalid') return null;
    const key = tagsOf(suspect)?.p ?? '';
    const whole = expectedOf(suspect).p ?? '';
    if (key.length < 16 || key.length >= whole.length || !whole.startsWith(key)) return null;
    return {
      code: 'truncated',
      error: `the key is cut off after ${key.length} of ${whole.length} characters`,
      remedy:
        'Publish the whole value. If a form cuts it, split it into strings of 255 characters within one record.',
    };
  },
};

const revoked: Diagnosis = {
  find(suspect) {
    if (!isDkim(suspect) || suspect.check.status !== 'invalid') return null;
    if (tagsOf(suspect)?.p !== '') return null;
    return {
      code: 'revoked',
      error: 'the record revokes the key (empty p=)',
      remedy: 'Publish the value that is shown here.',
    };
  },
};

const wrongKeyType: Diagnosis = {
  find(suspect) {
    if (!isDkim(suspect) || suspect.check.status !== 'invalid') return null;
    const found = tagsOf(suspect);
    const wanted = expectedOf(suspect).k ?? 'rsa';
    if (!found || (found.k ?? 'rsa') === wanted) return null;
    return {
      code: 'wrong-key-type',
      error: `the record is not of type k=${wanted}`,
      remedy: `Publish the value that is shown here: it begins with v=DKIM1; k=${wanted}.`,
    };
  },
};

const unreadableKey: Diagnosis = {
  find(suspect) {
    if (!isDkim(suspect) || suspect.check.status !== 'invalid') return null;
    const found = tagsOf(suspect);
    if (found && (found.v ?? 'DKIM1') === 'DKIM1') return null;
    const error = found ? 'the record is not v=DKIM1' : 'the record has no p= tag';
    return { code: 'unreadable-key', error, remedy: 'Publish the value that is shown here.' };
  },
};

const otherKey: Diagnosis = {
  find(suspect, { of: { keys } }) {
    if (!isDkim(suspect) || suspect.check.status !== 'invalid') return null;
    const found = tagsOf(suspect)?.p ?? '';
    const own = keys.find((key) => key.public_key === found);
    const remedy = 'Publish the value that is shown here, under this very name.';
    if (!own) return { code: 'other-key', error: 'the record publishes another key', remedy };
    const error = `the record publishes the key of the selector ${own.selector}`;
    return { code: 'other-key', error, remedy };
  },
};

/** A key in testing mode works, but receivers may treat mail signed with it as unsigned. */
const testingFlag: Diagnosis = {
  find(suspect): Finding | null {
    if (!isDkim(suspect) || suspect.check.status !== 'valid') return null;
    const isTesting = suspect.check.found
      .map(readDkimRecord)
      .some(({ t = '' }) => t.split(':').includes('y'));
    if (!isTesting) return null;
    return {
      code: 'testing-flag',
      error: 'the key is marked as a test (t=y): receivers may treat its mail as unsigned',
      remedy: 'Remove t=y from the record.',
    };
  },
};

export const dkimDiagnoses: readonly Diagnosis[] = [
  quoted,
  splitRecords,
  revoked,
  wrongKeyType,
  truncated,
  unreadableKey,
  otherKey,
  testingFlag,
];
