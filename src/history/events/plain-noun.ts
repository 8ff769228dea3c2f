// The functions of a plain noun: named rows of a table that callers create, list, show, change
// and delete. Each change is recorded. A noun with special rules has separate functions instead.
import type { Noun } from '../../core/api/noun.ts';
import { type Page, type PageRequest, toPage } from '../../core/api/pagination.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { OwnedRow, Rows } from '../../platform/store/rows/rows.ts';
import { changesOf, type Details } from '../audit/audit.ts';
import { record } from './record.ts';

interface PlainRow extends OwnedRow {
  name: string;
  created_at: number;
  updated_at: number;
}

/** Columns that the functions fill. */
type Filled = 'id' | 'organization_id' | 'created_at' | 'updated_at';

/**
 * Converts between rows, inputs and the form of the API. A field table (field-table.ts) has these
 * functions.
 */
interface NounFields<Row, Shown, Create, Update> {
  present(row: Row): Shown;
  /** Settings of a row, for the audit. */
  settings(row: Row): Details;
  created(input: Create): Omit<Row, Filled>;
  /** Columns that an update changes; undefined columns keep their values. */
  changed(input: Update): { [Name in keyof Row]?: Row[Name] | undefined };
}

interface PlainNoun<Row extends PlainRow, Shown, Create, Update> {
  noun: Noun;
  rows: Rows<Row>;
  fields: NounFields<NoInfer<Row>, Shown, Create, Update>;
}

/** Returns the functions of the five routes of a plain noun (src/core/api/noun-routes.ts). */
export function plainNoun<Row extends PlainRow, Shown, Create, Update>({
  noun,
  rows,
  fields,
}: PlainNoun<Row, Shown, Create, Update>) {
  const { present, settings } = fields;
  const words = noun.name.replaceAll('-', ' ');
  return {
    /** Stores a row with the input, and audits the settings. */
    async create(app: App, caller: Caller, input: Create): Promise<Shown> {
      const [id, now] = [app.newId(noun), app.clock.now()];
      const owned = {
        id,
        organization_id: caller.organizationId,
        created_at: now,
        updated_at: now,
      };
      const row = { ...fields.created(input), ...owned } as unknown as Row;
      await app.store.write(async (trx) => {
        await rows.insert(trx, row);
        const change = { subject: id, action: noun.created, details: settings(row) };
        await record(app, trx, caller, change);
      });
      return present(row);
    },

    /** Returns a page of the organization's rows, newest first. */
    async list(app: App, { organizationId }: Caller, query: PageRequest): Promise<Page<Shown>> {
      const { rows: found, total } = await rows.page(app.store.db, organizationId, query);
      return toPage(found.map(present), total, query);
    },

    /** Returns a row in the form of the API. @throws ResourceNotFoundError. */
    async get(app: App, { organizationId }: Caller, id: string): Promise<Shown> {
      return present(await rows.get(app.store.db, organizationId, id));
    },

    /** Changes the given fields. @throws ResourceNotFoundError. */
    update(app: App, caller: Caller, id: string, input: Update): Promise<Shown> {
      const { organizationId } = caller;
      return app.store.write(async (trx) => {
        const row = await rows.get(trx, organizationId, id);
        const change = { ...fields.changed(input), updated_at: app.clock.now() };
        const changed = await rows.update(trx, organizationId, id, change);
        const details = changesOf(settings(row), settings(changed));
        if (Object.keys(details).length > 0) {
          await record(app, trx, caller, { subject: id, action: noun.updated, details });
        }
        return present(changed);
      });
    },

    /** Deletes a row, and audits the name. @throws ResourceNotFoundError. */
    async delete(app: App, caller: Caller, id: string): Promise<Deleted> {
      await app.store.write(async (trx) => {
        const { name } = await rows.remove(trx, caller.organizationId, id);
        const change = { subject: id, action: noun.deleted, details: { name } };
        await record(app, trx, caller, change);
      });
      const shown = `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
      return { success: true, message: `${shown} ${id} is deleted` };
    },
  };
}
