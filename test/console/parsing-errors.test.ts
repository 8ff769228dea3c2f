// The page of a received mail names the faults that the parser found, with their meaning and the
// raw mail.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receiveMail } from '../inbox/receiving/received-mail.ts';
import { type Browser, consoleWorld, type World } from './world.ts';

let world: World;
let browser: Browser;
beforeAll(async () => {
  world = await consoleWorld();
  browser = await world.operator();
});
afterAll(() => world.close());

const head = [
  'From: ada@example.com',
  'Message-ID: <a@example.com>',
  'Date: Mon, 5 Jan 2026 12:00:00 +0000',
];
const mixed = 'Content-Type: multipart/mixed; boundary="b"';

const faulty: [code: string, lines: string[], meaning: string][] = [
  ['missing-header', ['Subject: no author', '', 'Hi'], 'is missing or cannot be read'],
  [
    'invalid-header',
    [...head.slice(0, 2), 'Date: yesterday', '', 'Hi'],
    'breaks the rules of mail',
  ],
  ['duplicate-header', [...head, 'Subject: a', 'Subject: b', '', 'Hi'], 'the first counts'],
  ['unclosed-multipart', [...head, mixed, '', '--b', '', 'Hi'], 'may have been cut off'],
  [
    'unknown-charset',
    [...head, 'Content-Type: text/plain; charset=x-klingon', '', 'Hi'],
    'does not know the character set',
  ],
];

const pageOf = async (id: string) => {
  const { status, body } = await browser.get(`/console/messages/${id}`);
  expect(status).toBe(200);
  return body.replaceAll(/\s+/g, ' ');
};

/** Stores a mail that has these faults. */
async function withErrors(errors: object[] | null): Promise<string> {
  const { app } = world.test;
  const id = await receiveMail(app, [...head, 'Subject: faults', '', 'Hi']);
  await pageOf(id);
  await app.store.write((trx) =>
    sql`update email_projections set parsing_errors = ${errors && JSON.stringify(errors)}
      where message_id = ${id}`.execute(trx),
  );
  return id;
}

describe('the page of a received mail', () => {
  it.each(faulty)('says what %s means', async (code, lines, meaning) => {
    const body = await pageOf(await receiveMail(world.test.app, lines));
    expect(body).toContain('<h2>Faults of the mail</h2>');
    expect(body).toContain(`<small>${code}: `);
    expect(body).toContain(meaning);
  });

  it('links the raw mail, which has the words', async () => {
    const lines = [...head, mixed, '', '--b', '', 'The words behind the fault'];
    const body = await pageOf(await receiveMail(world.test.app, lines));
    const [, path = ''] = /The <a href="([^"]+)">raw mail<\/a>/.exec(body) ?? [];
    const raw = await browser.get(path);
    expect(raw.status).toBe(200);
    expect(raw.body).toContain('The words behind the fault');
  });

  it('names no faults where there are none', async () => {
    const mail = [...head, 'Subject: good', '', 'Hi'];
    expect(await pageOf(await receiveMail(world.test.app, mail))).not.toContain(
      'Faults of the mail',
    );
    for (const none of [null, []]) {
      expect(await pageOf(await withErrors(none))).not.toContain('Faults of the mail');
    }
  });

  it('names no faults of a sent mail', async () => {
    const { id } = await world.api('POST', '/v1/messages', {
      ...{ channel: 'email', to: [{ email: 'inbox@sandbox.test' }] },
      email: { subject: 'a', text: 'b' },
    });
    expect(await pageOf(id)).not.toContain('Faults of the mail');
  });

  it.each([
    'mail-too-large',
    'header-too-large',
    'too-many-header-fields',
    'header-field-too-long',
    'malformed-header',
    'too-many-addresses',
    'missing-boundary',
    'too-many-parts',
    'nested-too-deep',
    'part-header-too-large',
    'undecodable-text',
    'text-truncated',
    'html-truncated',
    'report-truncated',
    'split-truncated',
    'split-timeout',
    'parse-timeout',
    'parser-failed',
  ])('has words of its own for %s', async (code) => {
    const body = await pageOf(await withErrors([{ code, message: 'the fault', part: '1.2' }]));
    expect(body).toMatch(
      new RegExp(`<li>[A-Z][^<]{20,}\\. <small>${code}: the fault \\(part 1\\.2\\)</small></li>`),
    );
  });

  it('shows the message of a code of another version', async () => {
    const body = await pageOf(
      await withErrors([{ code: 'constructor', message: 'from tomorrow' }]),
    );
    expect(body).toContain('<li>from tomorrow <small>constructor: from tomorrow</small></li>');
  });

  it('escapes words of the mail', async () => {
    const message = '<script>alert(1)</script>: not a date';
    const body = await pageOf(await withErrors([{ code: 'invalid-header', message }]));
    expect(body).toContain('invalid-header: &lt;script>alert(1)');
    expect(body).not.toContain('<script>alert');
  });
});
