// The toast after an action takes the action back wherever a route does so.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { storedRun } from '../campaigns/campaigns/fixtures.ts';
import { arrive } from '../inbox/threads/mails.ts';
import { every, run } from './every-action.ts';
import { type Browser, consoleWorld, formOf, type World } from './world.ts';

const thread = '/mailboxes/:id/threads/:threadId';

/** The action that takes each action back. No route takes back any other action. */
const undoneBy: Readonly<Record<string, string>> = {
  [`${thread} change`]: 'change',
  [`${thread} label`]: 'unlabel',
  [`${thread} unlabel`]: 'label',
  [`${thread} reply`]: 'undo',
  [`${thread} replyDone`]: 'undo',
  [`${thread} forward`]: 'undo',
  '/mailboxes/:id/new send': 'undo',
  '/mailboxes/:id/drafts/:draftId send': 'undo',
  '/review/:mailboxId/:id approve': 'undo',
  '/review/:mailboxId/:id edit': 'undo',
  '/messages/:id block': 'lift',
  '/messages/:id lift': 'block',
  '/blocks add': 'delete',
  '/blocks delete': 'add',
  '/contacts/:id block': 'lift',
  '/contacts/:id lift': 'block',
  '/contacts/:id leave': 'lift',
  '/groups/:id add': 'remove',
  '/groups/:id remove': 'add',
  '/conversations/:id resolve': 'reopen',
  '/conversations/:id archive': 'reopen',
  '/conversations/:id reopen': 'archive',
  '/campaigns/:id/runs/:runId pause': 'resume',
  '/campaigns/:id/runs/:runId resume': 'pause',
  '/domains/:id pauseWarming': 'resumeWarming',
  '/domains/:id resumeWarming': 'pauseWarming',
  '/senders/:id active': 'active',
  '/queue hold': 'release',
};
/** Ends depend on the answer of a route: no undo without a service. */
const dependent = ['/messages/:id lift', '/blocks delete', '/contacts/:id lift'];
const isDependent = (name: string) => dependent.includes(name) || name.endsWith('/:draftId send');

it('every action has an undo, or none of the table', async () => {
  const found: Record<string, string> = {};
  for (const { name, action } of every) {
    const { end } = await run(action);
    const undo = typeof end === 'object' && end !== null && 'to' in end ? end.undo : undefined;
    if (undo && !isDependent(name)) found[name] = undo.action;
  }
  const certain = Object.entries(undoneBy).filter(([name]) => !isDependent(name));
  expect(found).toEqual(Object.fromEntries(certain));
});

describe('the button of a toast', () => {
  let world: World;
  let browser: Browser;
  beforeAll(async () => {
    world = await consoleWorld();
    browser = await world.operator();
  });
  afterAll(() => world.close());

  const get = async (path: string) =>
    (await world.api('GET', path)) as unknown as Readonly<Record<string, unknown>>;

  const toastOn = async (path: string, by = browser) =>
    /<div class="toast".*?<\/form><\/div>/s.exec((await by.get(path)).body)?.[0];

  /** Acts, presses the button of the toast, and returns what stands before, between and after. */
  async function undone(
    path: string,
    action: string,
    fields: Record<string, string>,
    stored: () => Promise<unknown>,
  ): Promise<[unknown, unknown, unknown]> {
    const before = await stored();
    const done = await browser.post(path, { _action: action, _sure: '1', ...fields });
    expect([action, done.status]).toEqual([action, 303]);
    const between = await stored();
    const toast = (await toastOn('/console/keys')) ?? '';
    const [, to = ''] = /action="([^"]+)"/.exec(toast) ?? [];
    expect([action, to]).toEqual([action, expect.stringMatching(/^.console/)]);
    const [, back = ''] = /name="_action" value="([^"]+)"/.exec(toast) ?? [];
    expect([action, (await browser.post(to, formOf(toast, back) ?? {})).status]).toEqual([
      action,
      303,
    ]);
    return [before, between, await stored()];
  }

  it('takes labels, places and snoozes of a thread back', async () => {
    await arrive(world.test.app, { from: 'ada@example.com', subject: 'Hi', text: 'x' });
    const mailbox = await world.firstMailbox();
    const { items = [] } = await world.api('GET', `/v1/mailboxes/${mailbox}/threads`);
    const path = `/mailboxes/${mailbox}/threads/${items[0]?.id}`;
    const stored = async () => {
      const { labels, folder, snoozedUntil } = await get(`/v1${path}`);
      return { labels, folder, isSnoozed: snoozedUntil !== null };
    };
    const steps: readonly [string, Record<string, string>][] = [
      ['label', { label: 'urgent' }],
      ['change', { folder: 'archive', was: 'inbox' }],
      ['change', { snooze: 'Tomorrow, 8:00' }],
    ];
    for (const [action, fields] of steps) {
      const [before, between, after] = await undone(`/console${path}`, action, fields, stored);
      expect(between).not.toEqual(before);
      expect(after).toEqual(before);
    }
    await browser.post(`/console${path}`, { _action: 'label', label: 'sales' });
    const [before, , after] = await undone(
      `/console${path}`,
      'unlabel',
      { label: 'sales' },
      stored,
    );
    expect([before, after]).toEqual([expect.objectContaining({ labels: ['sales'] }), before]);
  });

  it('takes blocks of an address and their end back, with their reason', async () => {
    const { id } = await world.api('POST', '/v1/contacts', { email: 'ada@example.com' });
    const mail = {
      channel: 'email',
      to: [{ email: 'ada@example.com' }],
      email: { subject: 'x', text: 'x' },
    };
    const { id: message } = await world.api('POST', '/v1/messages', mail);
    const blocks = async () => {
      const { items = [] } = await world.api('GET', '/v1/email/blocks?address=ada@example.com');
      return items as unknown as { id: string; reason: string }[];
    };
    const reasons = async () => (await blocks()).map(({ reason }) => reason);
    const address = 'ada@example.com';
    const places = [`/console/contacts/${id}`, `/console/messages/${message}`, '/console/blocks'];
    for (const path of places) {
      const [block, lift] = path.endsWith('/blocks') ? ['add', 'delete'] : ['block', 'lift'];
      expect(await undone(path, block ?? '', { address }, reasons)).toEqual([[], ['manual'], []]);
      await world.api('POST', '/v1/email/blocks', { address, reason: 'complaint' });
      const [own] = await blocks();
      const kept = await undone(path, lift ?? '', { id: own?.id ?? '' }, reasons);
      expect(kept).toEqual([['complaint'], [], ['complaint']]);
      await browser.post('/console/blocks', {
        _action: 'delete',
        _sure: '1',
        id: (await blocks())[0]?.id ?? '',
      });
    }
  });

  it('takes a list that a person left, and its return, back', async () => {
    const { id } = await world.api('POST', '/v1/contacts', { email: 'bob@example.com' });
    const { id: list } = await world.api('POST', '/v1/unsubscribe-groups', { name: 'News' });
    const blocks = async () =>
      (await world.api('GET', '/v1/email/blocks?address=bob@example.com')).items ?? [];
    const count = async () => (await blocks()).length;
    const path = `/console/contacts/${id}`;
    expect(await undone(path, 'leave', { list }, count)).toEqual([0, 1, 0]);
    await browser.post(path, { _action: 'leave', list });
    const [own] = await blocks();
    expect(await undone(path, 'lift', { id: own?.id ?? '' }, count)).toEqual([1, 0, 1]);
  });

  it('takes the state of conversations, runs, senders and holds back', async () => {
    const { app, caller, operator } = world.test;
    const statusOf =
      (path: string, name = 'status') =>
      async () =>
        (await get(path))[name];
    const { id: talk } = await world.api('POST', '/v1/conversations', { title: 'Talk' });
    const at = `/conversations/${talk}`;
    const moved = (action: string) => undone(`/console${at}`, action, {}, statusOf(`/v1${at}`));
    expect(await moved('resolve')).toEqual(['active', 'resolved', 'active']);
    expect(await moved('archive')).toEqual(['active', 'archived', 'active']);
    await browser.post(`/console${at}`, { _action: 'resolve' });
    expect(await moved('reopen')).toEqual(['resolved', 'active', 'resolved']);
    const { id: domain } = await world.api('POST', '/v1/email/domains', { domain: 'acme.example' });
    await verifyDomain(app, operator, domain, { force: true });
    const { id: sender } = await world.api('POST', '/v1/email/senders', {
      email: 'a@acme.example',
    });
    const active = statusOf(`/v1/email/senders/${sender}`, 'isActive');
    const stopped = await undone(
      `/console/senders/${sender}`,
      'active',
      { active: 'false' },
      active,
    );
    expect(stopped).toEqual([true, false, true]);
    const campaign = await world.api('POST', '/v1/campaigns', {
      name: 'Sale',
      channel: 'email',
      email: { subject: 'Hi', html: '<p>Hi</p>' },
      audience: { includeTags: ['a'] },
      transactional: true,
    });
    const { id: runId } = await storedRun(app, caller, 'running', { campaign_id: campaign.id });
    const own = `/campaigns/${campaign.id}/runs/${runId}`;
    const paused = await undone(`/console${own}`, 'pause', {}, statusOf(`/v1${own}`));
    expect(paused).toEqual(['running', 'paused', 'running']);
    // A script that loads the page leaves the toast.
    const script = { 'sec-fetch-dest': 'empty' };
    const held = async () =>
      (await browser.get('/console/queue', script)).body.includes('Mail to held.example');
    const hold = await undone('/console/queue', 'hold', { domain: 'held.example' }, held);
    expect(hold).toEqual([false, true, false]);
  });

  it('is not there for a session that may not press it', async () => {
    const { key } = await world.keyWith('blocks:write', 'blocks:read');
    const poor = await world.signIn(key);
    await poor.post('/console/blocks', { _action: 'add', address: 'c@example.com' });
    const { body } = await poor.get('/console/blocks');
    const [toast = ''] = /<div class="toast".*?<\/div>/s.exec(body) ?? [];
    expect([toast.includes('c@example.com is blocked.'), toast.includes('Undo')]).toEqual([
      true,
      false,
    ]);
  });
});
