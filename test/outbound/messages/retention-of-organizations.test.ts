// A year of mail of organizations with different periods of retention: each day's messages and
// contents are those that a model keeps, and the store stays as large as the kept ones. Slow: a
// year of mail is written and deleted day by day.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import {
  getOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { storageUsage } from '../../../src/doctor/storage-usage.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import { deleteOldMessages } from '../../../src/outbound/messages/forget/retention.ts';
import { linkKeeper } from '../../../src/outbound/tracking/kept-links.ts';
import { stores } from '../../support/command.ts';
import { send, startPipeline } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { passingTime } from '../../support/virtual-clock.ts';
import { otherOrganization } from './fixtures.ts';

const dayMs = 86_400_000;
const stepDays = 7;
const yearDays = 364;
const fileBytes = 5_000;

let test: TestApp | undefined;
afterEach(() => test?.close());

interface Periods {
  messagesDays: number | null;
  contentDays: number | null;
}

/** The periods in force: the shorter ones of two. */
function shorter(one: Periods, other: Periods): Periods {
  const of = (name: keyof Periods) => {
    const days = [one[name], other[name]].filter((value) => value !== null);
    return days.length === 0 ? null : Math.min(...days);
  };
  return { messagesDays: of('messagesDays'), contentDays: of('contentDays') };
}

async function sendingOrganization(app: App, name: string): Promise<Caller> {
  const { caller } = await otherOrganization(app, name);
  const domain = `${name}.example`;
  const { id } = await addDomain(app, caller, { domain, dkim: 'ed25519' });
  await verifyDomain(app, caller, id, { force: true });
  await createSender(app, caller, { email: `news@${domain}`, isDefault: true });
  return caller;
}

function retain(app: App, clock: TestApp['clock']): Promise<number> {
  const { signal } = new AbortController();
  const idle = { isPressing: () => false, isWorking: () => false };
  return passingTime(clock, deleteOldMessages(app, { ...idle, keeper: linkKeeper }, signal), 100);
}

async function counts(app: App, organizationId: string) {
  const { rows } = await sql<{ messages: number; contents: number; oldest: number | null }>`
    select count(*) as messages, count(content_id) as contents, min(created_at) as oldest
    from messages where organization_id = ${organizationId}`.execute(app.store.db);
  const { messages = 0, contents = 0, oldest = null } = rows[0] ?? {};
  return { messages: Number(messages), contents: Number(contents), oldest };
}

describe.each(stores)('a year of retention on %s', (store) => {
  const service: Periods = { messagesDays: 140, contentDays: 60 };
  const own: Record<string, Periods> = {
    default: { messagesDays: null, contentDays: null },
    short: { messagesDays: 30, contentDays: 10 },
    texts: { messagesDays: null, contentDays: 15 },
    // Longer than those of the service, which count then.
    long: { messagesDays: 300, contentDays: 200 },
  };

  it('keeps what each organization and the service want, and no more room than that', async () => {
    test = await testApp({ store, config: { retention: service } });
    const callers: Record<string, Caller> = { default: test.caller };
    for (const [name, periods] of Object.entries(own)) {
      callers[name] ??= await sendingOrganization(test.app, name);
      await updateOrganization(test.app, callers[name].organizationId, periods);
    }
    const { app } = test;
    const startMs = test.clock.now();
    const rooms: number[] = [];
    for (let day = 0; day <= yearDays; day += stepDays) {
      await test.clock.advance(startMs + day * dayMs - test.clock.now());
      for (const [name, caller] of Object.entries(callers)) {
        const content = Buffer.alloc(fileBytes, `${day}${name}`).toString('base64');
        const attachments = [{ filename: 'a.bin', content }];
        await send(app, caller, 'delivered@simulator.test', {
          email: { text: `${day} ${name}`, attachments },
        });
      }
      const pipeline = await startPipeline(app);
      await pipeline.idle();
      await pipeline.close();
      await retain(app, test.clock);
      const { organizations } = await storageUsage(app);
      rooms.push(organizations.reduce((sum, one) => sum + one.fileBytes, 0));
      for (const [name, caller] of Object.entries(callers)) {
        const { messagesDays, contentDays } = shorter(own[name] as Periods, service);
        const kept = (days: number | null) =>
          1 + Math.floor(Math.min(day, days === null ? day : days - 0.01) / stepDays);
        const found = await counts(app, caller.organizationId);
        const at = `day ${day} of ${name}`;
        expect(found.messages, at).toBe(kept(messagesDays));
        expect(found.contents, at).toBe(kept(contentDays));
        expect(startMs + day * dayMs - (found.oldest ?? 0), at).toBeLessThan(
          (messagesDays ?? yearDays + 1) * dayMs + 60_000,
        );
      }
    }
    // 60, 10, 15 and 60 days, a step each week.
    expect(rooms.at(-1)).toBe((9 + 2 + 3 + 9) * fileBytes);
    expect(Math.max(...rooms)).toBe(rooms.at(-1));
  });

  it('deletes more messages of one instant than a look reads', async () => {
    test = await testApp({ store });
    const { app, caller, clock } = test;
    await updateOrganization(app, caller.organizationId, { messagesDays: 1 });
    for (let number = 0; number < 120; number++)
      await send(app, caller, 'delivered@simulator.test');
    const pipeline = await startPipeline(app);
    await pipeline.idle();
    await pipeline.close();
    const at = await sql<{ n: number }>`
      select count(distinct created_at) as n from messages`.execute(app.store.db);
    expect(Number(at.rows[0]?.n)).toBe(1);
    await clock.advance(2 * dayMs);
    expect(await retain(app, clock)).toBe(120);
  });

  it('takes a period of an organization back', async () => {
    test = await testApp({ store });
    const { app, caller, clock } = test;
    await updateOrganization(app, caller.organizationId, { messagesDays: 1 });
    await send(app, caller, 'delivered@simulator.test');
    const pipeline = await startPipeline(app);
    await pipeline.idle();
    await pipeline.close();
    await updateOrganization(app, caller.organizationId, { messagesDays: null });
    expect((await getOrganization(app, 'default')).retention.messagesDays).toBeNull();
    clock.set(clock.now() + 30 * dayMs);
    expect(await retain(await test.another(), clock)).toBe(0);
  });
});
