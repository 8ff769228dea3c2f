// The price of a noun of five verbs: the labels of "How to add a noun" in ARCHITECTURE.md, with
// table, functions, routes and commands, work on both stores in few lines and files.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Answering } from '../../src/core/api/route.ts';
import { ResourceNotFoundError, ValidationError } from '../../src/platform/errors.ts';
import { ask, type Input } from '../../src/service/door/door.ts';
import { stores } from '../support/command.ts';
import { eachApp } from '../support/each-app.ts';
import createLabel from './labels/commands/create.ts';
import deleteLabel from './labels/commands/delete.ts';
import listLabels from './labels/commands/list.ts';
import showLabel from './labels/commands/show.ts';
import updateLabel from './labels/commands/update.ts';
import { labelRoutes } from './labels/routes.ts';

const mostLines = 320;
const mostFiles = 10;

const folder = join(import.meta.dirname, 'labels');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.\w+$/.test(name),
);

describe('a noun of five verbs', () => {
  it(`costs at most ${mostLines} lines in ${mostFiles} files`, () => {
    const lines = files.map((name) => readFileSync(join(folder, name), 'utf8').split('\n').length);
    expect(files).toHaveLength(9);
    expect(files.length).toBeLessThanOrEqual(mostFiles);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(mostLines);
  });

  it('has commands with the words of its routes', () => {
    const summaries = [listLabels, showLabel, createLabel, updateLabel, deleteLabel].map(
      ({ summary }) => summary,
    );
    expect(summaries).toEqual([
      'List labels, newest first',
      'Show a label',
      'Create a label',
      'Change a label',
      'Delete a label; its contacts stay',
    ]);
    expect(deleteLabel.description).toMatch(/^Asks for confirmation/);
  });

  it('has commands with the fields of its routes as flags', () => {
    expect(Object.keys(createLabel.flags)).toEqual(['name', 'color', 'pinned', 'data']);
    expect(createLabel.flags).toMatchObject({ name: { description: 'Name of the label' } });
    expect(Object.keys(updateLabel.flags)).toEqual(['name', 'color', 'pinned', 'data']);
  });
});

describe.each(stores)('a noun of five verbs on %s', (store) => {
  const test = eachApp({ store });
  beforeEach(async () => {
    const statements = readFileSync(join(folder, 'table.sql'), 'utf8').split(';\n');
    await test.app.store.write(async (trx) => {
      for (const text of statements.filter((one) => one.trim() !== '')) {
        await sql.raw(text).execute(trx);
      }
    });
  });

  const call = <Answer>(route: Answering<Answer>, input: Input = {}) =>
    ask({ app: test.app }, test.caller, route, input);

  it('creates, shows, changes and deletes a resource', async () => {
    const made = await call(labelRoutes.create, { body: { name: 'VIP' } });
    const fields = { name: 'VIP', color: null, isPinned: false };
    expect(made).toMatchObject(fields);
    expect(Object.keys(made)).toEqual([
      ...['id', 'organizationId', 'name', 'color', 'isPinned', 'createdAt', 'updatedAt'],
    ]);
    const params = { id: made.id };
    await test.clock.advance(1000);
    const body = { color: 'gold', isPinned: true };
    const changed = await call(labelRoutes.update, { params, body });
    expect(changed).toEqual({ ...made, ...body, updatedAt: changed.updatedAt });
    expect(changed.updatedAt > made.updatedAt).toBe(true);
    expect(await call(labelRoutes.get, { params })).toEqual(changed);
    expect((await call(labelRoutes.list)).items).toEqual([changed]);
    await call(labelRoutes.delete, { params });
    await expect(call(labelRoutes.get, { params })).rejects.toThrow(ResourceNotFoundError);
  });

  it('sets a nullable field back to null and leaves absent fields alone', async () => {
    const body = { name: 'VIP', color: 'gold', isPinned: true };
    const { id } = await call(labelRoutes.create, { body });
    const changed = await call(labelRoutes.update, { params: { id }, body: { color: null } });
    expect(changed).toMatchObject({ ...body, color: null });
  });

  it('refuses an unknown field', async () => {
    const made = call(labelRoutes.create, { body: { name: 'VIP', colour: 'gold' } });
    await expect(made).rejects.toThrow(ValidationError);
  });
});
