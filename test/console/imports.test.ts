// Imports of contacts and blocks: a look first, then exactly that text; what was typed is kept.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { meant } from '../../src/platform/runtime/signs.ts';
import { type Browser, consoleWorld, formOf, problemOf, type World } from './world.ts';

let world: World;
let browser: Browser;

beforeEach(async () => {
  world = await consoleWorld();
  browser = await world.operator();
});
afterEach(() => world.close());

const contacts = '/console/contacts/import';
const blocks = '/console/blocks/import';

const itemsOf = async (path: string) =>
  ((await world.api('GET', path)).items ?? []) as unknown as Record<string, unknown>[];

/** Looks at an import, and returns the form that the page then has. */
async function look(url: string, fields: Record<string, string>) {
  const form = formOf((await browser.get(url)).body, 'preview') ?? {};
  const answer = await browser.post(url, { ...form, ...fields });
  const again = { ...formOf(answer.body, 'import'), _action: 'import' } as Record<string, string>;
  return { ...answer, form: again };
}

describe('an import of contacts', () => {
  const file = '\ufeffemail,name\nmina@example.com,می\u200cخواهم\nbad,Bad\n';

  it('changes nothing at a look, and then imports the same text, with a mark and joined letters', async () => {
    const { body, form } = await look(contacts, { file });
    expect(body).toContain('1 new');
    expect(body).toContain('Line 3');
    expect([meant(form['file'] ?? ''), await itemsOf('/v1/contacts')]).toEqual([file, []]);
    const done = await browser.post(contacts, form);
    expect([done.status, problemOf(done.body)]).toEqual([200, undefined]);
    expect(done.body).toContain('Done.');
    expect(await itemsOf('/v1/contacts')).toMatchObject([{ name: 'می\u200cخواهم' }]);
  });

  it.each([
    ['another text', { file: 'email\nother@example.com\n' }],
    ['other columns', { map: 'name=ignore' }],
    ['no look before', { seen: '' }],
  ])('with %s imports nothing, and shows what it would change', async (_name, change) => {
    const { form } = await look(contacts, { file: 'email,name\na@example.com,A\n' });
    const answer = await browser.post(contacts, { ...form, ...change });
    expect([answer.status, await itemsOf('/v1/contacts')]).toEqual([409, []]);
    expect(answer.body).toContain('Nothing was changed yet.');
    const again = { ...formOf(answer.body, 'import'), _action: 'import' };
    expect((await browser.post(contacts, again)).status).toBe(200);
    expect(await itemsOf('/v1/contacts')).toHaveLength(1);
  });

  it('asks for the meaning of a column of consent, keeps the text, and takes the meaning', async () => {
    const consent = 'email,Opt-in (DOI)\na@example.com,yes\n';
    const refused = await look(contacts, { file: consent });
    expect([refused.status, problemOf(refused.body)]).toEqual([
      422,
      expect.stringContaining('Opt-in (DOI)'),
    ]);
    expect(formOf(refused.body, 'preview')).toMatchObject({ file: consent });
    expect(formOf(refused.body, 'import')).toBeNull();
    const map = 'Opt-in (DOI)=ignore\nemail=email';
    const { status, form } = await look(contacts, { file: consent, map });
    expect([status, (await browser.post(contacts, form)).status]).toEqual([200, 200]);
    expect(await itemsOf('/v1/contacts')).toHaveLength(1);
  });

  it('asks contacts to confirm a group', async () => {
    const { id } = await world.api('POST', '/v1/unsubscribe-groups', { name: 'N', confirm: true });
    const { form } = await look(contacts, {
      file: 'email\na@example.com\n',
      requireConfirmation: id,
    });
    expect((await browser.post(contacts, form)).body).toContain('1 asked to confirm');
    expect(await itemsOf(`/v1/unsubscribe-groups/${id}/members`)).toMatchObject([
      { status: 'pending' },
    ]);
  });

  it('shows hostile values as text', async () => {
    const { body } = await look(contacts, {
      file: 'email,name\n<script>alert(1)</script>,x\n</textarea><script>alert(1)</script>,x\n',
    });
    expect(body).not.toContain('<script>alert');
    expect(body).toContain('&lt;script>alert(1)');
  });
});

describe('an import of blocks', () => {
  it('keeps the text that cannot be read', async () => {
    const file = 'email,email,reason\na@example.com,b@example.com,x';
    const { status, body } = await look(blocks, { file, reason: 'unsubscribe' });
    expect([status, problemOf(body)]).toEqual([
      422,
      expect.stringContaining('the column email twice'),
    ]);
    expect(formOf(body, 'preview')).toMatchObject({ file, reason: 'unsubscribe' });
  });

  it('adds what was looked at, with the reason that was chosen', async () => {
    const { form, body } = await look(blocks, { file: 'a@example.com\n', reason: 'complaint' });
    expect(body).toContain('Would be added: 1');
    const other = await browser.post(blocks, { ...form, reason: 'manual' });
    expect([other.status, await itemsOf('/v1/email/blocks')]).toEqual([409, []]);
    expect((await browser.post(blocks, form)).body).toContain('Added: 1');
    expect(await itemsOf('/v1/email/blocks')).toMatchObject([{ reason: 'complaint' }]);
  });

  it('is in the audit as an act of the key of the session', async () => {
    const { id, key } = await world.keyWith('blocks:read', 'blocks:write');
    browser = await world.signIn(key);
    const { form } = await look(blocks, { file: 'a@example.com\n' });
    expect((await browser.post(blocks, form)).status).toBe(200);
    expect(JSON.stringify((await itemsOf('/v1/audit?limit=1'))[0])).toContain(id);
  });
});
