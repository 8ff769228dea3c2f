// A row that always fails stops no other row of its loop, and says why it waits or how it ends.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createConfirmationLoop } from '../../../src/campaigns/opt-in/loop.ts';
import { addMembers, listMembers } from '../../../src/campaigns/opt-in/members.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App, EventSink } from '../../../src/core/app.ts';
import { insertErasure, nextDue } from '../../../src/history/erasures/queries.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { eraseDue } from '../../../src/service/erasing/eraser.ts';
import { makeOrganization } from '../../campaigns/walk/fixtures.ts';
import { filesUnder } from '../../docs/plain-tests.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

/** The way in which a failing row of each loop shows its reason, or ends. */
const ends: Readonly<Record<string, string>> = {
  'src/campaigns/opt-in/loop.ts': 'its organization waits for an hour, as the log says',
  'src/campaigns/walk/loop.ts': '`waitReason` of the run (test/campaigns/walk/trouble.test.ts)',
  'src/inbox/receiving/projector.ts': 'three tries, then `parsingErrors` of the mail',
  'src/inbox/threads/indexer.ts': 'accepts no work: an index',
  'src/outbound/messages/search.ts': 'accepts no work: an index',
  'src/outbound/queue/loop.ts': '`waitReason` of the delivery; its attempts end as `failed`',
  'src/outbound/reports/reports.ts': 'five tries, then dropped, as the log says',
  'src/outbound/tracking/custom/loop.ts': '`verificationErrors` of the host',
  'src/service/erasing/eraser.ts': 'it waits for a minute, as the log says',
  'src/webhooks/loop.ts': 'attempts of the delivery, which end as `failed`',
};

it('each loop over due rows is in the list', () => {
  const loops = filesUnder('src', /\.ts$/).filter((file) =>
    /(?<!function )\bcreateDueLoop\(/.test(readFileSync(file, 'utf8')),
  );
  expect(loops.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(Object.keys(ends));
});

describe.each(stores)('a row that always fails, on %s', (store) => {
  const test = eachApp({
    store,
    config: { tracking: { publicUrl: 'https://click.example.com' } },
  });

  it('leaves other deletions their turn', async () => {
    const { app, clock } = test;
    const row = (id: string, about: string) => ({
      ...{ id, organization_id: 'default', kind: 'resource' as const, about },
      ...{ passes: 0, due_at: clock.now(), created_at: clock.now() },
    });
    await app.store.write(async (trx) => {
      await insertErasure(trx, row('con_broken', '{'));
      for (let at = 0; at < 12; at++) await insertErasure(trx, row(`con_${at}`, '{}'));
    });
    await clock.advance(1);
    await eraseDue(app);
    // Only the broken one is due within a minute; the others have a second pass in two.
    expect((await nextDue(app.store.db)) - clock.now()).toBe(60_000);
    await clock.advance(90_000);
    await eraseDue(app);
    expect((await nextDue(app.store.db)) - clock.now()).toBeLessThanOrEqual(60_000);
  });

  it('leaves mails to confirm of other organizations their turn', async () => {
    const { operator } = test;
    const other = await makeOrganization(test.app);
    const groups = await Promise.all([operator, other].map((caller) => ask(test.app, caller)));
    const poison: EventSink = {
      wants(_app, organizationId) {
        if (organizationId === operator.organizationId) throw new Error('a fault');
        return false;
      },
      take: async () => {},
    };
    const hooks = { ...test.app.hooks, eventSinks: [...test.app.hooks.eventSinks, poison] };
    const loop = createConfirmationLoop({ ...test.app, hooks });
    loop.start();
    for (let turn = 0; turn < 3; turn++) {
      await test.clock.advance(1_000);
      await loop.idle();
    }
    await loop.stop();
    const mails = await Promise.all([
      mailsOf(test.app, operator, groups[0]),
      mailsOf(test.app, other, groups[1]),
    ]);
    expect(mails).toEqual([0, 1]);
  });
});

/** Adds a contact to a group that asks for confirmation; returns the group. */
async function ask(app: App, caller: Caller): Promise<string> {
  const group = await createGroup(app, caller, { name: 'News', confirm: true });
  const contact = await createContact(app, caller, { email: 'ada@example.com' });
  await addMembers(app, caller, group.id, [contact.id]);
  return group.id;
}

async function mailsOf(app: App, caller: Caller, groupId = ''): Promise<number | undefined> {
  const { items } = await listMembers(app, caller, groupId, { limit: 10 });
  return items[0]?.mails;
}
