// Two organizations with one resource of each kind, and a key for each kind of caller: the world of
// the permission matrix.

import { makeKey } from '../../src/access/keys/key-format.ts';
import { createKey, revokeKey } from '../../src/access/keys/keys.ts';
import { operatorOf } from '../../src/access/keys/roles.ts';
import type { CreateKey } from '../../src/access/keys/schema.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import type { Caller } from '../../src/core/api/route.ts';
import { addDomain } from '../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { getMailbox } from '../../src/identity/mailboxes/mailboxes.ts';
import { createNamespace } from '../../src/identity/mailboxes/namespaces.ts';
import { createSender } from '../../src/identity/senders/senders.ts';
import { createBlock } from '../../src/people/blocks/blocks.ts';
import { seededRandom } from '../../src/platform/runtime/random.ts';
import { testWebhook } from '../../src/webhooks/deliveries/deliveries.ts';
import type { TestStore } from '../support/command.ts';
import { type HttpApi, httpApi } from '../support/http-client.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { type Resource, type ResourceKind, resources } from './permission-rows.ts';

const resourceKinds = Object.keys(resources) as ResourceKind[];

/** Settings of each caller's key, by name of the caller. */
export const callers = {
  owner: { role: 'owner' },
  admin: { role: 'admin' },
  developer: { role: 'developer' },
  editor: { role: 'editor' },
  support: { role: 'support' },
  analyst: { role: 'analyst' },
  sender: { role: 'sender' },
  viewer: { role: 'viewer' },
  mailer: { permissions: { messages: ['send'] } },
  reader: { permissions: { messages: ['read'] } },
  writer: { permissions: { '*': ['write'] } },
  remover: { permissions: { '*': ['delete'] } },
  counter: { permissions: { analytics: ['read'], organization: ['read'] } },
  locksmith: { permissions: { keys: ['*'] } },
  postmaster: { permissions: { domains: ['*'], senders: ['*'], blocks: ['*'] } },
} as const satisfies Record<string, CreateKey>;

export type CallerName = keyof typeof callers;

export const callerNames = Object.keys(callers) as CallerName[];

/** One organization and its resources. */
export interface Side {
  name: string;
  organizationId: string;
  /** Resources that no request of the matrix changes for good. */
  shared: Readonly<Record<ResourceKind, string>>;
  /** The address of the shared block. */
  blockedAddress: string;
  /** The only address of the shared mailbox, and its namespace. */
  mailboxAddress: string;
  namespace: string;
  /** A delivery to the shared webhook. */
  webhookDelivery: string;
  /** A resource for one request, which may end it. */
  fresh(kind: ResourceKind): Promise<string>;
  /** Client with an owner's key, which belongs to a person. */
  api: HttpApi;
}

export interface PermissionWorld {
  test: TestApp;
  own: Side;
  foreign: Side;
  /** The API for a key of the own organization. */
  as(name: CallerName): HttpApi;
  /** Invalid keys, by their fault. */
  badKeys: ReadonlyMap<string, string | null>;
  /** An id without a resource. */
  unknownId(kind: ResourceKind): string;
  close(): Promise<void>;
}

async function plaintextOf(test: TestApp, operator: Caller, input: CreateKey): Promise<string> {
  const { key } = await createKey(test.app, operator, input);
  if (key === null) throw new Error('a new key came without its plaintext');
  return key;
}

async function makeSide(test: TestApp, api: HttpApi, name: string, id: string): Promise<Side> {
  const { app } = test;
  const operator = operatorOf(id);
  const domain = `${name}.example`;
  const added = await addDomain(app, operator, { domain, dkim: 'ed25519' });
  await verifyDomain(app, operator, added.id, { force: true });
  await createSender(app, operator, { email: `hello@${domain}`, isDefault: true });
  const ownerApi = api.as(await plaintextOf(test, operator, { role: 'owner', owner: 'person' }));
  let serial = 0;
  const fresh = async (kind: ResourceKind) => {
    serial++;
    return (await resources[kind].make({ app, operator, api: ownerApi, name, domain, serial })).id;
  };
  const blockedAddress = `blocked@${domain}`;
  const shared: Partial<Record<ResourceKind, string>> = {};
  for (const kind of resourceKinds) shared[kind] = await fresh(kind);
  const block = await createBlock(app, operator, { address: blockedAddress, reason: 'manual' });
  shared.block = block.id;
  const mailbox = await getMailbox(app, operator, shared.mailbox ?? '');
  await createNamespace(app, operator, { name: `${name} agents` });
  const tested = await testWebhook(app, operator, shared.webhook ?? '', {});
  return {
    name,
    organizationId: id,
    blockedAddress,
    mailboxAddress: mailbox.addresses[0]?.id ?? '',
    namespace: mailbox.namespaceId,
    webhookDelivery: tested.deliveryId,
    shared: shared as Record<ResourceKind, string>,
    fresh,
    api: ownerApi,
  };
}

async function makeBadKeys(test: TestApp): Promise<Map<string, string | null>> {
  const { app, operator, clock } = test;
  const revoked = await createKey(app, operator, { role: 'owner' });
  await revokeKey(app, operator, revoked.id);
  const expiresAt = new Date(clock.now() + 1_000).toISOString();
  const expired = await plaintextOf(test, operator, { role: 'owner', expiresAt });
  await clock.advance(1_000);
  const good = await plaintextOf(test, operator, { role: 'owner' });
  const last = good.endsWith('0') ? '1' : '0';
  return new Map([
    ['no key', null],
    ['an empty key', ''],
    ['nonsense', 'nonsense'],
    ['a mistyped key', `${good.slice(0, -1)}${last}`],
    ['the start of a key', good.slice(0, 14)],
    ['an unknown key', makeKey(seededRandom(99), 'live').plaintext],
    ['a revoked key', revoked.key],
    ['an expired key', expired],
  ]);
}

/** Creates both organizations; `close` ends everything. */
export async function permissionWorld(store: TestStore): Promise<PermissionWorld> {
  const test = await testApp({ store });
  const api = httpApi(test);
  const other = await createOrganization(test.app, { name: 'foreign', plan: 'self-hosted' });
  const own = await makeSide(test, api, 'own', test.caller.organizationId);
  const foreign = await makeSide(test, api, 'foreign', other.id);
  const keys = new Map<CallerName, string>();
  for (const name of callerNames) {
    keys.set(name, await plaintextOf(test, test.operator, callers[name]));
  }
  const badKeys = await makeBadKeys(test);
  return {
    test,
    own,
    foreign,
    badKeys,
    as: (name) => api.as(keys.get(name) ?? ''),
    unknownId: (kind) => {
      const { idKind, named }: Resource = resources[kind];
      const id = test.app.newId(idKind);
      return named === undefined ? id : id.replace('_', '-');
    },
    async close() {
      await api.close();
      await test.close();
    },
  };
}
