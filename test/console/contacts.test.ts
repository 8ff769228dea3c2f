// Contacts, groups, blocks and conversations in the console: filters, changes, and refusals that
// keep the typed words.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, consoleWorld, formOf, problemOf, type World } from './world.ts';

let world: World;
let browser: Browser;

beforeAll(async () => {
  world = await consoleWorld();
  browser = await world.operator();
});
afterAll(() => world.close());

type Resource = Readonly<Record<string, unknown>> & { id: string };

const api = (method: 'GET' | 'POST', path: string, body?: object) =>
  world.api(method, path, body) as unknown as Promise<Resource>;

/** Posts the form of an action with these fields. */
async function act(url: string, action: string, fields: Record<string, string>) {
  const form = formOf((await browser.get(url)).body, action);
  expect([url, action, form !== null]).toEqual([url, action, true]);
  const answer = await browser.post(url, { ...form, ...fields, _action: action });
  return { ...answer, to: String(answer.headers['location'] ?? '') };
}

const profile = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  company: 'Engines',
  jobTitle: 'Analyst',
  source: 'fair',
  location: { country: 'GB', state: 'London', city: 'Marylebone', timezone: 'Europe/London' },
  customFields: { plan: 'gold', notes: 'One\nTwo', größe: '42' },
};

describe('a contact', () => {
  it('keeps all of its profile when the form is saved as it is', async () => {
    const made = await api('POST', '/v1/contacts', { email: 'ada@example.com', profile });
    const { status } = await act(`/console/contacts/${made.id}`, 'change', {});
    expect([status, await api('GET', `/v1/contacts/${made.id}`)]).toEqual([
      303,
      { ...made, updatedAt: expect.anything() },
    ]);
  });

  it('takes another profile: fields changed, removed and new', async () => {
    const { id } = await api('POST', '/v1/contacts', { email: 'b@example.com', profile });
    await act(`/console/contacts/${id}`, 'change', {
      company: 'Difference',
      city: '',
      'custom.plan': '',
      newField: 'color',
      newValue: 'blue',
    });
    expect(await api('GET', `/v1/contacts/${id}`)).toMatchObject({
      profile: {
        ...profile,
        company: 'Difference',
        location: { ...profile.location, city: null },
        customFields: { notes: 'One\nTwo', größe: '42', color: 'blue' },
      },
    });
  });

  it('is not changed in its status by its form', async () => {
    const { id } = await api('POST', '/v1/contacts', { email: 'bounced@example.com' });
    await api('POST', '/v1/email/blocks', { address: 'bounced@example.com', reason: 'bounce' });
    expect((await act(`/console/contacts/${id}`, 'change', { name: 'B' })).status).toBe(303);
    expect(await api('GET', `/v1/contacts/${id}`)).toMatchObject({ status: 'bounced', name: 'B' });
  });

  it('stays typed where the API refuses it', async () => {
    const { id } = await api('POST', '/v1/contacts', { email: 'c@example.com' });
    const typed = { name: 'N', externalId: 'x'.repeat(300), company: 'Kept', newField: 'f' };
    const { status, body } = await act(`/console/contacts/${id}`, 'change', typed);
    expect([status, problemOf(body)]).toEqual([422, expect.stringContaining('externalId')]);
    expect(formOf(body, 'change')).toMatchObject(typed);
    const twice = await act('/console/contacts', 'make', { address: 'c@example.com', tags: 'a,b' });
    expect([twice.status, problemOf(twice.body)]).toEqual([409, expect.stringContaining(id)]);
    expect(formOf(twice.body, 'make')).toMatchObject({ address: 'c@example.com', tags: 'a,b' });
  });

  it('is found by each filter', async () => {
    const { id } = await api('POST', '/v1/contacts', {
      ...{ email: 'filter@example.com', name: 'Zelda', tags: ['seek'], externalId: 'ext-9' },
    });
    const { id: other } = await api('POST', '/v1/contacts', {
      ...{ email: 'other@example.com', name: 'Other', status: 'archived' },
    });
    const shows = async (query: string) => {
      const { status, body } = await browser.get(`/console/contacts?${query}`);
      return [query, status, body.includes(id), body.includes(other)];
    };
    for (const query of [
      ...['q=Zeld', 'email=FILTER@example.com', 'tag=seek', 'externalId=ext-9', 'status=active'],
    ]) {
      expect(await shows(query)).toEqual([query, 200, true, false]);
    }
    expect(await shows('since=2026-01-05')).toEqual(['since=2026-01-05', 200, true, true]);
    const later = await browser.get('/console/contacts?since=2026-03-01');
    expect([later.status, later.body.includes(id)]).toEqual([200, false]);
    expect((await browser.get('/console/contacts?since=x')).status).toBe(422);
  });
});

describe('a group', () => {
  const query = { all: [{ tag: 'vip' }, { status: 'active' as const }] };

  it('by query shows its query, its members and their count, and takes another query', async () => {
    const { id: member } = await api('POST', '/v1/contacts', {
      email: 'vip@example.com',
      tags: ['vip'],
    });
    const { to } = await act('/console/groups', 'make', {
      name: 'VIPs',
      query: JSON.stringify(query),
    });
    const { body } = await browser.get(to);
    expect(body).toContain('1 person fits the conditions now');
    expect(formOf(body, 'change')).toMatchObject({ 'what.0': 'tag', 'value.0': 'vip' });
    expect(body).toContain(member);
    expect(formOf(body, 'add')).toBeNull();
    const kept = await act(to, 'change', {});
    expect(kept.status).toBe(303);
    const path = to.replace('/console/groups', '/v1/contact-groups');
    expect(await api('GET', path)).toMatchObject({ query });
    await act(to, 'change', { query: '{"tag": "other"}' });
    expect(await api('GET', path)).toMatchObject({ query: { tag: 'other' }, memberCount: 0 });
  });

  it.each([
    ['no JSON', '{"tag": ', 400, 'The query is not JSON'],
    ['no query', '{"colour": 1}', 422, 'query'],
  ])('stays typed with %s', async (_name, text, expected, problem) => {
    const typed = { name: 'G', description: 'D', query: text };
    const { status, body } = await act('/console/groups', 'make', typed);
    expect([status, problemOf(body)]).toEqual([expected, expect.stringContaining(problem)]);
    expect(formOf(body, 'make')).toMatchObject(typed);
  });

  it('by hand loses one member by the button in its row', async () => {
    const ids = [];
    for (const name of ['one', 'two']) {
      ids.push((await api('POST', '/v1/contacts', { email: `${name}@group.example` })).id);
    }
    const { to } = await act('/console/groups', 'make', { name: 'Hands' });
    await act(`${to}?find=one`, 'add', { ids: ids.join(', ') });
    const { body } = await browser.get(to);
    const row = formOf(body, 'remove') ?? {};
    await browser.post(to, { ...row });
    const path = to.replace('/console/groups', '/v1/contact-groups');
    expect((await world.api('GET', `${path}/members`)).items).toMatchObject([
      { id: ids.find((id) => id !== row['ids']) },
    ]);
    expect((await act(`${to}?find=one`, 'add', { ids: 'nobody' })).status).toBe(422);
  });

  it('to unsubscribe from stays typed, and tells what became of each question', async () => {
    const typed = { name: 'x'.repeat(200), description: 'D', confirm: '1' };
    const refused = await act('/console/groups', 'makeUnsubscribing', typed);
    expect([refused.status, problemOf(refused.body)]).toEqual([
      422,
      expect.stringContaining('name'),
    ]);
    expect(formOf(refused.body, 'makeUnsubscribing')).toMatchObject(typed);
    const { to } = await act('/console/groups', 'makeUnsubscribing', { ...typed, name: 'News' });
    const { id } = await api('POST', '/v1/contacts', { email: 'ask@example.com' });
    expect((await act(`${to}?find=ask`, 'ask', { ids: id })).status).toBe(303);
    expect((await browser.get(to)).body).toContain('A mail asks to confirm.');
    const pending = await browser.get(`${to}?status=pending`);
    const confirmed = await browser.get(`${to}?status=confirmed`);
    expect([pending.body.includes(id), confirmed.body.includes(id)]).toEqual([true, false]);
    const kept = await act(to, 'change', { description: '' });
    expect([kept.status, await api('GET', to.replace(/.*\//, '/v1/unsubscribe-groups/'))]).toEqual([
      303,
      expect.objectContaining({ name: 'News', description: null, confirm: true, public: false }),
    ]);
  });
});

describe('a block', () => {
  it('has each reason, stays typed if it exists, and tells whether it blocks all mail', async () => {
    const reasons = ['bounce', 'complaint', 'unsubscribe', 'manual'];
    for (const reason of reasons) {
      const address = `${reason}@block.example`;
      expect((await act('/console/blocks', 'add', { address, reason })).status).toBe(303);
    }
    for (const reason of reasons) {
      for (const query of [`reason=${reason}`, `address=${reason}@block.example`]) {
        const { body } = await browser.get(`/console/blocks?${query}`);
        const found = [...body.matchAll(/<td[^>]*>(\w+)@<wbr\/?>block/g)].map(([, one]) => one);
        expect([query, found, body.includes('>All mail</td>')]).toEqual([query, [reason], true]);
      }
    }
    const again = { address: 'manual@block.example', reason: 'complaint' };
    const { status, body } = await act('/console/blocks', 'add', again);
    expect([status, problemOf(body)]).toEqual([409, expect.any(String)]);
    expect(formOf(body, 'add')).toMatchObject(again);
    await act('/console/blocks', 'add', { address: 'plain@block.example', reason: '' });
    expect((await world.api('GET', '/v1/email/blocks')).items?.[0]).toMatchObject({
      reason: 'manual',
    });
  });
});

describe('a conversation', () => {
  it('is made with its fields, is found by each filter, and keeps the notes of its end', async () => {
    const { to } = await act('/console/conversations', 'make', {
      ...{ title: 'Late', description: 'One\nTwo', newTags: 'billing, b', newExternalId: 'case-1' },
    });
    const path = to.replace('/console', '/v1');
    const { id } = await api('GET', path);
    expect(await api('GET', path)).toMatchObject({
      ...{ title: 'Late', description: 'One\nTwo', tags: ['billing', 'b'], urgency: 'normal' },
    });
    const { id: other } = await api('POST', '/v1/conversations', { title: 'Other' });
    await act(`/console/conversations/${other}`, 'archive', {});
    // The next page has the toast, and with it the path of the archived one.
    await browser.get('/console/conversations');
    for (const query of ['status=active', 'tag=billing', 'externalId=case-1']) {
      const { body } = await browser.get(`/console/conversations?${query}`);
      expect([query, body.includes(id), body.includes(other)]).toEqual([query, true, false]);
    }
    const { id: contact } = await api('POST', '/v1/contacts', { email: 'nobody@example.com' });
    const none = await browser.get(`/console/conversations?contactId=${contact}`);
    expect([none.status, none.body.includes(id)]).toEqual([200, false]);
    await act(to, 'resolve', { notes: 'A new invoice\nwas sent' });
    expect(await api('GET', path)).toMatchObject({
      status: 'resolved',
      resolutionNotes: 'A new invoice\nwas sent',
    });
  });

  it('stays typed where the API refuses it', async () => {
    const typed = { title: 'T', description: 'D', newExternalId: 'case-1', urgency: 'high' };
    const { status, body } = await act('/console/conversations', 'make', typed);
    expect([status, problemOf(body)]).toEqual([409, expect.stringContaining('case-1')]);
    expect(formOf(body, 'make')).toMatchObject(typed);
  });

  it('shows the other pages of its messages', async () => {
    const { id } = await api('POST', '/v1/conversations', { title: 'Long' });
    for (let at = 0; at < 21; at++) {
      await api('POST', '/v1/messages', {
        ...{ channel: 'email', conversationId: id, to: [{ email: 'inbox@sandbox.test' }] },
        email: { subject: `Mail ${at}.`, text: 'x' },
      });
    }
    const url = `/console/conversations/${id}`;
    const [first, second] = [await browser.get(url), await browser.get(`${url}?page=2`)];
    expect([first.body.includes('Mail 0.'), second.body.includes('Mail 0.')]).toEqual([
      false,
      true,
    ]);
  });
});
