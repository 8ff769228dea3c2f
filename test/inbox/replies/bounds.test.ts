// Bounds of proposals, and the queries that a send without a mailbox saves.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import type { MailboxAction, ShownAction } from '../../../src/inbox/approvals/schema.ts';
import { mostAttachmentsBytes } from '../../../src/outbound/messages/send-schema.ts';
import { stores } from '../../support/command.ts';
import { send } from '../../support/delivery.ts';
import { eachApi } from '../../support/each-app.ts';
import type { HttpApi } from '../../support/http-client.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import { apiOf, config, type Desk, deskOf, type Problem, rowsIn } from './world.ts';

type World = ReturnType<typeof eachApi>;

/** Creates a key that only proposes in the mailbox. */
async function agentOf({ test, api }: World, { id }: Desk): Promise<HttpApi> {
  const constraints = { mailboxIds: [id] };
  const input = { role: 'developer', name: 'agent', sendMode: 'approval' } as const;
  const { key } = await createKey(test.app, test.operator, { ...input, constraints });
  return api.as(key ?? '');
}

describe.each(stores)('many proposals on %s', (store) => {
  const world = eachApi({ store, config });

  it('accepts 100 of 120 concurrent proposals, and answers 429 to the others without storing them', async () => {
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

  it('accepts 40 MB, shows it without the bytes and sends it whole, and rejects a byte more with 422', async () => {
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

  it('queries no actions, threads or drafts, unlike a send from a mailbox', async () => {
    const desk = await deskOf(world);
    const mail = { to: ['ada@example.com'], subject: 'x', text: 'x' };
    const queriesOf = async (run: () => Promise<unknown>) => {
      watched.take();
      await run();
      return watched.take().flatMap(({ text }) => ofMailboxes.exec(text)?.[0] ?? []);
    };
    const { app, caller } = world.test;
    expect(await queriesOf(() => send(app, caller, ['bo@example.com', 'cy@example.com']))).toEqual(
      [],
    );
    const fromMailbox = await queriesOf(() => desk.send(mail));
    expect(fromMailbox).toEqual(expect.arrayContaining(['mailbox_actions', 'thread_messages']));
  });
});
