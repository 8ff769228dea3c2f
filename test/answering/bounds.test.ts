// Bounds of proposals, and their cost for a send without a mailbox: nothing.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../src/keys/keys.ts';
import type { MailboxAction, ShownAction } from '../../src/mailbox-actions/schema.ts';
import { mostAttachmentsBytes } from '../../src/messages/send-schema.ts';
import { send } from '../support/delivery.ts';
import { eachApi } from '../support/each-app.ts';
import type { HttpApi } from '../support/http-client.ts';
import { stores } from '../support/test-app.ts';
import { watchQueries } from '../support/watched-queries.ts';
import { apiOf, config, type Desk, deskOf, type Problem, rowsIn } from './world.ts';

type World = ReturnType<typeof eachApi>;

/** A key that only proposes in the mailbox. */
async function agentOf({ test, api }: World, { id }: Desk): Promise<HttpApi> {
  const constraints = { mailboxIds: [id] };
  const input = { role: 'developer', name: 'agent', sendMode: 'approval' } as const;
  const { key } = await createKey(test.app, test.operator, { ...input, constraints });
  return api.as(key ?? '');
}

describe.each(stores)('many proposals on %s', (store) => {
  const world = eachApi({ store, config });

  it('of 120 at once a hundred wait; the others are a 429 that stores nothing', async () => {
    const desk = await deskOf(world);
    const agent = await agentOf(world, desk);
    const body = { to: ['ada@example.com'], subject: 'x', text: 'x' };
    const before = await rowsIn(world.test);
    const answers = await Promise.all(Array.from({ length: 120 }, () => desk.send(body, agent)));
    const refused = answers.filter(({ status }) => status === 429);
    expect([refused.length, answers.filter(({ status }) => status === 201).length]).toEqual([
      20, 100,
    ]);
    for (const { headers, body: problem } of refused) {
      expect([problem._tag, headers['retry-after']]).toEqual(['RateLimitedError', `${7 * 86_400}`]);
    }
    expect(await rowsIn(world.test)).toEqual({
      ...before,
      mailbox_actions: 100,
      mailbox_proposals: 100,
    });
    // Another mailbox has a hundred of its own.
    const other = await deskOf(world, 'other');
    expect((await other.send(body, await agentOf(world, other))).status).toBe(201);
  });
});

describe('a large proposal', () => {
  const world = eachApi({ config });

  it('of 40 MB waits, is shown without them, and goes whole; of a byte more it is a 422', async () => {
    const desk = await deskOf(world);
    const agent = await agentOf(world, desk);
    const proposal = (bytes: number) => {
      const content = Buffer.alloc((bytes / 4) * 3, 'svc').toString('base64');
      const attachments = [{ filename: 'all.bin', content }];
      return desk.send({ to: ['ada@example.com'], subject: 'x', attachments }, agent);
    };
    const refused = await proposal(mostAttachmentsBytes + 4);
    expect([refused.status, Object.keys(refused.body.fields)]).toEqual([422, ['attachments']]);
    const { status, body: taken } = await proposal(mostAttachmentsBytes);
    expect([status, taken.status]).toEqual([201, 'proposed']);
    const path = `${desk.path}/actions/${taken.actionId}`;
    const shown = await world.api.get<ShownAction>(path);
    expect(JSON.stringify(shown.body).length).toBeLessThan(2_000);
    expect(shown.body.content?.attachments).toMatchObject([{ filename: 'all.bin' }]);
    const person = await apiOf(world, { owner: 'person' });
    const approved = await person.post<MailboxAction & Problem>(`${path}/approve`, {});
    expect(approved.body.state).toBe('executed');
    const { attachments } = await desk.email(approved.body.messageId);
    expect(attachments).toMatchObject([{ size: (mostAttachmentsBytes / 4) * 3 }]);
  });
});

describe.each(stores)('a send without a mailbox on %s', (store) => {
  const world = eachApi({ store, config });
  let watched: ReturnType<typeof watchQueries>;
  beforeEach(() => {
    watched = watchQueries();
  });
  afterEach(() => watched.stop());

  const ofMailboxes =
    /\b(?:mailbox_actions|mailbox_proposals|mailbox_hours|threads|thread_\w+|drafts)\b/;

  it('asks nothing of actions, threads and drafts; one from a mailbox does', async () => {
    const desk = await deskOf(world);
    const mail = { to: ['ada@example.com'], subject: 'x', text: 'x' };
    const asks = async (run: () => Promise<unknown>) => {
      watched.take();
      await run();
      return watched.take().flatMap(({ text }) => ofMailboxes.exec(text)?.[0] ?? []);
    };
    const { app, caller } = world.test;
    expect(await asks(() => send(app, caller, ['bo@example.com', 'cy@example.com']))).toEqual([]);
    const fromMailbox = await asks(() => desk.send(mail));
    expect(fromMailbox).toEqual(expect.arrayContaining(['mailbox_actions', 'thread_messages']));
  });
});
