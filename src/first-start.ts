// What an empty store begins with (contract 1, "First start"). Commands only need the organization
// `default`, its sandbox domain, sender and mailbox, and make them silently; the owner key is the
// daemon's to make, as its plaintext is printed once, so no command ever uses it up. Whoever is
// second, of two processes or two calls, finds everything done.
import type { App } from './app.ts';
import { newDomain, storeDomain } from './domains/domains.ts';
import { byService, record } from './events/record.ts';
import { newKey } from './keys/keys.ts';
import { keys } from './keys/queries.ts';
import { storeMailbox } from './mailboxes/mailboxes.ts';
import {
  defaultOrganization,
  newOrganizationRow,
  storeOrganization,
} from './organizations/organizations.ts';
import { findOrganizationByName, lockOrganization } from './organizations/queries.ts';
import { insertSender } from './senders/queries.ts';
import { newSenderRow } from './senders/senders.ts';
import type { Db } from './store/db.ts';

const sandboxDomain = 'sandbox.test';
const sandboxSender = `hello@${sandboxDomain}`;
const sandboxMailbox = `inbox@${sandboxDomain}`;

/**
 * Makes the organization `default` and its sandbox, unless they are there. For every command that
 * opens the store.
 */
export async function ensureDefaultOrganization(app: App): Promise<void> {
  if (await findOrganizationByName(app.store.db, defaultOrganization)) return;
  const organization = newOrganizationRow(app, { name: defaultOrganization, plan: 'self-hosted' });
  const domain = await newDomain(
    app,
    organization.id,
    { domain: sandboxDomain },
    { isLocal: true },
  );
  await app.store.write(async (trx) => {
    if (!(await storeOrganization(app, trx, byService(organization.id), organization))) return;
    await storeDomain(trx, domain);
    await storeSandbox(app, trx, organization.id);
  });
}

async function storeSandbox(app: App, trx: Db, organizationId: string): Promise<void> {
  const sender = newSenderRow(app, organizationId, { email: sandboxSender, name: 'Sandbox' });
  await insertSender(trx, { ...sender, is_default: 1 });
  const mailbox = { slug: 'inbox', displayName: 'Inbox', address: sandboxMailbox };
  await storeMailbox(app, trx, organizationId, mailbox, { isHosted: true });
}

/**
 * The daemon's first start: makes what is missing, and an owner key held by a person where the
 * organization `default` never had a key.
 * @returns its plaintext, to be printed once; null on every other start.
 */
export async function firstStart(app: App): Promise<{ apiKey: string } | null> {
  await ensureDefaultOrganization(app);
  const organization = await findOrganizationByName(app.store.db, defaultOrganization);
  if (!organization || (await keys.count(app.store.db, organization.id)) > 0) return null;
  const input = { name: 'First key', role: 'owner', owner: 'person' } as const;
  const { row, plaintext } = newKey(app, organization.id, input);
  return app.store.write(async (trx) => {
    await lockOrganization(trx, organization.id, app.clock.now());
    if ((await keys.count(trx, organization.id)) > 0) return null;
    await keys.insert(trx, row);
    const details = { ...input, mode: 'live' };
    const change = { subject: row.id, action: 'key.created', details } as const;
    await record(app, trx, byService(organization.id), change);
    return { apiKey: plaintext };
  });
}

/** What a first start tells the person in front of it: the key and a line to paste. */
export function firstStartText(httpUrl: string, apiKey: string): string {
  const body = JSON.stringify({
    channel: 'email',
    to: [{ email: sandboxMailbox }],
    email: { subject: 'Hello', text: 'It works.' },
  });
  return `Your first API key, an owner's. It is shown only this once:

  ${apiKey}

Send a first message to your own mailbox:

  curl -X POST ${httpUrl}/v1/messages -H 'X-API-Key: ${apiKey}' -H 'Content-Type: application/json' -d '${body}'
`;
}
