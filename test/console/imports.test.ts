// Imports of contacts and blocks: a look first, then exactly that text with these meanings.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withoutSigns } from '../../src/platform/runtime/signs.ts';
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
    expect(body).toContain('Import 1 person');
    expect(body).toContain('Line 3');
    expect([withoutSigns(form['file'] ?? ''), await itemsOf('/v1/contacts')]).toEqual([file, []]);
    const done = await browser.post(contacts, form);
    expect([done.status, done.headers['location']]).toEqual([303, '/console/contacts']);
    const next = await browser.get('/console/contacts');
    expect(next.body).toContain('Imported: 1 new, 0 changed, 1 refused.');
    expect(await itemsOf('/v1/contacts')).toMatchObject([{ name: 'می\u200cخواهم' }]);
  });

  it.each([
    ['another text', { file: 'email,name\nother@example.com,A\n' }],
    ['another meaning', { 'column.name': 'ignore' }],
    ['no look before', { seen: '' }],
  ])('with %s imports nothing, and shows what it would change', async (_name, change) => {
    const { form } = await look(contacts, { file: 'email,name\na@example.com,A\n' });
    const answer = await browser.post(contacts, { ...form, ...change });
    expect([answer.status, await itemsOf('/v1/contacts')]).toEqual([409, []]);
    expect(answer.body).toContain('Nothing was changed yet.');
    const again = { ...formOf(answer.body, 'import'), _action: 'import' };
    expect((await browser.post(contacts, again)).status).toBe(303);
    expect(await itemsOf('/v1/contacts')).toHaveLength(1);
  });

  it('asks for the meaning of a column of consent, keeps the text, and takes the meaning', async () => {
    const consent = 'email,Opt-in (DOI)\na@example.com,yes\n';
    const refused = await look(contacts, { file: consent });
    expect([refused.status, problemOf(refused.body)]).toEqual([
      422,
      expect.stringContaining('Opt-in (DOI)'),
    ]);
    const asked = formOf(refused.body, 'preview') ?? {};
    expect(asked).toMatchObject({ file: consent, 'column.Opt-in (DOI)': '' });
    expect(formOf(refused.body, 'import')).toBeNull();
    const { status, form } = await look(contacts, { ...asked, 'column.Opt-in (DOI)': 'ignore' });
    expect([status, (await browser.post(contacts, form)).status]).toEqual([200, 303]);
    expect(await itemsOf('/v1/contacts')).toHaveLength(1);
  });

  it('asks contacts to confirm a group', async () => {
    const { id } = await world.api('POST', '/v1/unsubscribe-groups', { name: 'N', confirm: true });
    const { form } = await look(contacts, {
      file: 'email\na@example.com\n',
      requireConfirmation: id,
    });
    expect(form['requireConfirmation']).toBe(id);
    await browser.post(contacts, form);
    expect((await browser.get('/console/contacts')).body).toContain('1 asked to confirm');
    expect(await itemsOf(`/v1/unsubscribe-groups/${id}/members`)).toMatchObject([
      { status: 'pending' },
    ]);
  });

  it('shows each column with its first values and its meaning, which a choice changes', async () => {
    const file = 'E-Mail;Vorname;Ort;Notiz\nanna@example.com;Anna;Ulm;liest viel\n';
    const { body, form } = await look(contacts, { file });
    expect(form).toMatchObject({
      'column.E-Mail': 'email',
      'column.Vorname': 'firstName',
      'column.Ort': 'city',
      'column.Notiz': 'custom',
    });
    for (const value of ['anna@example.com', 'Ulm', 'liest viel']) expect(body).toContain(value);
    const again = await look(contacts, { ...form, 'column.Notiz': 'tags', 'column.Ort': 'ignore' });
    await browser.post(contacts, again.form);
    expect(await itemsOf('/v1/contacts')).toMatchObject([
      { tags: ['liest viel'], profile: { firstName: 'Anna', location: { city: null } } },
    ]);
  });

  it('takes a column whose name says nothing as the address', async () => {
    const file = 'Kontakt,Wer\nanna@example.com,Anna\n';
    const refused = await look(contacts, { file });
    expect([refused.status, problemOf(refused.body)]).toEqual([
      422,
      'The file has no column email or externalId. Its columns: Kontakt, Wer',
    ]);
    const asked = formOf(refused.body, 'preview') ?? {};
    const { form } = await look(contacts, { ...asked, 'column.Kontakt': 'email' });
    expect((await browser.post(contacts, form)).status).toBe(303);
    expect(await itemsOf('/v1/contacts')).toHaveLength(1);
  });

  it('takes lines of JSON', async () => {
    const { form } = await look(contacts, { file: '{"email":"a@example.com","Ort":"Ulm"}\n' });
    expect(form).toMatchObject({ 'column.email': 'email', 'column.Ort': 'city' });
    await browser.post(contacts, form);
    expect(await itemsOf('/v1/contacts')).toHaveLength(1);
  });

  const many = (count: number, name: (at: number) => string) =>
    `email,${Array.from({ length: count }, (_, at) => name(at)).join(',')}\na@example.com\n`;

  it.each([
    ['20 columns of a name', many(20, () => 'note'), 'The file has the column note twice'],
    ['5,000 columns', many(5_000, (at) => `c${at}`), 'The file has 5001 columns, more than 500'],
    ['no header', 'Anna,anna@example.com\n', 'has no column email or externalId'],
    ['a binary file', 'PK\u0003\u0004\0\0', 'it has NUL bytes'],
    ['a binary file without NUL', '\ufffdPNG\u001a\ufffd', 'has no column email or externalId'],
    ['nothing but space', ' \n', 'The first line of the file names no columns'],
    ['a name of 400 characters', many(1, () => 'n'.repeat(400)), null],
  ])('answers %s in a clear sentence, and changes nothing', async (_name, file, problem) => {
    const { status, body } = await look(contacts, { file });
    expect(status).toBe(problem === null ? 200 : 422);
    if (problem !== null) expect(problemOf(body)).toContain(problem);
    expect(body.length).toBeLessThan(400_000);
    expect(await itemsOf('/v1/contacts')).toEqual([]);
  });

  it('draws a file of 500 columns with choices for the first 60', async () => {
    const { status, body, form } = await look(contacts, { file: many(499, (at) => `c${at}`) });
    expect([status, body.includes('440 more columns')]).toEqual([200, true]);
    expect(Object.keys(form).filter((name) => name.startsWith('column.'))).toHaveLength(60);
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
    expect(body).toContain('Block 1');
    const other = await browser.post(blocks, { ...form, reason: 'manual' });
    expect([other.status, await itemsOf('/v1/email/blocks')]).toEqual([409, []]);
    expect((await browser.post(blocks, form)).status).toBe(303);
    expect((await browser.get('/console/blocks')).body).toContain('Blocked: 1 new.');
    expect(await itemsOf('/v1/email/blocks')).toMatchObject([{ reason: 'complaint' }]);
  });

  it('is in the audit as an act of the key of the session', async () => {
    const { id, key } = await world.keyWith('blocks:read', 'blocks:write');
    browser = await world.signIn(key);
    const { form } = await look(blocks, { file: 'a@example.com\n' });
    expect((await browser.post(blocks, form)).status).toBe(303);
    expect(JSON.stringify((await itemsOf('/v1/audit?limit=1'))[0])).toContain(id);
  });
});
