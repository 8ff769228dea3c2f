// Shared by the tests of the walk: many contacts, a campaign to them, its runs, and a walking
// daemon.
import { sql } from 'kysely';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { createCampaign } from '../../../src/campaigns/setup/campaigns.ts';
import type { Run } from '../../../src/campaigns/setup/run-schema.ts';
import { createRun, getRun } from '../../../src/campaigns/setup/runs.ts';
import { createCampaignInput } from '../../../src/campaigns/setup/schema.ts';
import { type CampaignLoop, campaignLoop } from '../../../src/campaigns/walk/loop.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import { insertContacts } from '../../../src/people/contacts/bulk-queries.ts';
import { contactNoun } from '../../../src/people/contacts/schema.ts';
import type { RecipientRow } from '../../../src/run-ledger/queries.ts';

const perTransaction = 500;

interface ContactParts {
  tag?: string;
  domain?: string;
  preferences?: object | null;
}

/** Makes another organization with a sender; returns its operator. */
export async function makeOrganization(app: App): Promise<Caller> {
  const { id } = await createOrganization(app, { name: 'Other', plan: 'self-hosted' });
  const operator = operatorOf(id);
  const domain = await addDomain(app, operator, { domain: 'other.example', dkim: 'ed25519' });
  await verifyDomain(app, operator, domain.id, { force: true });
  await createSender(app, operator, { email: 'news@other.example' });
  return operator;
}

/** Stores contacts with the addresses `u0@…`, `u1@…` and one tag; returns their ids in order. */
export async function makeContacts(
  app: App,
  { organizationId }: Caller,
  count: number,
  { tag = 'all', domain = 'example.com', preferences = null }: ContactParts = {},
): Promise<string[]> {
  const now = app.clock.now();
  const ids: string[] = [];
  for (let from = 0; from < count; from += perTransaction) {
    const size = Math.min(perTransaction, count - from);
    const made = Array.from({ length: size }, (_, index) => {
      const id = app.newId(contactNoun);
      const identifier = `u${from + index}@${domain}`;
      return {
        row: {
          id,
          organization_id: organizationId,
          name: null,
          display_name: null,
          avatar: null,
          external_id: null,
          is_archived: 0,
          profile: null,
          preferences: preferences && JSON.stringify(preferences),
          tags: JSON.stringify([tag]),
          metadata: null,
          created_at: now,
          updated_at: now,
        },
        identities: [
          {
            organization_id: organizationId,
            folded_identifier: identifier,
            id: app.newId('contactIdentity'),
            contact_id: id,
            position: 0,
            identifier,
            verified_at: null,
          },
        ],
        tags: [tag],
      };
    });
    ids.push(...made.map(({ row }) => row.id));
    await app.store.write((trx) => insertContacts(trx, made));
  }
  return ids;
}

/** Stores a campaign to all contacts with the tag `all`. */
export async function makeCampaign(app: App, caller: Caller, more: object = {}): Promise<string> {
  const input = createCampaignInput.parse({
    name: 'News',
    channel: 'email',
    email: { subject: 'News', text: 'Hello' },
    audience: { includeTags: ['all'] },
    transactional: true,
    ...more,
  });
  return (await createCampaign(app, caller, input)).id;
}

/** Makes a run. */
export function makeRun(
  app: App,
  caller: Caller,
  campaignId: string,
  input: object = {},
): Promise<Run> {
  return createRun(app, caller, campaignId, input);
}

/** Reads a run. */
export function readRun(app: App, caller: Caller, { id, campaignId }: Run): Promise<Run> {
  return getRun(app, caller, { campaignId, runId: id });
}

/** Starts the walk of one daemon, for the time of a function. */
export async function whileWalking<T>(
  app: App,
  work: (loop: CampaignLoop) => Promise<T>,
): Promise<T> {
  const loop = campaignLoop(app);
  await loop.start();
  try {
    return await work(loop);
  } finally {
    await loop.stop();
  }
}

/** Reads the ledger of a run, by contact. */
export async function ledgerOf({ store }: App, runId: string): Promise<RecipientRow[]> {
  const query = sql<RecipientRow>`select * from campaign_recipients where run_id = ${runId}
    order by contact_id`;
  return (await query.execute(store.db)).rows;
}

/** Counts the messages of a run. */
export async function messagesOf({ store }: App, runId: string): Promise<number> {
  const query = sql<{ n: number }>`select count(*) as n from messages
    where campaign_run_id = ${runId}`;
  return Number((await query.execute(store.db)).rows[0]?.n);
}
