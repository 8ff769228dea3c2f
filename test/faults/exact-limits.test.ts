// Every limit that is exact, over three daemons on one PostgreSQL, all under crowds at the same
// time: the buckets of a plan, a quota at its edge, idempotency keys, the window of a warming plan
// and its change, one catch-all of a domain, one run of a job.
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { updateOrganization } from '../../src/access/organizations/organizations.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { addDomain } from '../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { enableCatchAll } from '../../src/identity/mailboxes/catch-all.ts';
import { createMailbox } from '../../src/identity/mailboxes/mailboxes.ts';
import { createSender } from '../../src/identity/senders/senders.ts';
import { warmedDomains } from '../../src/identity/warming/warmed-domains.ts';
import { startWarming } from '../../src/identity/warming/warming.ts';
import { moveWindows } from '../../src/identity/warming/windows.ts';
import { claimMessages } from '../../src/outbound/queue/claiming/claim.ts';
import { DeferredMail } from '../../src/outbound/queue/claiming/deferred.ts';
import { sendMessage } from '../../src/outbound/sending/send.ts';
import { ConflictError } from '../../src/platform/errors.ts';
import { addJob } from '../../src/service/jobs/queries.ts';
import { runTick } from '../../src/service/jobs/run-tick.ts';
import { Daemons } from '../access/admission/daemons.ts';
import { ask, drawers, onPlan, send } from '../access/admission/fixtures.ts';
import { dayMs, provenDomain, ramp, sendTo, warm } from '../identity/warming/fixtures.ts';
import { otherOrganization } from '../outbound/messages/fixtures.ts';
import { noLimits, payloadFor } from '../support/delivery.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const rounds = 5;
const dailyEmails = 40;
/** Windows of 4, 8 and 10 recipients. */
const small = { ...ramp, initialDailyRecipients: 4, targetDailyRecipients: 10 };

let test: TestApp;
let running: Daemons;
let apps: App[];
beforeEach(async () => {
  const plans = { tiny: { ratePerSecond: 5, dailyEmails, trialCaps: false } };
  test = await testApp({ store: 'postgres', config: { plans } });
  running = new Daemons(test);
  await onPlan(test, 'free');
  apps = [test.app, await test.another(), await test.another()];
  for (const app of apps) await running.start(app);
  await running.settled(1_000);
});
afterEach(async () => {
  await running.close();
  await test.close();
});

/** Lets every daemon do the work `times` times, all at once. */
function crowd<T>(times: number, work: (app: App, index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(
    Array.from({ length: times * apps.length }, (_, index) =>
      work(apps[index % apps.length] as App, index),
    ),
  );
}

const countOf = <T>(list: readonly T[], wanted: T) => list.filter((one) => one === wanted).length;

/** Makes an organization with a sender. */
async function sending(name: string): Promise<Caller> {
  const { caller } = await otherOrganization(test.app, name);
  const domain = `${name}.example`;
  await provenDomain(test.app, caller, domain);
  await createSender(test.app, caller, { email: `news@${domain}`, isDefault: true });
  return caller;
}

/** Requests with three keys of an organization, while the clock stands still. */
async function buckets() {
  const keys = drawers(test, 3);
  const answers = await crowd(60, async (app, index) => {
    const key = keys[index % keys.length] as (typeof keys)[number];
    return [index % keys.length, await ask(app, key)] as const;
  });
  const admitted = answers.filter(([, seconds]) => seconds === null);
  const perKey = keys.map((_, index) => admitted.filter(([at]) => at === index).length);
  return { admitted: admitted.length, most: Math.max(...perKey) };
}

async function quota(caller: Caller) {
  const answers = await crowd(30, (app) => send(app, caller));
  const refused = answers.filter((answer) => answer !== null);
  return {
    accepted: countOf(answers, null),
    refusals: [...new Set(refused.map((answer) => answer['_tag']))],
  };
}

async function idempotencyKeys() {
  const found: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const keys = Array.from({ length: 6 }, (_, index) => `key-${round}-${index}`);
    const ids = new Map<string, Set<string>>(keys.map((key) => [key, new Set()]));
    await crowd(2 * keys.length, async (app, index) => {
      const key = keys[Math.floor(index / apps.length) % keys.length] as string;
      const payload = payloadFor(`${key}@example.com`);
      // A repeat beside the first request may be a conflict.
      const sent = await sendMessage(app, test.caller, payload, key).catch(refusedAsNull);
      if (sent) ids.get(key)?.add(sent.id);
    });
    found.push(...[...ids.values()].map(({ size }) => size));
  }
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from recipients where email like 'key-%'`.execute(test.app.store.db);
  return { perKey: [...new Set(found)], messages: Number(rows[0]?.n) };
}

async function claims() {
  const choices = apps.map(noLimits);
  const claimed = await crowd(6, async (app, index) => {
    const choice = choices[index % apps.length] as (typeof choices)[number];
    const options = { worker: `wrk_${index % apps.length}`, leaseMs: 100 * dayMs, limit: 100 };
    return (await claimMessages(app, choice, options)).messages;
  });
  const own = claimed
    .flat()
    .filter(({ message }) => message.from_email.endsWith(warm))
    .flatMap(({ deliveries }) => deliveries);
  return { claimed: own.length, once: new Set(own.map(({ id }) => id)).size };
}

/**
 * Three organizations verify one domain, then each of three mailboxes of the owner becomes its
 * catch-all.
 */
async function catchAlls() {
  const domain = 'shared.example';
  const claimants = await Promise.all(
    ['one', 'two', 'three'].map(async (name) => {
      const { caller } = await otherOrganization(test.app, name);
      const { id } = await addDomain(test.app, caller, { domain, dkim: 'ed25519' });
      return { caller, id };
    }),
  );
  const owners = await crowd(claimants.length, async (app, index) => {
    const { caller, id } = claimants[Math.floor(index / apps.length)] as (typeof claimants)[number];
    const verified = await verifyDomain(app, caller, id, { force: true }).catch(refusedAsNull);
    return verified && caller.organizationId;
  });
  const [owner, ...others] = new Set(owners.filter((one) => one !== null));
  const claimant = claimants.find(({ caller }) => caller.organizationId === owner);
  if (!claimant) throw new Error('the domain has no owner');
  const { caller, id: domainId } = claimant;
  const mailboxes = await Promise.all(
    ['a', 'b', 'c'].map((slug) =>
      createMailbox(test.app, caller, { slug, address: `${slug}@${domain}` }),
    ),
  );
  await crowd(4 * mailboxes.length, (app, index) => {
    const { id: mailboxId = '' } = mailboxes[index % mailboxes.length] ?? {};
    return enableCatchAll(app, caller, { domainId, mailboxId });
  });
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from catch_alls where domain = ${domain}`.execute(test.app.store.db);
  return { owners: 1 + others.length, catchAlls: Number(rows[0]?.n) };
}

/** Returns null for a conflict. */
function refusedAsNull(error: unknown): null {
  if (error instanceof ConflictError) return null;
  throw error;
}

async function jobRuns() {
  let runs = 0;
  const job = {
    name: 'count',
    run: async () => {
      runs += 1;
    },
    nextAfter: (ms: number) => ms + 1_000_000,
  };
  await test.app.store.write((trx) =>
    addJob(trx, { name: job.name, nextAt: test.clock.now(), periodMs: 3_600_000 }),
  );
  const { signal } = new AbortController();
  await crowd(8, (app, index) => runTick(app, job, { holder: `h${index}`, signal }));
  return runs;
}

it('are kept to the request', async () => {
  const limited = await sending('limited');
  await updateOrganization(test.app, limited.organizationId, { plan: 'tiny' });
  const warmed = await provenDomain(test.app, test.operator);
  await startWarming(test.app, test.operator, warmed, { ...small, direct: 'defer' });
  for (const app of apps) await warmedDomains(app).deferring();
  for (let n = 0; n < 12; n++) await sendTo(test.app, test.operator, 1);

  const [requests, emails, repeats, windows, holders, runs] = await Promise.all([
    buckets(),
    quota(limited),
    idempotencyKeys(),
    claims(),
    catchAlls(),
    jobRuns(),
  ]);
  expect(requests).toEqual({ admitted: 10, most: 5 });
  expect(emails).toEqual({ accepted: dailyEmails, refusals: ['PaymentRequiredError'] });
  expect(repeats).toEqual({ perKey: [1], messages: rounds * 6 });
  expect(windows).toEqual({ claimed: 4, once: 4 });
  expect(holders).toEqual({ owners: 1, catchAlls: 1 });
  expect(runs).toBe(1);

  await running.pass(dayMs);
  const moved = await crowd(4, (app) => moveWindows(app));
  expect(moved.reduce((sum, one) => sum + one, 0)).toBe(1);
  await test.clock.advance(1_000);
  for (const app of apps) await warmedDomains(app).deferring();
  // Every daemon takes places of the window for the mail that waits.
  const deferred = apps.map((app) => new DeferredMail(app));
  await crowd(4, async (_app, index) => deferred[index % apps.length]?.free());
  expect(await claims()).toEqual({ claimed: 8, once: 8 });
});
