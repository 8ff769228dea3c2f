// Initial content of an empty store: the first organization with a sandbox domain, sender and
// mailbox, and an owner's key. Only the daemon and `svc init` create it: the plaintext of the key
// is shown once, and any other command could hide it from the person. If two processes or calls run
// at once, the second finds everything done.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newKey } from '../access/keys/keys.ts';
import { keys } from '../access/keys/queries.ts';
import { newOrganizationRow, storeOrganization } from '../access/organizations/organizations.ts';
import { findFirstOrganization, lockOrganization } from '../access/organizations/queries.ts';
import type { App } from '../core/app.ts';
import type { Config } from '../core/config/config.ts';
import { doesMailLeave } from '../core/config/problems.ts';
import { byService, record } from '../history/events/record.ts';
import { newDomain, storeDomain } from '../identity/domains/domains.ts';
import { findSendingDomain } from '../identity/domains/queries.ts';
import { storeMailbox } from '../identity/mailboxes/mailboxes.ts';
import { findDefaultSender, insertSender } from '../identity/senders/queries.ts';
import { newSenderRow } from '../identity/senders/senders.ts';
import { createRouter } from '../mail/smtp/route.ts';
import { domainOf } from '../platform/net/address.ts';
import type { Db } from '../platform/store/db.ts';

/** Name of the first organization until somebody renames it. */
const firstName = 'default';
const sandboxDomain = 'sandbox.test';
const sandboxSender = `hello@${sandboxDomain}`;
const sandboxMailbox = `inbox@${sandboxDomain}`;

/** Creates the first organization and the sandbox, unless they exist. */
async function makeFirstOrganization(app: App): Promise<void> {
  if (await findFirstOrganization(app.store.db)) return;
  const row = newOrganizationRow(app, { name: firstName, plan: 'self-hosted' });
  const organization = { ...row, is_first: 1 };
  const domain = await newDomain(
    app,
    organization.id,
    { domain: sandboxDomain },
    { isLocal: true },
  );
  await app.store.write(async (trx) => {
    if (!(await storeOrganization(app, trx, byService(organization.id), organization))) return;
    await storeDomain(app, trx, domain);
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
 * Runs the daemon's first start: creates the first organization if it is missing, and an owner's
 * key for a person if that organization never had a key.
 * @returns the key in plain text, to be printed once; null on every later start.
 */
export async function firstStart(app: App): Promise<{ apiKey: string } | null> {
  await makeFirstOrganization(app);
  const organization = await findFirstOrganization(app.store.db);
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

const sandboxRemedy =
  'is refused, as no answer and no bounce could come back (a relay on this machine takes it). Make a sender ' +
  'of your own domain: svc senders create --email hello@example.com --default';

/** Warning for a store before the first start, if the configuration lets mail leave the machine. */
export const newStoreDoubt = `the first default sender is ${sandboxSender}: its mail to others ${sandboxRemedy}`;

/**
 * Returns a warning if mail leaves the machine although the default sender is the sandbox sender;
 * null otherwise.
 */
export async function sandboxDoubt({ config, store }: App): Promise<string | null> {
  if (!doesMailLeave(config.delivery)) return null;
  const organization = await findFirstOrganization(store.db);
  if (!organization) return newStoreDoubt;
  const sender = await findDefaultSender(store.db, organization.id);
  const name = sender && domainOf(sender.email);
  const domain = name && (await findSendingDomain(store.db, organization.id, name));
  if (!domain || domain.is_local === 0) return null;
  return `the default sender is ${sender.email}: its mail to others ${sandboxRemedy}`;
}

/**
 * Returns a recipient for the first message. Mail to this recipient stays on this machine, in any
 * configuration.
 */
function firstRecipient({ delivery, smtp, mailboxes }: Config): { email: string; whose: string } {
  const choose = createRouter(delivery, smtp.inbound, mailboxes.hostedDomain);
  return choose(sandboxMailbox, true, { organizationId: '', email: sandboxMailbox }).kind ===
    'local'
    ? { email: sandboxMailbox, whose: 'your own mailbox' }
    : { email: 'delivered@simulator.test', whose: 'the simulator, which stays on this machine' };
}

/** Returns the text of a first start: the key and a command to paste. */
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
 * Prints the text of a first start by `print`. Without `print` (standard output is a log that a
 * supervisor keeps) the text goes to `first-key` in dataDir, readable only by the owner.
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
      'the first API key could not be written: create another with "svc keys create --role ' +
        'owner"',
    );
  }
}
