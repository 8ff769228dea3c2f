// The order in which rows of an import are written: by address, and never past a row of the same person.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Candidate } from '../../src/contacts/import-merge.ts';
import { inOrderOfNames, nameOfExternalId } from '../../src/contacts/import-window.ts';

interface Row {
  emails: readonly string[];
  externalId?: string | undefined;
}

const candidates = (rows: readonly Row[]): Candidate[] =>
  rows.map(({ emails, externalId }, at) => ({
    row: at + 1,
    contact: { emails: [...emails], externalId },
    folded: emails,
    reason: null,
  }));

const namesOf = ({ folded, contact: { externalId } }: Candidate) => [
  ...folded,
  ...(externalId === undefined ? [] : [nameOfExternalId(externalId)]),
];

/** The people whom a row names: by name, and by whom the store has under that name. */
function peopleOf(candidate: Candidate, contactOf: ReadonlyMap<string, string>): Set<string> {
  return new Set(namesOf(candidate).flatMap((name) => [name, contactOf.get(name) ?? name]));
}

const addresses = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}@x.test`);
const rows = fc.array(
  fc.record({
    emails: fc.uniqueArray(fc.constantFrom(...addresses), { minLength: 1, maxLength: 2 }),
    externalId: fc.option(fc.constantFrom('1', '2', 'a@x.test'), { nil: undefined, freq: 4 }),
  }),
  { maxLength: 12 },
);
const known = fc
  .dictionary(fc.constantFrom(...addresses, nameOfExternalId('1')), fc.constantFrom('c1', 'c2'))
  .map((found) => new Map(Object.entries(found)));

describe('the rows of a window', () => {
  it('are all there, and those of one person keep their order', () => {
    fc.assert(
      fc.property(rows, known, (given, contactOf) => {
        const all = candidates(given);
        const ordered = inOrderOfNames(all, contactOf);
        expect([...ordered].sort((a, b) => a.row - b.row)).toEqual(all);
        for (const [at, later] of ordered.entries()) {
          const people = [...peopleOf(later, contactOf)];
          for (const earlier of ordered.slice(0, at)) {
            if (earlier.row < later.row) continue;
            expect(people.filter((one) => peopleOf(earlier, contactOf).has(one))).toEqual([]);
          }
        }
      }),
    );
  });

  const order = (given: readonly Row[], contactOf = new Map<string, string>()) =>
    inOrderOfNames(candidates(given), contactOf).map(({ row }) => row);

  it('are in the order of their addresses', () => {
    expect(order([{ emails: ['c@x'] }, { emails: ['a@x'] }, { emails: ['b@x'] }])).toEqual([
      2, 3, 1,
    ]);
  });

  it('stand where the first of their person does', () => {
    const given = [{ emails: ['c@x'] }, { emails: ['b@x'] }, { emails: ['c@x', 'a@x'] }];
    expect(order(given)).toEqual([2, 1, 3]);
    expect(order([{ emails: ['c@x'] }, { emails: ['b@x'] }, { emails: ['a@x'] }])).toEqual([
      3, 2, 1,
    ]);
    const sameContact = new Map([
      ['c@x', 'contact_1'],
      ['a@x', 'contact_1'],
    ]);
    const apart = [{ emails: ['c@x'] }, { emails: ['b@x'] }, { emails: ['a@x'] }];
    expect(order(apart, sameContact)).toEqual([2, 1, 3]);
  });

  it('stay as they came where a row is of two people before it', () => {
    const given = [{ emails: ['c@x'] }, { emails: ['b@x'] }, { emails: ['b@x', 'c@x'] }];
    expect(order(given)).toEqual([1, 2, 3]);
  });
});
