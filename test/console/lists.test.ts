// Lists of the console: the inbox without snoozed threads, the state of received mail, and a page
// beyond the last.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findThreadMessages } from '../../src/inbox/threads/queries.ts';
import { arrive } from '../inbox/threads/mails.ts';
import { type Browser, consoleWorld, type World } from './world.ts';

let world: World;
let browser: Browser;
beforeAll(async () => {
  world = await consoleWorld();
  browser = await world.operator();
});
afterAll(() => world.close());

const bodyOf = async (path: string) => (await browser.get(`/console${path}`)).body;

describe('the inbox', () => {
  it('leaves out a snoozed thread, which the filter finds', async () => {
    const { app, clock } = world.test;
    const mailbox = `/mailboxes/${await world.firstMailbox()}`;
    const [{ thread_id: id = '' } = {}] = await findThreadMessages(app.store.db, [
      await arrive(app),
    ]);
    expect(await bodyOf(mailbox)).toContain(id);
    const until = clock.now() + 3_600_000;
    await app.store.write((trx) =>
      sql`update threads set snoozed_until = ${until} where id = ${id}`.execute(trx),
    );
    expect(await bodyOf(mailbox)).not.toContain(id);
    expect(await bodyOf(`${mailbox}?snoozed=true`)).toContain(id);
    expect(await bodyOf('/messages?direction=inbound')).toContain('title="received">Received<');
  });
});

describe('a page beyond the last', () => {
  it.each(['/contacts', '/messages', '/keys'])('of %s leads back to the last', async (path) => {
    await world.api('POST', '/v1/contacts', { email: `of-${path.slice(1)}@example.com` });
    const body = await bodyOf(`${path}?page=9999`);
    expect(body).toContain('The list ends with page 1.');
    expect(body).toContain(`href="/console${path}?page=1"`);
  });
});
