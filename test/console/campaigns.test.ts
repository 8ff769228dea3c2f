// Campaigns in the console: what a person confirms is what runs, and a run shows its progress and
// its recipients.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countRun } from '../../src/run-ledger/counters.ts';
import type { RunRow } from '../../src/run-ledger/queries.ts';
import type { RunStatus } from '../../src/run-ledger/schema.ts';
import { storedRun } from '../campaigns/campaigns/fixtures.ts';
import {
  makeContacts,
  makeRun as startRun,
  makeCampaign as storedCampaign,
  whileWalking,
} from '../campaigns/walk/fixtures.ts';
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

const runsOf = async (id: string) => (await world.api('GET', `/v1/campaigns/${id}/runs`)).items;

/** Returns the fields of the form with an action on a page. */
async function formOn(url: string, action: string): Promise<Record<string, string>> {
  const found = formOf((await browser.get(url)).body, action);
  expect([url, action, found !== null]).toEqual([url, action, true]);
  return found ?? {};
}

async function act(url: string, action: string, fields: Record<string, string> = {}) {
  const answer = await browser.post(url, { ...(await formOn(url, action)), ...fields });
  return { ...answer, to: String(answer.headers['location'] ?? '') };
}

let made = 0;

/** Makes a campaign to a tag of its own, and contacts with it. */
async function makeCampaign(more: object = {}, contacts = 1) {
  const tag = `tag-${++made}`;
  for (let at = 0; at < contacts; at++) await addContact(tag);
  const { id } = await api('POST', '/v1/campaigns', {
    name: `Campaign ${made}`,
    email: { subject: 'Hi', html: '<p>Hi</p>' },
    audience: { includeTags: [tag] },
    transactional: true,
    ...more,
  });
  return { id, tag, url: `/console/campaigns/${id}` };
}

let added = 0;
const addContact = (tag: string) =>
  api('POST', '/v1/contacts', { email: `c${++added}@example.com`, tags: [tag] });

const makeRun = (campaignId: string, status: RunStatus, more: Partial<RunRow> = {}) =>
  storedRun(world.test.app, world.test.caller, status, { campaign_id: campaignId, ...more });

describe('a campaign', () => {
  it('keeps all that its form has when it is saved as it is', async () => {
    const { id, url } = await makeCampaign({
      email: { subject: 'Hi', html: '\n<p>One</p>\n', text: ' Two\n\nlines\n' },
      from: { email: 'hello@sandbox.test', name: 'Sandbox' },
      metadata: { a: 'b' },
    });
    const before = await api('GET', `/v1/campaigns/${id}`);
    expect((await act(url, 'change')).status).toBe(303);
    const after = await api('GET', `/v1/campaigns/${id}`);
    expect(after).toEqual({ ...before, updatedAt: expect.anything() });
  });

  it.each([
    ['attachments', { attachments: [{ filename: 'a.txt', content: 'aGk=' }] }],
    ['tracking', { tracking: { opens: false } }],
  ])('keeps %s, which the form does not show, when the subject is changed', async (_name, more) => {
    const { id, url } = await makeCampaign({
      email: { subject: 'Hi', html: '<p>Hi</p>', ...more },
    });
    const before = await api('GET', `/v1/campaigns/${id}`);
    expect((await act(url, 'change', { subject: 'Hello' })).status).toBe(303);
    const after = await api('GET', `/v1/campaigns/${id}`);
    expect(after['email']).toEqual({ ...(before['email'] as object), subject: 'Hello' });
  });

  it('offers no run while a run is refused', async () => {
    const { url } = await makeCampaign({ transactional: false });
    const { body } = await browser.get(url);
    expect([body.includes('A run is refused'), formOf(body, 'run')]).toEqual([true, null]);
  });

  it('counts the people of an audience that is not saved, and keeps what was typed', async () => {
    const { url, tag } = await makeCampaign({}, 2);
    const group = await api('POST', '/v1/contact-groups', { name: 'Friends' });
    const { id: own } = await addContact('other');
    await api('POST', `/v1/contact-groups/${group.id}/members`, { contactIds: [own] });
    const typed = { [`group.${group.id}`]: '1', subject: 'Typed', includeTags: tag };
    for (const [at, action, people] of [
      ['/console/campaigns/new', 'make', '3 people'],
      [url, 'change', '3 people'],
    ] as const) {
      const { body, status } = await act(at, action, { ...typed, _action: 'count' });
      expect([status, /<p class="big">([^<]*)</.exec(body)?.[1]]).toEqual([200, people]);
      expect(formOf(body, action)).toMatchObject({ subject: 'Typed', [`group.${group.id}`]: '1' });
      const only = await act(at, action, { ...typed, _action: 'count', only: '1' });
      expect(only.body).toContain(people);
      expect(formOf(only.body, action)).toBeNull();
    }
    expect((await browser.get(url)).body).toContain('2 people');
  });

  it('offers the tags of most contacts, with their numbers', async () => {
    for (let at = 0; at < 3; at += 1) await addContact('zebra');
    const { body } = await browser.get('/console/campaigns/new');
    expect(body.replaceAll(/\s+/g, ' ')).toMatch(
      /name="with\.zebra"[^>]*\/> ?zebra <small>3<\/small>/,
    );
  });

  it('stays typed where the API refuses it', async () => {
    const typed = {
      ...{ name: 'N', subject: 'S', html: '<p>{{ broken</p>', text: 'T', includeTags: 'a, b' },
      ...{ excludeTags: 'c', unsubscribeGroupId: 'everybody', fromName: 'F' },
    };
    const refused = await act('/console/campaigns/new', 'make', typed);
    expect([refused.status, problemOf(refused.body)]).toEqual([422, expect.any(String)]);
    expect(formOf(refused.body, 'make')).toMatchObject(typed);
    const { id, url } = await makeCampaign();
    const again = await act(url, 'change', typed);
    expect([again.status, formOf(again.body, 'change')]).toEqual([
      422,
      expect.objectContaining(typed),
    ]);
    expect(await api('GET', `/v1/campaigns/${id}`)).toMatchObject({ email: { subject: 'Hi' } });
  });

  it('shows the advice of the API', async () => {
    const { url } = await makeCampaign({ transactional: false });
    expect((await browser.get(url)).body).toContain('aria-label="Advice"');
  });

  it('shows all that leaves where a person tests it and where a person starts a run', async () => {
    const from = 'pictured@sandbox.test';
    await api('POST', '/v1/email/senders', {
      ...{ email: from, name: 'The press office', replyToEmails: ['answers@example.com'] },
    });
    const { id, url } = await makeCampaign({
      from: { email: from },
      email: {
        ...{ subject: 'To {{ contact.name }}', text: 'A harmless text' },
        html: '<p>Other words</p><img src="https://spy.example/x">',
        attachments: [
          { filename: 'offer.pdf', content: 'JVBERi0=', contentType: 'application/pdf' },
        ],
      },
    });
    const contact = await api('POST', '/v1/contacts', {
      email: 'grace@example.com',
      name: 'Grace',
    });
    const parts = [
      ...['The press office', from, 'answers@example.com', 'A harmless text', 'offer.pdf'],
      ...['&lt;p', 'Other words', 'loads a picture from spy.example', '5 bytes'],
      `src="${url}/html"`,
    ];
    const { body } = await browser.get(url);
    for (const part of parts) expect([part, body.includes(part)]).toEqual([part, true]);
    expect((await browser.get(`${url}?contact=${contact.id}`)).body).toContain('To Grace');
    const framed = await browser.get(`/console/campaigns/${id}/html`);
    expect(framed.body).toContain('<p>Other words</p>');
    expect(framed.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
  });

  it('tells why a run of now has no mail', async () => {
    const { url } = await makeCampaign({ from: { email: 'someone@elsewhere.example' } });
    expect((await browser.get(url)).body).toContain('someone@elsewhere.example may not send');
  });

  it('tells what became of each mail of a test', async () => {
    const { url } = await makeCampaign();
    const { key } = await api('POST', '/v1/api-keys', {
      ...{ name: 'test', mode: 'test', permissions: { campaigns: ['read', 'write', 'run'] } },
    });
    const tester = await world.signIn(String(key));
    const form = formOf((await tester.get(url)).body, 'test') ?? {};
    const to = 'delivered@simulator.test, ada@example.com';
    const { status, headers } = await tester.post(url, { ...form, to });
    expect(status).toBe(303);
    const { body } = await tester.get(String(headers['location']).replace(/#.*/, ''));
    expect(body).toContain('A test is on its way to delivered@simulator.test.');
    expect(body).toContain('Not to ada@example.com: A test key');
    const refused = await act(url, 'test', { to: 'no address' });
    expect([refused.status, formOf(refused.body, 'test')?.['to']]).toEqual([422, 'no address']);
    expect(formOf(refused.body, 'change')).toMatchObject({ subject: 'Hi' });
  });
});

describe('a run', () => {
  it('has the figures of its estimate on the button, and starts once', async () => {
    const { id, url } = await makeCampaign({}, 3);
    await api('POST', '/v1/email/blocks', { address: `c${added}@example.com` });
    const { body } = await browser.get(url);
    expect(body).toContain('Send to 2 people');
    expect(body).toContain('<b>1</b> are blocked');
    const form = formOf(body, 'run') ?? {};
    const [first, second] = [await browser.post(url, form), await browser.post(url, form)];
    expect([first.status, second.headers['location']]).toEqual([303, first.headers['location']]);
    expect(await runsOf(id)).toHaveLength(1);
  });

  it.each([
    ['a contact came in', (tag: string) => addContact(tag)],
    [
      'a contact was blocked',
      () => api('POST', '/v1/email/blocks', { address: `c${added}@example.com` }),
    ],
    [
      'its sender has another Reply-To',
      async () => {
        const { items } = await world.api('GET', '/v1/email/senders');
        const sender = items?.find((one) => (one as { isDefault?: boolean }).isDefault);
        await world.http.inject({
          ...{ method: 'PATCH', url: `/v1/email/senders/${sender?.id}` },
          headers: { 'x-api-key': world.test.apiKey },
          payload: { replyToEmails: [`evil${++added}@example.com`] },
        });
      },
    ],
  ])('is not started if %s after the look', async (_name, change) => {
    const { id, tag, url } = await makeCampaign();
    const form = await formOn(url, 'run');
    await change(tag);
    const { status, body } = await browser.post(url, form);
    expect([status, problemOf(body), await runsOf(id)]).toEqual([
      409,
      expect.stringContaining('changed after you looked'),
      [],
    ]);
  });

  it.each([
    ['the campaign', async (url: string) => void (await act(url, 'change', { subject: 'Other' }))],
    ['the time', null],
    ['the digest', null],
  ])('is not started with %s of another look', async (name, change) => {
    const { id, url } = await makeCampaign();
    const form = await formOn(url, 'run');
    await change?.(url);
    const other =
      name === 'the time'
        ? { scheduledFor: '2026-02-01T10:00:00Z' }
        : name === 'the digest'
          ? { digest: '' }
          : {};
    const { status } = await browser.post(url, { ...form, ...other });
    expect([status, await runsOf(id)]).toEqual([409, []]);
  });

  it('is scheduled at the time that was looked at, without contacts of earlier runs', async () => {
    const { id, url } = await makeCampaign();
    const at = `${url}?at=2026-02-01T10:00`;
    const { to } = await act(at, 'run', { onlyNew: '1' });
    expect(await api('GET', to.replace('/console', '/v1'))).toMatchObject({
      scheduledFor: '2026-02-01T10:00:00.000Z',
      onlyNew: true,
    });
    expect((await browser.get(url)).body).toContain('Another run');
    expect(await runsOf(id)).toHaveLength(1);
    const past = await act(`${url}?at=2020-01-01T10:00`, 'run');
    expect([past.status, await runsOf(id)]).toEqual([422, expect.objectContaining({ length: 1 })]);
  });

  it('is scheduled in the time zone of the organization', async () => {
    const { url } = await makeCampaign();
    const form = formOf((await browser.get('/console/organization')).body, 'change') ?? {};
    await browser.post('/console/organization', { ...form, timezone: 'Europe/Berlin' });
    const page = `${url}?at=2026-07-01T10:00`;
    expect((await browser.get(page)).body).toContain('Start (Europe/Berlin)');
    expect((await formOn(page, 'run'))['scheduledFor']).toBe('2026-07-01T08:00:00.000Z');
    await browser.post('/console/organization', form);
  });

  it('shows its pace, and what it waits for until when', async () => {
    const { app } = world.test;
    const now = app.clock.now();
    const { id, url } = await makeCampaign();
    const run = await makeRun(id, 'running', {
      ...{ total_recipients: 100, dispatched_count: 20, started_at: now - 120_000 },
      ...{ wait_reason: 'daily-quota', next_dispatch_at: now + 3_600_000 },
    });
    const { body } = await browser.get(`${url}/runs/${run.id}`);
    expect(body).toContain('10 mails a minute over 2 min, about 8 min left.');
    expect(body).toContain('The daily limit of the plan is used up.');
    expect(body).toContain('<progress max="100" value="20">');
  });

  it.each<[RunStatus, readonly string[]]>([
    ['scheduled', ['cancel']],
    ['running', ['pause', 'cancel']],
    ['paused', ['resume', 'cancel']],
    ['held', ['resume', 'cancel']],
    ['completed', []],
    ['cancelled', []],
  ])('that is %s offers exactly %j', async (status, offered) => {
    const { id, url } = await makeCampaign();
    const run = await makeRun(id, status);
    const { body } = await browser.get(`${url}/runs/${run.id}`);
    const all = ['pause', 'resume', 'cancel', 'retry'];
    expect(all.filter((action) => formOf(body, action))).toEqual(
      all.filter((action) => offered.includes(action)),
    );
    for (const action of all.filter((one) => !offered.includes(one))) {
      const answer = await browser.post(`${url}/runs/${run.id}`, { _action: action });
      expect([action, answer.status]).toEqual([action, 409]);
    }
  });

  it('that is held continues with findings alone', async () => {
    const { id, url } = await makeCampaign();
    const run = await makeRun(id, 'held', { hold_reason: 'run-health', hold_detail: '9% bounced' });
    const at = `${url}/runs/${run.id}`;
    expect((await browser.get(at)).body).toContain('9% bounced');
    expect((await act(at, 'resume', { note: '' })).status).toBe(422);
    expect((await act(at, 'resume', { note: 'Cleaned' })).status).toBe(303);
    expect(await api('GET', at.replace('/console', '/v1'))).toMatchObject({ status: 'running' });
  });

  it('repeats those whose message failed, also where each contact had one', async () => {
    const { id, url } = await makeCampaign();
    const run = await makeRun(id, 'completed', { dispatched_count: 2, total_recipients: 2 });
    await world.test.app.store.write(async (trx) => countRun(trx, run.id, { failed: 2 }));
    const at = `${url}/runs/${run.id}`;
    expect((await browser.get(at)).body).toContain('Run again for the 2 that failed');
    const { to } = await act(at, 'retry');
    expect(await api('GET', to.replace('/console', '/v1'))).toMatchObject({ retryOf: run.id });
  });
});

describe('the recipients of a run', () => {
  it('are found by outcome, reason and status, with their messages', async () => {
    const own = await consoleWorld();
    const { app, operator: caller } = own.test;
    const [reached = '', blocked = ''] = await makeContacts(app, caller, 2);
    await own.api('POST', '/v1/email/blocks', { address: 'u1@example.com' });
    const run = await startRun(app, caller, await storedCampaign(app, caller));
    await whileWalking(app, (loop) => loop.idle());
    const session = await own.operator();
    const url = `/console/campaigns/${run.campaignId}/runs/${run.id}`;
    for (const [query, expected] of [
      ['', [true, true]],
      ['outcome=dispatched', [true, false]],
      ['outcome=skipped', [false, true]],
      ['outcome=failed', [false, false]],
      ['reason=blocked', [false, true]],
      ['status=pending', [true, false]],
      ['status=bounced', [false, false]],
    ] as const) {
      const { body } = await session.get(`${url}?${query}`);
      expect([query, [reached, blocked].map((id) => body.includes(id))]).toEqual([query, expected]);
    }
    const { body } = await session.get(url);
    expect(body).toContain('Every contact was checked.');
    expect(body).toMatch(/\/console\/messages\/msg_\w+">The\smail/);
    await own.close();
  });
});
