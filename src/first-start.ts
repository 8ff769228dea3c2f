// What an empty store begins with. Commands only need the organization
// `default`, its sandbox domain, sender and mailbox, and make them silently; the owner key is the
// daemon's to make, as its plaintext is printed once, so no command ever uses it up. Whoever is
// second, of two processes or two calls, finds everything done.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from './app.ts';
import type { Config } from './config/config.ts';
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
import { createRouter } from './smtp/route.ts';
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
  await storeMailbox(app, trx, byService(organizationId), mailbox);
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

/** Where the first message may go without leaving this machine, whatever the configuration says. */
function firstRecipient({ delivery, smtp, mailboxes }: Config): { email: string; whose: string } {
  const choose = createRouter(delivery, smtp.inbound, mailboxes.hostedDomain);
  return choose(sandboxMailbox, true).kind === 'local'
    ? { email: sandboxMailbox, whose: 'your own mailbox' }
    : { email: 'delivered@simulator.test', whose: 'the simulator, which stays on this machine' };
}

/** What a first start tells the person in front of it: the key and a line to paste. */
export function firstStartText(config: Config, httpUrl: string, apiKey: string): string {
  const { email, whose } = firstRecipient(config);
  const body = JSON.stringify({
    channel: 'email',
    to: [{ email }],
    email: { subject: 'Hello', text: 'It works.' },
  });
  return `Your first API key, an owner's. It is shown only this once:

  ${apiKey}

Send a first message to ${whose}:

  curl -X POST ${httpUrl}/v1/messages -H 'X-API-Key: ${apiKey}' -H 'Content-Type: application/json' -d '${body}'
`;
}

/**
 * Tells the text of a first start by `print`, or where that is null (standard output is a log that
 * others keep) in `first-key` under dataDir, which the owner alone may read.
 */
export function announceFirstStart(
  { config, log }: App,
  text: string,
  print: ((text: string) => void) | null,
): void {
  if (print) {
    print(text);
    return;
  }
  const file = join(config.dataDir, 'first-key');
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    log.info({ file }, 'the first API key is in this file: read it, then delete it');
  } catch (error) {
    log.error(
      { err: error, file },
      'the first API key could not be written: make another with "svc keys create --role owner"',
    );
  }
}
