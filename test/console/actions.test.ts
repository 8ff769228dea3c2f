// Every action of every page, as the operator posts it: the form of the page has the fields that
// the API takes, and the change is there afterwards.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages } from '../../daemon/console/pages/pages.ts';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { storedRun } from '../campaigns/campaigns/fixtures.ts';
import { type Browser, consoleWorld, formOf, problemOf, type World } from './world.ts';

let world: World;
let browser: Browser;
const done = new Set<string>();

beforeAll(async () => {
  world = await consoleWorld();
  browser = await world.operator();
});
afterAll(() => world.close());

/** A resource as the API answers it. */
type Resource = Readonly<Record<string, unknown>> & { id: string };

const api = (method: 'GET' | 'POST', path: string, body?: object): Promise<Resource> =>
  world.api(method, path, body) as unknown as Promise<Resource>;

const itemsOf = async (path: string) =>
  (await api('GET', path))['items'] as unknown as readonly Resource[];

/** Returns the fields of the form with an action on a page. */
async function formOn(url: string, action: string): Promise<Record<string, string>> {
  const found = formOf((await browser.get(url)).body, action);
  expect([url, action, found !== null]).toEqual([url, action, true]);
  return found ?? {};
}

/**
 * Posts an action of a page by its form: the fields as the page has them, and those that a person
 * fills. Returns the path that it leads to, or the page that it shows.
 */
async function act(url: string, action: string, fields: Record<string, string> = {}) {
  const path = url.replace('/console', '').split('?')[0] ?? '';
  const answer = await browser.post(url, { ...(await formOn(url, action)), ...fields });
  const page = pages.find((one) => {
    const pattern = one.path.replaceAll(/:\w+/g, '[\\w-]+');
    return new RegExp(`^${pattern}$`).test(path) && Object.hasOwn(one.actions ?? {}, action);
  });
  done.add(`${page?.path} ${action}`);
  expect([url, action, answer.status, problemOf(answer.body)]).toEqual([
    url,
    action,
    // A preview changes nothing; all further actions continue by a redirect.
    looks.includes(action) ? 200 : 303,
    undefined,
  ]);
  const to = String(answer.headers['location'] ?? '');
  // The next page shows a new secret.
  const body = to.includes('once=') ? (await browser.get(to)).body : answer.body;
  return { to: to.replace(/\?once=.*/, ''), body };
}

/** Fields of a question that asks for a name. */
const typed = (name: string) => ({ typed: name });

const looks = ['preview', 'count'];
const idIn = (to: string) => to.split('/').at(-1) ?? '';

describe('an action of the console', () => {
  it('blocks, removes and imports addresses', async () => {
    await act('/console/blocks', 'add', { address: 'a@example.com', reason: 'complaint' });
    expect(await itemsOf('/v1/email/blocks')).toMatchObject([
      { address: 'a@example.com', reason: 'complaint' },
    ]);
    const file = 'b@example.com\nc@example.com\nnot an address';
    const before = await act('/console/blocks/import', 'preview', { file, reason: 'manual' });
    expect(before.body).toContain('Nothing was changed yet.');
    expect(await itemsOf('/v1/email/blocks')).toHaveLength(1);
    done.add('/blocks/import import');
    const imported = formOf(before.body, 'import') ?? {};
    const after = await browser.post('/console/blocks/import', { ...imported, _action: 'import' });
    expect([after.status, after.headers['location']]).toEqual([303, '/console/blocks']);
    const [first] = await itemsOf('/v1/email/blocks');
    await act('/console/blocks', 'delete', { id: first?.id ?? '' });
    expect(await itemsOf('/v1/email/blocks')).toHaveLength(2);
  });

  it('makes and changes brands', async () => {
    await act('/console/brands', 'make', { slug: 'one', name: 'One' });
    await act('/console/brands', 'make', { slug: 'two', name: 'Two' });
    await act('/console/brands/one', 'save', {
      name: 'First',
      css: 'h1 { color: #123456 }',
      logoUrl: 'https://cdn.example.com/l.png',
      companyName: 'Acme',
      city: 'Paris',
      label0: 'Our blog',
      url0: 'https://example.com/blog',
    });
    expect(await api('GET', '/v1/brands/one')).toMatchObject({
      name: 'First',
      css: 'h1 { color: #123456 }',
      assets: { logoUrl: 'https://cdn.example.com/l.png', iconUrl: null },
      footer: {
        companyName: 'Acme',
        address: { city: 'Paris', street1: null },
        socialLinks: [{ label: 'Our blog', url: 'https://example.com/blog' }],
      },
    });
    const other = (await api('GET', '/v1/brands/one'))['isDefault'] === true ? 'two' : 'one';
    await act(`/console/brands/${other}`, 'default');
    expect(await api('GET', `/v1/brands/${other}`)).toMatchObject({ isDefault: true });
    await act(`/console/brands/${other === 'one' ? 'two' : 'one'}`, 'delete');
    expect(await itemsOf('/v1/brands')).toHaveLength(1);
  });

  it('makes, changes, imports and deletes contacts, and keeps groups of them', async () => {
    const made = await act('/console/contacts', 'make', {
      address: 'ada@example.com',
      name: 'Ada',
      tags: 'a, b',
    });
    const id = idIn(made.to);
    await act(made.to, 'change', {
      name: 'Ada L',
      tags: 'c',
      externalId: 'x1',
      status: 'archived',
    });
    expect(await api('GET', `/v1/contacts/${id}`)).toMatchObject({
      name: 'Ada L',
      tags: ['c'],
      externalId: 'x1',
      status: 'archived',
    });
    const file = 'email,name\nbob@example.com,Bob\n';
    const seen = await act('/console/contacts/import', 'preview', { file });
    expect(seen.body).toContain('Nothing was changed yet.');
    done.add('/contacts/import import');
    const same = { ...formOf(seen.body, 'import'), _action: 'import' };
    const imported = await browser.post('/console/contacts/import', same);
    expect([imported.status, imported.headers['location']]).toEqual([303, '/console/contacts']);
    expect(await itemsOf('/v1/contacts')).toHaveLength(2);
    const group = await act('/console/groups', 'make', { name: 'Friends', description: '' });
    await act(`${group.to}?find=ada`, 'add', { ids: id });
    expect(await itemsOf(`/v1/contact-groups/${idIn(group.to)}/members`)).toHaveLength(1);
    await act(group.to, 'remove', { ids: id });
    expect(await itemsOf(`/v1/contact-groups/${idIn(group.to)}/members`)).toHaveLength(0);
    await act(group.to, 'change', { name: 'Best friends' });
    expect(await api('GET', `/v1/contact-groups/${idIn(group.to)}`)).toMatchObject({
      name: 'Best friends',
    });
    await act(group.to, 'delete');
    const news = await act('/console/groups', 'makeUnsubscribing', { name: 'News', public: '1' });
    await act(news.to, 'change', { name: 'Newsletter', confirm: '1' });
    expect(await itemsOf('/v1/unsubscribe-groups')).toMatchObject([
      { name: 'Newsletter', public: true, confirm: true },
    ]);
    await act(made.to, 'change', { status: 'active' });
    await act(made.to, 'leave');
    await act(made.to, 'lift');
    await act(made.to, 'block');
    await act(made.to, 'lift');
    expect(await itemsOf('/v1/email/blocks?address=ada@example.com')).toEqual([]);
    await act(`${news.to}?find=ada`, 'ask', { ids: id });
    expect((await browser.get(news.to)).body).toContain('A mail asks to confirm.');
    await act(news.to, 'remove', { ids: id });
    expect(await itemsOf(`/v1/unsubscribe-groups/${idIn(news.to)}/members`)).toEqual([]);
    await act(news.to, 'delete');
    expect((await browser.post(made.to, { _action: 'delete', typed: 'Ada' })).status).toBe(422);
    await act(made.to, 'delete', { typed: 'ada@example.com' });
    expect(await itemsOf('/v1/contacts')).toHaveLength(1);
  });

  it('makes, changes, runs and stops campaigns', async () => {
    await api('POST', '/v1/contacts', { email: 'c@example.com', tags: ['run'] });
    const fields = {
      name: 'Sale',
      subject: 'Hi',
      html: '<p>Hi</p>',
      includeTags: 'run',
      unsubscribeGroupId: 'everybody',
    };
    await act('/console/campaigns/new', 'count', fields);
    const { to } = await act('/console/campaigns/new', 'make', fields);
    await act(to, 'count', fields);
    await act(to, 'change', { ...fields, name: 'Sale 2' });
    expect(await api('GET', `/v1/campaigns/${idIn(to)}`)).toMatchObject({ name: 'Sale 2' });
    await act(to, 'test', { to: 'inbox@sandbox.test' });
    const copy = await act(to, 'duplicate');
    await act(copy.to, 'delete');
    const stale = await formOn(to, 'run');
    await act(to, 'change', { ...fields, name: 'Sale 3' });
    const refused = await browser.post(to, { ...stale, _action: 'run' });
    expect([refused.status, await itemsOf(`/v1/campaigns/${idIn(to)}/runs`)]).toEqual([409, []]);
    const run = await act(to, 'run');
    const later = await act(`${to}?at=2026-02-01T10:00`, 'run');
    expect(await api('GET', later.to.replace('/console', '/v1'))).toMatchObject({
      status: 'scheduled',
      scheduledFor: '2026-02-01T10:00:00.000Z',
    });
    await act(run.to, 'cancel');
    expect(await api('GET', run.to.replace('/console', '/v1'))).toMatchObject({
      status: 'cancelled',
    });
    const { app, caller } = world.test;
    const { id: running } = await storedRun(app, caller, 'running', { campaign_id: idIn(to) });
    await act(`${to}/runs/${running}`, 'pause');
    const at = `/v1/campaigns/${idIn(to)}/runs/${running}`;
    expect(await api('GET', at)).toMatchObject({ status: 'paused' });
    await act(`${to}/runs/${running}`, 'resume');
    expect(await api('GET', at)).toMatchObject({ status: 'running' });
    const ended = { campaign_id: idIn(to), failed_count: 1 };
    const { id: failed } = await storedRun(app, caller, 'completed', ended);
    const again = await act(`${to}/runs/${failed}`, 'retry');
    expect(await api('GET', again.to.replace('/console', '/v1'))).toMatchObject({
      retryOf: failed,
    });
  });

  it('makes, resolves, reopens and archives conversations', async () => {
    const { to } = await act('/console/conversations', 'make', { title: 'Talk', urgency: 'high' });
    const id = idIn(to);
    for (const [action, status] of [
      ['resolve', 'resolved'],
      ['reopen', 'active'],
      ['archive', 'archived'],
    ] as const) {
      await act(`/console/conversations/${id}`, action);
      expect(await api('GET', `/v1/conversations/${id}`)).toMatchObject({ status });
    }
  });

  it('adds domains, warms them and sets up their tracking hosts', async () => {
    const { to } = await act('/console/domains', 'add', { domain: 'acme.example' });
    const path = `/v1/email/domains/${idIn(to)}`;
    await act(to, 'verify');
    await act(to, 'rotate');
    await act(to, 'makeLink');
    await act(to, 'endLink');
    await verifyDomain(world.test.app, world.test.operator, idIn(to), { force: true });
    await act(to, 'startWarming', {
      identity: 'new',
      direct: 'count',
      initialDailyRecipients: '100',
      dailyGrowthPercent: '20',
      targetDailyRecipients: '1000',
    });
    await act(to, 'pauseWarming', { note: 'wait' });
    await act(to, 'resumeWarming');
    await act(to, 'stopWarming');
    expect(await api('GET', `${path}/warming`)).toMatchObject({ plan: { status: 'cancelled' } });
    await act(to, 'enableTracking', { label: 'links' });
    await act(to, 'recheckTracking');
    await act(to, 'disableTracking');
    expect(await api('GET', `${path}/custom-tracking`)).toMatchObject({ enabled: false });
    await act(to, 'delete', typed('acme.example'));
  });

  it('makes, changes and deletes senders', async () => {
    const { id } = await api('POST', '/v1/email/domains', { domain: 'proof.example' });
    await verifyDomain(world.test.app, world.test.operator, id, { force: true });
    await act('/console/senders', 'make', { email: 'post@proof.example', name: '' });
    const { to } = await act('/console/senders', 'make', { email: 'x@other.example', name: 'X' });
    await act(to, 'change', { name: 'Y', replyTo: 'r@other.example' });
    await act(to, 'resend');
    await act(to, 'default');
    await act(to, 'active');
    expect(await api('GET', `/v1/email/senders/${idIn(to)}`)).toMatchObject({
      name: 'Y',
      replyToEmails: ['r@other.example'],
      isDefault: true,
      isActive: false,
    });
    await act(to, 'active');
    await act(to, 'delete');
  });

  it('makes, limits, rotates and revokes keys', async () => {
    const made = await act('/console/keys', 'make', {
      name: 'Narrow',
      role: 'sender',
      'messages:read': '1',
      ipRanges: '203.0.113.0/24',
    });
    const id = idIn(made.to);
    expect(await api('GET', `/v1/api-keys/${id}`)).toMatchObject({
      permissions: { messages: ['read'] },
      constraints: { ipRanges: ['203.0.113.0/24'] },
    });
    await act(`/console/keys/${id}`, 'change', {
      name: 'Other',
      description: 'd',
      senders: 'a@b.example',
    });
    expect(await api('GET', `/v1/api-keys/${id}`)).toMatchObject({
      name: 'Other',
      constraints: { senders: ['a@b.example'] },
    });
    const rotated = await act(`/console/keys/${id}`, 'rotate');
    expect(rotated.body).toContain('svc_live_');
    const next = idIn(rotated.to);
    await act(`/console/keys/${next}`, 'revoke');
    expect(await api('GET', `/v1/api-keys/${next}`)).toMatchObject({ isActive: false });
  });

  it('keeps a key within its namespace when its name changes', async () => {
    const { id: namespaceId } = await api('POST', '/v1/mailbox-namespaces', { name: 'Agents' });
    const constraints = { namespaceId };
    const { id } = await api('POST', '/v1/api-keys', { role: 'sender', constraints });
    await act(`/console/keys/${id}`, 'change', { name: 'Agent' });
    expect(await api('GET', `/v1/api-keys/${id}`)).toMatchObject({ name: 'Agent', constraints });
  });

  it('writes, keeps, sends and forwards mail, and keeps threads in order', async () => {
    const { to: box } = await act('/console/mailboxes', 'make', {
      slug: 'desk',
      displayName: 'Desk',
    });
    const mailbox = `/v1/mailboxes/${idIn(box)}`;
    const mail = { to: 'delivered@simulator.test', subject: 'Hello', text: 'One' };
    const kept = await act(`${box}/new`, 'keep', mail);
    await act(kept.to, 'save', { ...mail, text: 'Two' });
    expect(await api('GET', `${mailbox}/drafts/${idIn(kept.to)}`)).toMatchObject({ text: 'Two' });
    await act(kept.to, 'send', { ...mail, text: 'Three' });
    const gone = await act(`${box}/new`, 'keep', mail);
    await act(gone.to, 'delete');
    const { to: thread } = await act(`${box}/new`, 'send', mail);
    const path = thread.replace('/console', '/v1');
    await act(thread, 'reply', { text: 'More' });
    await act(thread, 'undo');
    const threadOf = async () => await api('GET', path);
    expect(await threadOf()).toMatchObject({ hasDraft: true });
    await act(thread, 'replyDone', { text: 'The last word' });
    expect(await threadOf()).toMatchObject({ folder: 'archive' });
    await act(thread, 'change', { folder: 'inbox', read: 'false' });
    await act(thread, 'opened');
    expect(await threadOf()).toMatchObject({ folder: 'inbox', read: true });
    await act(thread, 'keep', { text: 'Later' });
    await act(thread, 'forward', { to: 'delivered@simulator.test', comment: 'See below' });
    await act(thread, 'note', { body: 'A note' });
    const [note] = await itemsOf(`${path}/notes`);
    expect(note).toMatchObject({ body: 'A note' });
    await act(thread, 'forget', { id: note?.id ?? '' });
    await act(thread, 'label', { label: 'urgent' });
    expect(await api('GET', path)).toMatchObject({ labels: ['urgent'] });
    await act(thread, 'unlabel', { label: 'urgent' });
    await act(thread, 'change', { starred: 'true' });
    const until = { snooze: 'Tomorrow, 8:00' };
    const snoozed = await browser.post(thread, { _action: 'change', ...until });
    expect(snoozed.status).toBe(303);
    const standing = await api('GET', path);
    expect(standing).toMatchObject({ labels: [], starred: true });
    expect(String(standing['snoozedUntil'])).toMatch(/T0[678]:00:00/);
    await browser.post(thread, { _action: 'change', folder: 'trash' });
    await act(thread, 'delete');
  });

  it('decides on proposals, as they are or changed', async () => {
    const mailbox = await world.firstMailbox();
    const agent = (await world.api('POST', '/v1/api-keys', {
      name: 'agent',
      permissions: { mailboxes: ['read', 'send'] },
      constraints: { mailboxIds: [mailbox] },
      sendMode: 'approval',
    })) as { key?: string };
    const propose = async (subject: string) => {
      const mail = { to: ['delivered@simulator.test'], subject, text: 'x' };
      const path = `/v1/mailboxes/${mailbox}/messages`;
      const { actionId } = (await world.api('POST', path, mail, agent.key)) as unknown as {
        actionId: string;
      };
      return [
        `/console/review/${mailbox}/${actionId}`,
        `/v1/mailboxes/${mailbox}/actions/${actionId}`,
      ];
    };
    const [approved = '', approvedApi = ''] = await propose('As it is');
    await act(approved, 'approve', { note: 'fine' });
    expect(await api('GET', approvedApi)).toMatchObject({ state: 'executed', note: 'fine' });
    const [edited = '', editedApi = ''] = await propose('To be changed');
    await act(edited, 'edit', { to: 'delivered@simulator.test', subject: 'Changed', text: 'y' });
    const after = await api('GET', editedApi);
    expect([after['state'], typeof after['editedDigest']]).toEqual(['executed', 'string']);
    const [rejected = '', rejectedApi = ''] = await propose('No');
    await act(rejected, 'reject', { note: 'ask first' });
    expect(await api('GET', rejectedApi)).toMatchObject({ state: 'rejected', note: 'ask first' });
  });

  it('sends, cancels, repeats and deletes messages', async () => {
    const from = 'post@proof.example';
    const mail = { to: 'delivered@simulator.test', subject: 'Hi', text: 'x', from, html: '' };
    const { to } = await act('/console/messages/new', 'send', mail);
    await act(to, 'cancel');
    expect(await api('GET', to.replace('/console', '/v1'))).toMatchObject({ status: 'failed' });
    const again = await act(to, 'resend');
    await act(again.to, 'block');
    await act(again.to, 'lift');
    await act(again.to, 'delete');
    expect((await browser.get(again.to)).status).toBe(404);
  });

  it('works at the queue', async () => {
    const { id } = await api('POST', '/v1/messages', {
      channel: 'email',
      from: { email: 'post@proof.example' },
      to: [{ email: 'a@slow.example' }],
      email: { subject: 'x', text: 'x' },
    });
    const [delivery] = (await api('GET', `/v1/messages/${id}/deliveries`)) as unknown as Resource[];
    await act('/console/queue', 'hold', { domain: 'held.example', note: 'wait' });
    const { body } = await browser.get('/console/queue');
    const hold = /name="id" value="(hold_\w+)"/.exec(body)?.[1] ?? '';
    await act('/console/queue', 'release', { id: hold });
    await act('/console/queue', 'retry', { id: delivery?.id ?? '' });
    done.add('/messages/:id retry');
    const retried = { _action: 'retry', delivery: delivery?.id ?? '' };
    expect((await browser.post(`/console/messages/${id}`, retried)).status).toBe(303);
    await act('/console/queue', 'drop', { id: delivery?.id ?? '' });
    expect(await api('GET', `/v1/messages/${id}`)).toMatchObject({ status: 'failed' });
  });

  it('changes the organization', async () => {
    await act('/console/organization', 'signIn');
    await act('/console/organization', 'signIn');
    await act('/console/organization', 'change', { name: 'Acme', timezone: 'Asia/Tokyo' });
    expect(await api('GET', '/v1/organizations/current')).toMatchObject({
      name: 'Acme',
      timezone: 'Asia/Tokyo',
    });
  });

  it('edits, saves, restores and publishes templates', async () => {
    const { to } = await act('/console/templates', 'make', {
      newSlug: 'hello',
      subject: 'Hi {{ name }}',
      html: '<p>One</p>',
    });
    const path = `/v1/templates/${idIn(to)}`;
    const files = async () =>
      (await api('GET', `${path}/workspace`))['files'] as Record<string, string>;
    await act(to, 'publish');
    await act(`${to}/edit?path=body.html`, 'save', {
      content: '\r\n<p>Two</p>\r\n',
      message: 'Two',
    });
    expect((await files())['body.html']).toBe('\n<p>Two</p>\n');
    await act(`${to}/edit?path=body.txt`, 'stage', { content: 'Text' });
    await act(`${to}/files`, 'save', { message: 'Text too' });
    await act(`${to}/edit?path=body.txt`, 'remove');
    expect(Object.keys(await files())).not.toContain('body.txt');
    await act(`${to}/files`, 'discard');
    expect(Object.keys(await files())).toContain('body.txt');
    const history = await itemsOf(`${path}/workspace/history`);
    expect(history.map(({ message }) => message).slice(0, 2)).toEqual(['Text too', 'Two']);
    const oldest = String(history.at(-1)?.['commit']);
    await act(`${to}/history`, 'restore', { commit: oldest });
    expect((await files())['body.html']).toContain('One');
    const copy = await act(to, 'duplicate');
    await act(copy.to, 'archive');
    await act(copy.to, 'delete', typed('hello (copy)'));
    expect(await itemsOf('/v1/templates')).toHaveLength(1);
  });

  it('shows at most 4,000 lines of a difference', async () => {
    const { id } = await api('POST', '/v1/templates', { slug: 'long', subject: 'x', html: 'a' });
    const url = `/console/templates/${id}/edit?path=body.html`;
    await act(url, 'stage', { content: 'line\n'.repeat(9_000) });
    const { body } = await browser.get(`/console/templates/${id}/changes`);
    expect(body.split('<span class="added"').length).toBeLessThanOrEqual(4_001);
    expect(body).toContain('more lines are not shown');
  });

  it('keeps what was typed into the editor when another change came first', async () => {
    const { id } = await api('POST', '/v1/templates', {
      slug: 'two',
      subject: 'x',
      html: '<p>a</p>',
    });
    const url = `/console/templates/${id}/edit?path=body.html`;
    const early = await formOn(url, 'save');
    await act(url, 'save', { content: 'first' });
    const late = { ...early, content: 'my long work', _action: 'save' };
    const refused = await browser.post(url, late);
    expect([refused.status, refused.body.includes('my long work</textarea>')]).toEqual([409, true]);
  });

  it('makes, changes, tests and replays webhooks', async () => {
    const made = await act('/console/webhooks', 'make', {
      url: 'https://hooks.example.com/x',
      events: '*',
      name: 'n',
    });
    const id = idIn(made.to);
    const at = `/console/webhooks/${id}`;
    await act(at, 'change', {
      url: 'https://hooks.example.com/y',
      events: 'message.* domain.failed',
    });
    expect(await api('GET', `/v1/webhooks/${id}`)).toMatchObject({
      url: 'https://hooks.example.com/y',
      events: ['message.*', 'domain.failed'],
    });
    await act(at, 'test');
    const [posted] = await itemsOf(`/v1/webhooks/${id}/deliveries`);
    await act(`${at}/${posted?.id}`, 'redeliver');
    await act(at, 'replay', { status: '' });
    expect((await browser.get(at)).body).toContain('wait to be posted again');
    expect((await act(at, 'secret')).body).toContain('whsec_');
    await act(at, 'status');
    expect(await api('GET', `/v1/webhooks/${id}`)).toMatchObject({ status: 'disabled' });
    await act(at, 'delete');
  });

  it('installs, upgrades and uninstalls extensions by exactly the grants shown', async () => {
    const { id } = await api('POST', '/v1/extensions', { name: 'triage', runtime: 'hosted' });
    const version = (number: string, permissions: string[]) =>
      api('POST', `/v1/extensions/${id}/versions`, {
        ...{ version: number, permissions, events: [], sendModes: ['approval', 'send'] },
      });
    await version('1.0.0', ['mailboxes:read']);
    const made = await act(`/console/extensions/install/${id}`, 'install', {
      sendMode: 'approval',
    });
    const own = idIn(made.to);
    const at = `/console/extensions/${own}`;
    await version('1.1.0', ['mailboxes:read', 'contacts:read']);
    const shown = await act(at, 'preview');
    expect(shown.body).toContain('It may read contacts and their groups.');
    const inputs = shown.body.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g);
    const fields = Object.fromEntries(
      [...inputs].map(([, name = '', value = '']) => [name, value]),
    );
    done.add('/extensions/:id upgrade');
    expect((await browser.post(at, { ...fields, _action: 'upgrade' })).status).toBe(303);
    const installed = `/v1/extension-installations/${own}`;
    expect(await api('GET', installed)).toMatchObject({
      permissions: ['contacts:read', 'mailboxes:read'],
    });
    await act(at, 'change', { sendMode: 'send' });
    await act(at, 'rotate');
    await act(at, 'disable');
    await act(at, 'enable');
    expect(await api('GET', installed)).toMatchObject({ status: 'active', sendMode: 'send' });
    await act(at, 'uninstall');
    expect(await itemsOf('/v1/extension-installations')).toEqual([]);
  });

  it('was tried on every page', () => {
    // Pages of the person have tests of their own.
    const shared = pages.filter(
      ({ path }) =>
        !['/asks-again', '/account', '/become-member', '/people', '/people/:id'].includes(path),
    );
    const all = shared.flatMap(({ path, actions = {} }) =>
      Object.keys(actions).map((action) => `${path} ${action}`),
    );
    expect(all.filter((one) => !done.has(one))).toEqual([]);
  });
});
