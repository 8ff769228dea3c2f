// The number of unread threads beside each mailbox in the navigation: one read for all mailboxes.
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { createKey } from '../../src/access/keys/keys.ts';
import { arrive, inbox } from '../inbox/threads/mails.ts';
import { watchQueries } from '../support/watched-queries.ts';
import { type Browser, consoleWorld, type World } from './world.ts';

let world: World;
let browser: Browser;
let mailbox: string;

beforeEach(async () => {
  world = await consoleWorld();
  browser = await world.operator();
  mailbox = await world.firstMailbox();
});
afterEach(() => world.close());

/** Returns the counts of the navigation by path of the mailbox. */
async function counts(by = browser): Promise<Record<string, string>> {
  const { body } = await by.get('/console');
  const found = body.matchAll(
    /href="\/console\/mailboxes\/(mbx_\w+)"(?:(?!<\/a>).)*?<span class="n">([^<]+)</gs,
  );
  return Object.fromEntries([...found].map(([, id = '', count = '']) => [id, count]));
}

async function change(id: string, body: object): Promise<void> {
  const { statusCode } = await world.http.inject({
    method: 'PATCH',
    url: `/v1/mailboxes/${mailbox}/threads/${id}`,
    headers: { 'x-api-key': world.test.apiKey, 'content-type': 'application/json' },
    payload: JSON.stringify(body),
  });
  expect(statusCode).toBe(200);
}

async function threads(): Promise<string[]> {
  const { items = [] } = await world.api('GET', `/v1/mailboxes/${mailbox}/threads`);
  return items.map(({ id }) => id);
}

it('counts unread threads in the inbox, without read, snoozed and archived ones', async () => {
  expect(await counts()).toEqual({});
  for (const subject of ['One', 'Two', 'Three', 'Four']) await arrive(world.test.app, { subject });
  expect(await counts()).toEqual({ [mailbox]: '4' });
  const [one = '', two = '', three = ''] = await threads();
  await change(one, { read: true });
  await change(two, { folder: 'archive' });
  await change(three, { snoozedUntil: '2030-01-01T00:00:00Z' });
  expect(await counts()).toEqual({ [mailbox]: '1' });
});

it('says 99+ for more', async () => {
  const { app } = world.test;
  for (let at = 0; at < 101; at += 1) await arrive(app, { subject: `S${at}` });
  expect(await counts()).toEqual({ [mailbox]: '99+' });
});

it('shows a key that is bound to another mailbox nothing of this one', async () => {
  await arrive(world.test.app, { rcpt: [inbox] });
  const { id } = await world.api('POST', '/v1/mailboxes', { slug: 'other' });
  const { app, operator } = world.test;
  const countsBoundTo = async (bound: string) => {
    const constraints = { mailboxIds: [bound] };
    const permissions = { mailboxes: ['read'] };
    const { key } = await createKey(app, operator, { name: 'b', permissions, constraints });
    return counts(await world.signIn(key ?? ''));
  };
  expect(await countsBoundTo(id)).toEqual({});
  expect(await countsBoundTo(mailbox)).toEqual({ [mailbox]: '1' });
});

it('takes one read for eight mailboxes', async () => {
  const queries = watchQueries();
  onTestFinished(() => queries.stop());
  const statements = async () => {
    queries.take();
    await counts();
    return queries.take().reduce((sum, { times }) => sum + times, 0);
  };
  await statements();
  const before = await statements();
  for (let at = 0; at < 7; at += 1) await world.api('POST', '/v1/mailboxes', { slug: `m${at}` });
  await statements();
  expect(await statements()).toBeLessThanOrEqual(before);
});
