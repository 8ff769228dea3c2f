// Ids as people type them: their last characters, or `@last`. Searches run on both stores; commands
// say on standard error which id they took.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completedPrefixes, idsInStore, wholeId } from '../../commands/base/input/whole-id.ts';
import { routes } from '../../daemon/http/routes.ts';
import { createKey } from '../../src/access/keys/keys.ts';
import { keys } from '../../src/access/keys/queries.ts';
import { organizationIdsEnding } from '../../src/access/organizations/queries.ts';
import { idKinds } from '../../src/core/api/resource-schema.ts';
import { createMailbox } from '../../src/identity/mailboxes/mailboxes.ts';
import { addressIdsEnding, mailboxes } from '../../src/identity/mailboxes/queries.ts';
import { prefixOf } from '../../src/platform/runtime/ids.ts';
import { type CliWorkspace, initializedWorkspace } from '../support/cli.ts';
import { stores } from '../support/command.ts';
import { eachApp } from '../support/each-app.ts';

interface Item {
  id: string;
  [field: string]: unknown;
}

describe('a command', () => {
  let cli: CliWorkspace;
  let mailbox: Item;
  let contact: Item;
  let message: Item;
  beforeAll(async () => {
    cli = await initializedWorkspace();
    const send = ['messages', 'send', '--to', 'a@example.com', '--subject', 'Hi', '--text', 'Hi'];
    message = await cli.json<Item>(send);
    mailbox = await cli.json<Item>(['mailboxes', 'create', '--slug', 'desk']);
    contact = await cli.json<Item>(['contacts', 'create', 'ada@example.com']);
    await cli.json(['webhooks', 'create', '--url', 'https://example.com', '--event', '*']);
    await cli.json(['domains', 'add', 'example.com']);
    await cli.json(['keys', 'create', '--name', 'ci']);
    await cli.json(['senders', 'create', '--email', 'b@sandbox.test', '--name', 'B']);
    await cli.json(['blocks', 'add', 'blocked@example.com']);
    await cli.json(['groups', 'create', '--name', 'Friends']);
    await cli.json(['unsubscribe-groups', 'create', '--name', 'News']);
    await cli.json(['saved-replies', 'create', '--name', 'Hours', '--text', 'From 9 to 17.']);
    await cli.json(['conversations', 'create', '--title', 'Help']);
    await cli.json(['orgs', 'create', '--name', 'acme', '--plan', 'free']);
  });
  afterAll(() => cli.close());

  it.each([
    'keys',
    'webhooks',
    'domains',
    'senders',
    'mailboxes',
    'blocks',
    'contacts',
    'groups',
    'unsubscribe-groups',
    'saved-replies',
    'conversations',
    'messages',
    'orgs',
  ])('%s show takes the ending of an id', async (topic) => {
    const { items } = await cli.json<{ items: Item[] }>([topic, 'list']);
    const [{ id } = { id: '' }] = items;
    const ending = id.slice(-7);
    const { code, stdout, stderr } = await cli.run([topic, 'show', ending, '--json']);
    expect({ code, id: JSON.parse(stdout).id, stderr }).toEqual({
      code: 0,
      id,
      stderr: `took ${id} for ${ending}\n`,
    });
  });

  it.each(['keys', 'webhooks', 'domains', 'mailboxes', 'contacts', 'groups', 'orgs'])(
    '%s show @last takes the newest',
    async (topic) => {
      const { items } = await cli.json<{ items: Item[] }>([topic, 'list']);
      const newest = items
        .map(({ id }) => id)
        .toSorted((one, other) => (one < other ? -1 : 1))
        .at(-1);
      expect((await cli.json<Item>([topic, 'show', '@last'])).id).toBe(newest);
    },
  );

  it('takes endings in flags', async () => {
    const ending = contact.id.slice(-6);
    const listed = await cli.json<{ items: Item[] }>(['messages', 'list', '--contact', ending]);
    expect(listed.items).toEqual([]);
    const key = await cli.json<Item>([
      ...['keys', 'create', '--name', 'bound'],
      ...['--data', JSON.stringify({ constraints: { mailboxIds: [mailbox.id.slice(-8)] } })],
    ]);
    expect(key.constraints).toEqual({ mailboxIds: [mailbox.id] });
  });

  it('takes endings of messages and deliveries in the queue', async () => {
    const ofMessage = await cli.run(['queue', 'show', message.id.slice(-8), '--json']);
    expect(JSON.parse(ofMessage.stdout)).toMatchObject({ items: [{ messageId: message.id }] });
    const [delivery] = await cli.json<Item[]>(['messages', 'deliveries', '@last']);
    const shown = await cli.json<Item>(['queue', 'show', delivery?.id.slice(-8) ?? '']);
    expect(shown.id).toBe(delivery?.id);
    const hold = await cli.json<Item>(['queue', 'hold', message.id.slice(-8)]);
    expect(hold).toMatchObject({ messageId: message.id });
    expect(await cli.json(['queue', 'release', hold.id.slice(-8)])).toMatchObject({ id: hold.id });
  });

  it('takes the ending of an address of a mailbox', async () => {
    const add = ['mailboxes', 'addresses', 'add', mailbox.id, '--address', 'desk2@sandbox.test'];
    const { addresses } = await cli.json<{ addresses: Item[] }>(add);
    const added = addresses.find(({ address }) => address === 'desk2@sandbox.test');
    const remove = ['mailboxes', 'addresses', 'remove', mailbox.id, added?.id.slice(-9) ?? ''];
    expect((await cli.json<{ addresses: Item[] }>(remove)).addresses).toHaveLength(1);
  });

  it('takes the ending of an organization in --org', async () => {
    const { id } = await cli.json<Item>(['orgs', 'show', 'acme']);
    expect(await cli.json(['keys', 'list', '--org', id.slice(-6)])).toMatchObject({ items: [] });
  });

  it('removes the resource that it showed', async () => {
    const made = await cli.json<Item>(['groups', 'create', '--name', 'Gone']);
    const { stderr } = await cli.run(['groups', 'delete', '@last', '--yes']);
    expect(stderr).toBe(`took ${made.id} for @last\n`);
    expect((await cli.run(['groups', 'show', made.id])).code).toBe(3);
  });

  it('ends with exit code 3 for an unknown ending', async () => {
    const { code, stderr } = await cli.run(['keys', 'show', 'zzzzzz']);
    expect({ code, stderr }).toEqual({ code: 3, stderr: 'svc: key zzzzzz was not found\n' });
  });

  it('refuses an ending of fewer than six characters', async () => {
    expect((await cli.run(['keys', 'show', 'zzzzz'])).code).toBe(2);
  });
});

it('every kind of id in the API can be completed', () => {
  const kinds = new Set<string>();
  const collect = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const known = idKinds.get(schema as never);
    for (const kind of known?.kinds ?? []) kinds.add(prefixOf(kind));
    const { def } = schema as { def?: Record<string, unknown> };
    if (!def) return;
    for (const part of [def.innerType, def.element, def.in, ...Object.values(def.shape ?? {})]) {
      collect(part);
    }
  };
  for (const { params, query, body } of routes)
    for (const one of [params, query, body]) collect(one);
  const withoutRoom = ['tmpl'];
  const typedOnly = ['org', 'dlv', 'hold'];
  expect(new Set([...kinds, ...typedOnly])).toEqual(
    new Set([...completedPrefixes, ...withoutRoom]),
  );
});

describe.each(stores)('the search on %s', (store) => {
  const test = eachApp({ store });

  it('refuses the ending of several ids', async () => {
    const { app } = test;
    const ids = await Promise.all(
      ['a', 'b'].map(async (name) => (await createKey(app, test.caller, { name })).id),
    );
    const { organizationId } = test.caller;
    const both = await keys.idsEnding(app.store.db, organizationId, '', 2);
    expect(both).toEqual(ids.toSorted().toReversed());
    const renamed = ids.map((id) => `${id.slice(0, -6)}7t7t7t`);
    for (const [index, id] of ids.entries()) {
      await app.store.write(async (trx) => {
        const row = await keys.remove(trx, organizationId, id);
        await keys.insert(trx, { ...row, id: renamed[index] ?? '' });
      });
    }
    await expect(wholeId(idsInStore(app, organizationId), ['key'], '7t7t7t')).rejects.toThrow(
      `7t7t7t is the ending of several ids: ${renamed.toSorted().toReversed().join(', ')}`,
    );
  });

  it('finds nothing of another organization', async () => {
    const { db } = test.app.store;
    const { id } = await createKey(test.app, test.caller, { name: 'a' });
    expect(await keys.idsEnding(db, 'org_other', id.slice(-6), 2)).toEqual([]);
    expect(await keys.idsEnding(db, undefined, id.slice(-6), 2)).toEqual([id]);
  });

  it('finds organizations and addresses of mailboxes', async () => {
    const { db } = test.app.store;
    const { organizationId } = test.caller;
    const made = await createMailbox(test.app, test.caller, { slug: 'desk' });
    const address = made.addresses[0]?.id ?? '';
    expect(await addressIdsEnding(db, organizationId, address.slice(-8), 2)).toEqual([address]);
    expect(await mailboxes.idsEnding(db, organizationId, made.id.slice(-8), 2)).toEqual([made.id]);
    const ending = organizationId.slice(-8);
    expect(await organizationIdsEnding(db, undefined, ending, 2)).toEqual([organizationId]);
  });
});
