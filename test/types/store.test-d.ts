// Mistakes at the store that must not compile. Where one does, its `@ts-expect-error` is unused and
// `npm run check` fails. Nothing here runs.
import { area } from '../../src/core/api/area.ts';
import { fullTextOf } from '../../src/platform/full-text/full-text.ts';
import { type Db, isOneOf, tables } from '../../src/platform/store/db.ts';
import { ownTables } from '../../src/platform/store/own-tables.ts';

type Color = 'red' | 'green';

class LabelRow {
  id!: string;
  organization_id!: string;
  name!: string;
  color!: Color;
  uses!: number;
  note!: string | null;
}

/** A label without its nullable columns. */
class NewLabel {
  id!: string;
  organization_id!: string;
  name!: string;
  color!: Color;
  uses!: number;
}

class MistypedLabel extends NewLabel {
  note!: number | null;
}

class ForeignLabel extends NewLabel {
  day!: number;
}

interface CountRow {
  organization_id: string;
  day: number;
  count: number;
}

interface LabelTables {
  labels: LabelRow;
  label_counts: CountRow;
}

declare const db: Db;
declare const label: LabelRow;
declare const noteless: Omit<LabelRow, 'note'>;

const own = ownTables<LabelTables>();
const labels = own.rowsOf('labels', 'label');
const insertLabels = own.bulkInsert('labels', LabelRow);

export const inserts = [
  insertLabels(db, [label]),
  // @ts-expect-error: an unknown column
  insertLabels(db, [{ ...label, shade: 'dark' }]),
  // @ts-expect-error: a forgotten column
  insertLabels(db, [noteless]),
  // @ts-expect-error: a wrong type
  insertLabels(db, [{ ...label, uses: '1' }]),
  // @ts-expect-error: an unknown value
  insertLabels(db, [{ ...label, color: 'blue' }]),
  // @ts-expect-error: an array of values instead of a row
  insertLabels(db, ['id']),
];

export const insertsOfClasses = [
  own.bulkInsert('labels', NewLabel),
  // @ts-expect-error: a table of another room
  own.bulkInsert('messages', LabelRow),
  // @ts-expect-error: a class with a column of another table
  own.bulkInsert('labels', ForeignLabel),
  // @ts-expect-error: a class with a wrong type
  own.bulkInsert('labels', MistypedLabel),
  // @ts-expect-error: a class that lacks columns
  own.bulkInsert('label_counts', NewLabel),
];

export const conditions = [
  own.all((q, ids: readonly string[]) =>
    q
      .selectFrom('labels')
      .select('name')
      .where('id', ...isOneOf(q, ids)),
  ),
  own.all((q, ids: readonly string[]) =>
    q
      .selectFrom('labels')
      .select('name')
      // @ts-expect-error: an unknown column
      .where('label_id', ...isOneOf(q, ids)),
  ),
  own.all((q, days: readonly number[]) =>
    q
      .selectFrom('labels')
      .select('name')
      // @ts-expect-error: a column of another table
      .where('day', ...isOneOf(q, days)),
  ),
  own.all((q, uses: readonly string[]) =>
    q
      .selectFrom('labels')
      .select('name')
      // @ts-expect-error: a list of texts for a column of numbers
      .where('uses', ...isOneOf(q, uses)),
  ),
  tables<LabelTables>(db)
    .deleteFrom('labels')
    // @ts-expect-error: texts that are no values of the column
    .where('color', ...isOneOf(db, ['blue'])),
];

const findLabel = own.first((q, organizationId: string, uses: number) =>
  q
    .selectFrom('labels')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .where('uses', '=', uses),
);

export const calls = [
  findLabel(db, 'org_1', 2),
  // @ts-expect-error: arguments in the wrong order
  findLabel(db, 2, 'org_1'),
  // @ts-expect-error: a forgotten argument
  findLabel(db, 'org_1'),
  // @ts-expect-error: a column that the statement does not select
  findLabel(db, 'org_1', 2).then((row) => row?.note),
  // @ts-expect-error: a row that may not be there
  findLabel(db, 'org_1', 2).then((row) => row.name),
];

export const changes = [
  own.run((q, uses: number) => q.updateTable('labels').set({ uses })),
  // @ts-expect-error: an argument of a wrong type
  own.run((q, uses: string) => q.updateTable('labels').set({ uses })),
  // @ts-expect-error: a null for a column that has none
  own.run((q, uses: number | null) => q.updateTable('labels').set({ uses })),
];

export const common = [
  labels.update(db, 'org_1', 'lab_1', { name: 'a' }),
  labels.insert(db, label, ['organization_id', 'name']),
  // @ts-expect-error: a forgotten column
  labels.insert(db, noteless),
  // @ts-expect-error: an unknown unique column
  labels.insert(db, label, ['slug']),
  // @ts-expect-error: a boolean for a column of text
  labels.update(db, 'org_1', 'lab_1', { name: true }),
  // @ts-expect-error: a filter by an unknown column
  labels.count(db, 'org_1', { equal: { slug: 'a' } }),
];

export const declarations = [
  own.counter('label_counts', ['organization_id', 'day'], ['count']),
  own.lockerOf('labels', { by: 'organization_id' }),
  // @ts-expect-error: a counter that leaves out a column of its row
  own.counter('label_counts', ['organization_id'], ['count']),
  // @ts-expect-error: a counter by a column of another table
  own.counter('label_counts', ['organization_id', 'day', 'color'], ['count']),
  // @ts-expect-error: a table without `id` and `organization_id`
  own.rowsOf('label_counts', 'label'),
  // @ts-expect-error: a lock by a column of another table
  own.lockerOf('labels', { by: 'day' }),
  // @ts-expect-error: a table without a counter of changes
  own.changeCounter('labels'),
  // @ts-expect-error: a full-text index by an unknown column
  fullTextOf(own.column('labels', 'label_id')),
];

export const areas = [
  area('senders'),
  area('labels', { about: 'Labels of messages', resource: 'messages' }),
  // @ts-expect-error: an area without a resource of permissions
  area('labels', { about: 'Labels of messages' }),
  // @ts-expect-error: an unknown resource
  area('labels', { resource: 'label' }),
];
