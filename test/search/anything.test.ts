// "Find anything" on both stores: each noun by each field, only nouns that the caller may read, and
// the answer for one address.
import { beforeAll, describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { createKey } from '../../src/access/keys/keys.ts';
import type { CreateKey } from '../../src/access/keys/schema.ts';
import { updateOrganization } from '../../src/access/organizations/organizations.ts';
import { createSearchFiller } from '../../src/outbound/messages/lists/search.ts';
import { searchRoutes } from '../../src/search/routes.ts';
import type { Found } from '../../src/search/schema.ts';
import { ask } from '../../src/service/door/door.ts';
import { arrive, mailboxOf } from '../inbox/threads/mails.ts';
import { otherOrganization, payload, send } from '../outbound/messages/fixtures.ts';
import { bothStores } from '../support/command.ts';
import { sharedApi } from '../support/each-app.ts';

/** Lists the results in short, noun by noun. */
function inShort({ address, people, messages, threads, campaigns, templates }: Found): string[] {
  return [
    ...(address ? [`address ${address.email}`] : []),
    ...people.map(({ name }) => `person ${name}`),
    ...messages.map(({ subject, by }) => `message ${subject} by ${by}`),
    ...threads.map(({ subject }) => `thread ${subject}`),
    ...campaigns.map(({ name }) => `campaign ${name}`),
    ...templates.map(({ slug }) => `template ${slug}`),
  ];
}

describe.each(bothStores)('a search for anything on %s', (store) => {
  const { test, api } = sharedApi({ store });
  let messageId = '';

  beforeAll(async () => {
    const { app, caller } = test;
    await updateOrganization(app, caller.organizationId, { metadataKeys: ['orderId'] });
    await api.post('/v1/contacts', { email: 'mia@example.com', name: 'Mia Torres' });
    await api.post('/v1/email/blocks', { address: 'MIA@example.com', reason: 'bounce' });
    const to = [{ email: 'mia@example.com' }];
    const metadata = { orderId: '10234' };
    messageId = (await send(api, payload({ subject: 'Your order' }, { to, metadata }))).id;
    await send(api, payload({ subject: 'Your invoice' }, { to: [{ email: 'bo@example.com' }] }));
    const text = 'News';
    await api.post('/v1/campaigns', {
      name: 'Autumn news',
      email: { subject: text, text },
      audience: { includeTags: ['made'] },
      transactional: true,
    });
    const template = { name: 'Order confirmed', slug: 'order-1', subject: 'Hi', html: '<p>Hi</p>' };
    expect((await api.post('/v1/templates', template)).status).toBe(201);
    await api.post('/v1/mailboxes', { slug: 'sales', displayName: 'Sales' });
    await arrive(app, { from: 'Zoe <zoe@example.org>', subject: 'A lost parcel', text: 'Where?' });
    await createSearchFiller(app, { isPressing: () => false, isWorking: () => false }).fill();
  });

  const find = (q: string, caller = test.caller) =>
    ask({ app: test.app }, caller, searchRoutes.find, { query: { q } });

  async function keyOf(input: Partial<CreateKey>) {
    const { app, operator } = test;
    const { key } = await createKey(app, operator, { name: 'of a test', ...input } as CreateKey);
    const caller = await createAuthenticator(app).authenticate(key ?? '');
    if (!caller) throw new Error('the key is not valid');
    return caller;
  }

  it.each([
    ['torres', ['address mia@example.com', 'person Mia Torres']],
    ['mia@ex', ['address mia@example.com', 'person Mia Torres']],
    [
      'MIA@example.com',
      ['address MIA@example.com', 'person Mia Torres', 'message Your order by address'],
    ],
    ['your', ['message Your invoice by subject', 'message Your order by subject']],
    ['10234', ['message Your order by metadata.orderId']],
    ['1023', []],
    ['parc', ['thread A lost parcel']],
    ['news AUTUMN', ['campaign Autumn news']],
    ['order-1', ['template order-1']],
    ['confirmed', ['template order-1']],
    ['* "" : (', []],
    ['nothing at all', []],
  ])('finds for %s', async (q, found) => {
    expect(inShort(await find(q))).toEqual(found);
  });

  it('finds a message by id', async () => {
    expect(inShort(await find(messageId))).toEqual(['message Your order by id']);
  });

  it('answers for an address with contact, block and the last messages', async () => {
    const { address } = await find('mia@example.com');
    expect(address).toMatchObject({
      email: 'mia@example.com',
      contact: { name: 'Mia Torres', status: 'bounced' },
      blocks: [{ reason: 'bounce', unsubscribeGroupId: null }],
      messages: [{ id: messageId, status: 'failed', errorCode: 'suppressed' }],
    });
  });

  it('answers for an address without a contact', async () => {
    const { address } = await find('bo@example.com');
    expect(address).toMatchObject({ contact: null, blocks: [], messages: [{ errorCode: null }] });
  });

  const everything = ['mia@example.com', 'order', 'autumn', 'parcel'];
  it.each([
    [{ contacts: ['read'] }, ['address mia@example.com', 'person Mia Torres']],
    [{ templates: ['read'] }, ['template order-1']],
    [{ campaigns: ['read'] }, ['campaign Autumn news']],
    [{ mailboxes: ['read'] }, ['thread A lost parcel']],
    [{ blocks: ['read'] }, ['address mia@example.com']],
    [{ messages: ['send'] }, []],
  ])('shows a caller with %j its nouns alone', async (permissions, expected) => {
    const caller = await keyOf({ permissions });
    const found = await Promise.all(everything.map((q) => find(q, caller)));
    expect(found.flatMap(inShort)).toEqual(expected);
  });

  it('shows a bound key the threads of its mailboxes alone', async () => {
    const inbox = await mailboxOf(test.app);
    const { body } = await api.get<{ items: { id: string }[] }>('/v1/mailboxes');
    const sales = body.items.find(({ id }) => id !== inbox)?.id ?? '';
    for (const [mailboxId, expected] of [
      [inbox, ['thread A lost parcel']],
      [sales, []],
    ] as const) {
      const permissions = { mailboxes: ['read'], messages: ['read'], contacts: ['read'] };
      const caller = await keyOf({ permissions, constraints: { mailboxIds: [mailboxId] } });
      const found = await Promise.all(everything.map((q) => find(q, caller)));
      expect(found.flatMap(inShort)).toEqual(expected);
    }
  });

  it('shows nothing of another organization', async () => {
    const { caller } = await otherOrganization(test.app);
    const found = await Promise.all([...everything, messageId].map((q) => find(q, caller)));
    expect(found.flatMap(({ address: _own, ...nouns }) => Object.values(nouns).flat())).toEqual([]);
  });

  it('keeps the networks of a key', async () => {
    const caller = await keyOf({ role: 'viewer', constraints: { ipRanges: ['203.0.113.0/24'] } });
    await expect(find('order', caller)).rejects.toMatchObject({ _tag: 'ForbiddenError' });
  });
});
