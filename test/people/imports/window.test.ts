// The order in which an import writes rows: by address, and never past a row of the same contact.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inBatches, type NamedRow, nameOfExternalId } from '../../../src/people/imports/window.ts';

interface Row {
  emails: readonly string[];
  externalId?: string | undefined;
}

const candidates = (rows: readonly Row[]): NamedRow[] =>
  rows.map(({ emails, externalId }, at) => ({
    row: at + 1,
    names: [...emails, ...(externalId === undefined ? [] : [nameOfExternalId(externalId)])],
    place: '',
  }));

/** Returns the contacts that a row names: its names, and the stored contacts with these names. */
function peopleOf({ names }: NamedRow, contactOf: ReadonlyMap<string, string>): Set<string> {
  return new Set(names.flatMap((name) => [name, contactOf.get(name) ?? name]));
}

const addresses = [...'abcdefghijklmn'].map((name) => `${name}@x.test`);
const address = fc.constantFrom(...addresses);
const rows = fc.array(
  fc.record({
    emails: fc.oneof(
      { weight: 4, arbitrary: fc.tuple(address) },
      { weight: 1, arbitrary: fc.uniqueArray(address, { minLength: 2, maxLength: 2 }) },
    ),
    externalId: fc.option(fc.constantFrom('1', '2', 'a@x.test'), { nil: undefined, freq: 4 }),
  }),
  { maxLength: 12 },
);
const known = fc
  .dictionary(fc.oneof(address, fc.constant(nameOfExternalId('1'))), fc.constantFrom('c1', 'c2'), {
    maxKeys: 5,
  })
  .map((found) => new Map(Object.entries(found)));

describe('the rows of a window', () => {
  it('are all kept, in their order for each contact', () => {
    fc.assert(
      fc.property(rows, known, fc.integer({ min: 1, max: 12 }), (given, contactOf, most) => {
        const all = candidates(given);
        const batches = inBatches([...all], contactOf, most);
        expect(Math.max(0, ...batches.map((batch) => batch.rows.length))).toBeLessThanOrEqual(most);
        const ordered = batches.flatMap((batch) => batch.rows);
        expect([...ordered].sort((a, b) => a.row - b.row)).toEqual(all);
        for (const [at, later] of ordered.entries()) {
          const people = [...peopleOf(later, contactOf)];
          for (const earlier of ordered.slice(0, at)) {
            if (earlier.row < later.row) continue;
            expect(people.filter((person) => peopleOf(earlier, contactOf).has(person))).toEqual([]);
          }
        }
        // Rows of one place can belong to one contact that only the store knows by two names.
        for (const { rows: own, place } of batches) {
          const order = own.map(({ row }) => row);
          if (place === null) expect(order).toEqual(order.toSorted((a, b) => a - b));
          else expect(new Set(own.map((row) => row.place))).toEqual(new Set([place]));
        }
        // Two batches that name one contact share the place that holds that contact.
        const met = new Map<string, string | number>();
        for (const [at, batch] of batches.entries()) {
          for (const person of new Set(
            batch.rows.flatMap((row) => [...peopleOf(row, contactOf)]),
          )) {
            expect(met.get(person) ?? batch.place ?? at).toBe(batch.place ?? at);
            met.set(person, batch.place ?? at);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  const order = (given: readonly Row[], contactOf = new Map<string, string>()) =>
    inBatches(candidates(given), contactOf, 1).map(({ rows: [first] }) => first?.row);

  it('are sorted by address', () => {
    expect(order([{ emails: ['c@x'] }, { emails: ['a@x'] }, { emails: ['b@x'] }])).toEqual([
      2, 3, 1,
    ]);
  });

  it("stand at the place of their contact's first row", () => {
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

  it('keep their order when a row names two earlier contacts', () => {
    const given = [{ emails: ['c@x'] }, { emails: ['b@x'] }, { emails: ['b@x', 'c@x'] }];
    expect(order(given)).toEqual([1, 2, 3]);
  });
});
