// The filters of the list of contacts, alone and together, on both stores.
import { describe, expect, it } from 'vitest';
import type { Page } from '../../../src/core/api/pagination.ts';
import { blockAddress } from '../../../src/people/blocks/suppression.ts';
import type { Contact } from '../../../src/people/contacts/schema.ts';
import { otherOrganization } from '../../outbound/messages/fixtures.ts';
import { bothStores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';

const path = '/v1/contacts';

describe.each(bothStores)('the list of contacts on %s', (store) => {
  const { test, api } = eachApi({ store });

  async function make(email: string, more: object = {}): Promise<string> {
    await test.clock.advance(1_000);
    return (await api.post<Contact>(path, { email, ...more })).body.id;
  }
  async function block(address: string, reason: 'bounce' | 'complaint' | 'unsubscribe' | 'manual') {
    const { organizationId } = test.caller;
    await test.app.store.write((trx) =>
      blockAddress(test.app, trx, { organizationId, address, reason, messageId: null }),
    );
  }
  /** Returns the first names of the addresses found, in order, and the total. */
  async function found(query: string) {
    const { status, body } = await api.get<Page<Contact>>(`${path}?${query}`);
    expect([status, body]).toEqual([200, expect.anything()]);
    const names = body.items.map(({ identities }) => identities[0]?.identifier.split('@')[0]);
    return { names, total: body.pagination.total };
  }

  it('filters by stored and derived status, the latest blocked first', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await make(`${name}@example.com`, { tags: name < 'd' ? ['early'] : [] });
    }
    const archived = await make('g@example.com');
    await api.request('PATCH', `${path}/${archived}`, { body: { status: 'archived' } });
    await block('B@example.com', 'bounce');
    await block('a@example.com', 'bounce');
    await block('c@example.com', 'complaint');
    await block('d@example.com', 'unsubscribe');
    await block('e@example.com', 'manual');
    // A block of an archived contact, and one without a contact.
    await block('g@example.com', 'bounce');
    await block('nobody@example.com', 'bounce');
    expect(await found('status=bounced')).toEqual({ names: ['a', 'b'], total: 2 });
    expect(await found('status=bounced&limit=1&page=2')).toEqual({ names: ['b'], total: 2 });
    expect(await found('status=complained')).toEqual({ names: ['c'], total: 1 });
    expect(await found('status=unsubscribed')).toEqual({ names: ['d'], total: 1 });
    expect(await found('status=active')).toEqual({ names: ['f', 'e'], total: 2 });
    expect(await found('status=archived')).toEqual({ names: ['g'], total: 1 });
    expect(await found('status=bounced&tag=early')).toEqual({ names: ['a', 'b'], total: 2 });
    expect(await found('status=active&tag=early')).toEqual({ names: [], total: 0 });
    expect(await found('status=complained&email=C@example.com')).toEqual({
      names: ['c'],
      total: 1,
    });
    expect((await found('status=active&email=c@example.com')).total).toBe(0);
  });

  it('filters by status without regard to a second, blocked address', async () => {
    const identities = ['first@example.com', 'second@example.com'].map((identifier) => ({
      channel: 'email',
      identifier,
    }));
    await api.post(path, { identities });
    await block('second@example.com', 'bounce');
    expect((await found('status=bounced')).total).toBe(0);
    expect((await found('status=active')).total).toBe(1);
  });

  it('filters by q: prefixes of words in names, or of the first address', async () => {
    await make('ada@example.com', { name: 'Ada Lovelace' });
    await make('x1@example.com', { name: 'Åsa Öberg', displayName: 'The Adder' });
    await make('lovebird@example.com');
    const bob = await make('bob@example.com', { name: 'Bob' });
    expect(await found('q=LOVE')).toEqual({ names: ['lovebird', 'ada'], total: 2 });
    expect(await found('q=ad')).toEqual({ names: ['x1', 'ada'], total: 2 });
    expect(await found('q=lovelace ada')).toEqual({ names: ['ada'], total: 1 });
    expect(await found(`q=${encodeURIComponent('öberg')}`)).toEqual({ names: ['x1'], total: 1 });
    expect(await found('q=ada@ex')).toEqual({ names: ['ada'], total: 1 });
    expect(await found('q=ovelace')).toEqual({ names: [], total: 0 });
    await make('obi@example.com', { name: 'Obi Hadar' });
    expect(await found('q=obi hadar')).toEqual({ names: ['obi'], total: 1 });
    expect(await found('q=ada obi')).toEqual({ names: [], total: 0 });
    await api.request('PATCH', `${path}/${bob}`, { body: { name: 'Robert' } });
    expect(await found('q=robert')).toEqual({ names: ['bob'], total: 1 });
    await api.request('PATCH', `${path}/${bob}`, { body: { email: 'r@example.com' } });
    expect(await found('q=bob')).toEqual({ names: [], total: 0 });
    await api.delete(`${path}/${bob}`);
    expect(await found('q=robert')).toEqual({ names: [], total: 0 });
    for (const q of ['a', '', '  ', '%%', 'x'.repeat(101)]) {
      const { status, body } = await api.get<{ fields: object }>(`${path}?q=${encodeURI(q)}`);
      expect([q, status, Object.keys(body.fields ?? {})]).toEqual([q, 422, ['q']]);
    }
  });

  it('filters by updatedSince, inclusive, the last changed first', async () => {
    const first = await make('a@example.com', { tags: ['t'] });
    await make('b@example.com');
    const between = new Date(test.clock.now() + 500).toISOString();
    await make('c@example.com', { tags: ['t'] });
    await test.clock.advance(1_000);
    await api.request('PATCH', `${path}/${first}`, { body: { name: 'A' } });
    const now = new Date(test.clock.now()).toISOString();
    expect(await found(`updatedSince=${between}`)).toEqual({ names: ['a', 'c'], total: 2 });
    expect(await found(`updatedSince=${now}`)).toEqual({ names: ['a'], total: 1 });
    expect(await found(`updatedSince=${between}&tag=t`)).toEqual({ names: ['c', 'a'], total: 2 });
    expect(await found(`updatedSince=${between}&q=c@`)).toEqual({ names: ['c'], total: 1 });
    expect((await api.get(`${path}?updatedSince=yesterday`)).status).toBe(422);
  });

  it('shows nothing of another organization', async () => {
    const { caller } = await otherOrganization(test.app);
    const now = test.clock.now();
    await make('ada@example.com', { name: 'Ada', tags: ['t'] });
    await block('ada@example.com', 'bounce');
    const { listContacts } = await import('../../../src/people/contacts/contacts.ts');
    const page = { page: 1, limit: 20 };
    for (const filter of [
      { q: 'ada' },
      { status: 'bounced' as const },
      { updatedSince: new Date(now).toISOString() },
    ]) {
      const { items, pagination } = await listContacts(test.app, caller, { ...page, ...filter });
      expect([items, pagination.total]).toEqual([[], 0]);
    }
  });
});
