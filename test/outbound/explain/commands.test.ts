// Each command that `svc messages explain` can print is typed, on a store with its message, and
// succeeds.
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pauseOrganization } from '../../../src/access/organizations/organizations.ts';
import { createCampaign } from '../../../src/campaigns/setup/campaigns.ts';
import { createCampaignInput } from '../../../src/campaigns/setup/schema.ts';
import { scopeOfDomain } from '../../../src/identity/reputation/domain-holds.ts';
import { startWarming } from '../../../src/identity/warming/warming.ts';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import {
  errorWords,
  runWords,
  stateWords,
  waitWords,
} from '../../../src/outbound/explain/explain-words.ts';
import { holdQueue } from '../../../src/outbound/queue/desk/holds.ts';
import { createBlock } from '../../../src/people/blocks/blocks.ts';
import { newRun } from '../../people/runs/entries.ts';
import { type CliWorkspace, cliWorkspace } from '../../support/cli.ts';
import { send } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { anotherOrganization } from '../queue/entries.ts';

let test: TestApp;
let cli: CliWorkspace;
beforeAll(async () => {
  // The commands use the clock of the machine.
  test = await testApp({ start: Date.now() });
  const { dataDir, database } = test.app.config;
  cli = cliWorkspace({ SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: database.url });
});
afterAll(async () => {
  cli.close();
  await test.close();
});

const commands = [waitWords, runWords, stateWords, errorWords].flatMap((table) =>
  Object.values(table).map(({ help }) => help.command),
);

const campaign = createCampaignInput.parse({
  name: 'News',
  email: { subject: 'News', text: 'Hello\n' },
  audience: { includeTags: ['customer'] },
});

/** Puts the store into the state in which explain prints the command. */
async function prepare(command: string, deliveryId: string): Promise<void> {
  const { app, caller } = test;
  const { organizationId } = caller;
  const mark = (columns: ReturnType<typeof sql>) => app.store.write((trx) => columns.execute(trx));
  if (command.startsWith('svc orgs resume')) {
    await pauseOrganization(app, organizationId, { note: 'too many bounces' });
  }
  if (command.startsWith('svc messages cancel')) {
    const later = Date.now() + 3_600_000;
    await mark(sql`update messages set status = 'scheduled', scheduled_for = ${later}`);
    await mark(sql`update deliveries set status = 'scheduled', due_at = ${later}, turn = null
      where id = ${deliveryId}`);
  }
  if (command.startsWith('svc warming show')) {
    await mark(sql`update domains set status = 'verified' where domain = 'sandbox.test'`);
    const query = sql<{ id: string }>`select id from domains where domain = 'sandbox.test'`;
    const [domain] = (await query.execute(app.store.db)).rows;
    await startWarming(app, caller, domain?.id ?? '', {
      identity: 'new',
      initialDailyRecipients: 50,
      dailyGrowthPercent: 30,
      targetDailyRecipients: 5_000,
      direct: 'defer',
    });
  }
  if (command.startsWith('svc domains resume')) {
    await mark(sql`insert into health_reviews (organization_id, scope, since, held_at, hold_reason)
      values (${organizationId}, ${scopeOfDomain('sandbox.test')}, 0, ${Date.now()}, 'bounces')`);
  }
}

it.each([...new Set(commands)])('%s succeeds', async (command) => {
  const { app, caller, operator } = test;
  const email = 'ada@a.example';
  const { id, deliveries } = await send(app, caller, email);
  const delivery = deliveries[0]?.id ?? '';
  await prepare(command, delivery);
  const hold = command.includes('{holdId}') ? await holdQueue(app, { id: delivery }, null) : null;
  const run = await newRun(app, caller.organizationId, {
    campaign_id: (await createCampaign(app, operator, campaign)).id,
    status: command.includes('--note') ? 'held' : 'paused',
  });
  const facts: Readonly<Record<string, string>> = {
    run,
    ...{ email, message: id, delivery, organization: caller.organizationId },
    ...{ senderDomain: 'sandbox.test', holdId: hold?.id ?? '' },
  };
  const typed = command
    .split(' ')
    .slice(1)
    .map((word: string) => word.replace(/\{(\w+)\}/, (_, name: string) => facts[name] ?? ''));
  const { code, stderr } = await cli.run(typed);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('svc:')]);
});

it('prints commands that succeed in another organization', async () => {
  const { app } = test;
  const acme = await anotherOrganization(app, 'acme');
  await createBlock(app, acme, { address: 'ada@a.example', reason: 'complaint' });
  const { id } = await send(app, acme, 'ada@a.example');
  const { recipients } = await explainMessage(app, acme, id);
  const command = recipients[0]?.help?.command ?? '';
  expect(command).toBe('svc blocks list --address ada@a.example --org acme');
  const { code, stdout } = await cli.run(command.split(' ').slice(1));
  expect([code, stdout]).toEqual([0, expect.stringContaining('complaint')]);
});
