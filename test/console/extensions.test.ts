// Extensions in the console: grants in words, and installations and upgrades by exactly what was
// shown.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventKinds } from '../../daemon/http/event-kinds.ts';
import { grantableEvents, grantablePermissions, inOrder } from '../../src/extensions/schema.ts';
import { type Answer, type Browser, consoleWorld, formOf, problemOf, type World } from './world.ts';

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

async function act(url: string, action: string, fields: Record<string, string> = {}) {
  const form = formOf((await browser.get(url)).body, action);
  expect([url, action, form !== null]).toEqual([url, action, true]);
  return browser.post(url, { ...form, ...fields });
}

const textIn = (page: string) => page.replaceAll('&quot;', '"').replaceAll('&amp;', '&');

let made = 0;
const makeExtension = (runtime = 'hosted') =>
  api('POST', '/v1/extensions', { name: `ext-${++made}`, runtime });

const publish = (id: string, version: string, permissions: readonly string[], more: object = {}) =>
  api('POST', `/v1/extensions/${id}/versions`, {
    ...{ version, permissions, events: [], sendModes: ['none', 'approval'], ...more },
  });

/** Returns the page of the installation that an answer leads to. */
const pathIn = ({ headers }: Answer) =>
  /\/console\/extensions\/exti_\w+/.exec(String(headers['location']))?.[0] ?? '';

/** Installs an extension in the console, and returns the page of its installation. */
async function install(id: string, fields: Record<string, string> = {}): Promise<string> {
  return pathIn(await act(`/console/extensions/install/${id}`, 'install', fields));
}

const installed = (url: string) =>
  api('GET', url.replace('/console/extensions', '/v1/extension-installations'));

describe('the page of an installation', () => {
  it('asks for each grant in a sentence', async () => {
    const { id } = await makeExtension();
    await publish(id, '1.0.0', grantablePermissions, { events: grantableEvents });
    const { body } = await browser.get(`/console/extensions/install/${id}`);
    const grants = [...body.matchAll(/<li>It (?:may|hears:) [^<]+ <small>([^<]+)<\/small>/g)];
    expect(grants.map(([, grant]) => grant)).toEqual([
      ...grantableEvents.toSorted(inOrder).map((type) => `event:${type}`),
      ...grantablePermissions.map((permission) => `permission:${permission}`),
    ]);
    const summaries = eventKinds.filter(({ type }) => type !== 'webhook.test');
    expect(summaries.filter(({ summary }) => !textIn(body).includes(summary))).toEqual([]);
  });

  it('offers the latest version: no prerelease, and no older one that came later', async () => {
    const { id } = await makeExtension();
    await publish(id, '2.0.0', ['mailboxes:read']);
    await publish(id, '1.0.1', ['messages:read']);
    await publish(id, '3.0.0-beta.1', ['contacts:read']);
    const url = await install(id);
    expect(await installed(url)).toMatchObject({
      version: { version: '2.0.0' },
      permissions: ['mailboxes:read'],
      sendMode: 'none',
      scope: { mailboxIds: [], namespaceId: null },
    });
  });

  it('installs what was shown, also if a version came meanwhile', async () => {
    const { id } = await makeExtension();
    await publish(id, '1.0.0', ['mailboxes:read']);
    const page = `/console/extensions/install/${id}`;
    const form = formOf((await browser.get(page)).body, 'install') ?? {};
    await publish(id, '2.0.0', ['mailboxes:read', 'messages:read']);
    const url = pathIn(await browser.post(page, form));
    expect(await installed(url)).toMatchObject({ permissions: ['mailboxes:read'] });
    const wider = { ...form, grants: 'permission:mailboxes:read permission:messages:read' };
    expect((await browser.post(page, wider)).status).toBe(409);
  });

  it('binds it to mailboxes, and keeps what was typed if the API refuses', async () => {
    const { id } = await makeExtension('webhook');
    const mailbox = await world.firstMailbox();
    await publish(id, '1.0.0', ['mailboxes:read'], { events: ['mailbox.message.received'] });
    const typed = {
      ...{ sendMode: 'approval', mailboxIds: 'nothing', namespaceId: '' },
      webhookUrl: 'https://hooks.example.com/x',
    };
    const refused = await act(`/console/extensions/install/${id}`, 'install', typed);
    expect([refused.status, problemOf(refused.body)]).toEqual([
      422,
      expect.stringContaining('mailbox'),
    ]);
    expect(formOf(refused.body, 'install')).toMatchObject(typed);
    const url = await install(id, { ...typed, mailboxIds: mailbox });
    expect(await installed(url)).toMatchObject({
      scope: { mailboxIds: [mailbox] },
      sendMode: 'approval',
      webhook: { url: typed.webhookUrl },
    });
  });

  it('shows new credentials once', async () => {
    const { id } = await makeExtension();
    await publish(id, '1.0.0', ['mailboxes:read']);
    const url = await install(id);
    const { headers } = await act(url, 'rotate');
    const { body } = await browser.get(String(headers['location']));
    const key = /svc_live_\w+/.exec(body)?.[0] ?? '';
    expect(key).not.toBe('');
    expect((await browser.get(url)).body).not.toContain(key);
    await expect(
      world.api('GET', '/v1/extension-installations/me', undefined, key),
    ).resolves.toMatchObject({ permissions: ['mailboxes:read'] });
  });
});

describe('an upgrade', () => {
  async function shownUpgrade(version = '') {
    const { id } = await makeExtension();
    await publish(id, '1.0.0', ['mailboxes:read', 'domains:read']);
    const url = await install(id);
    await publish(id, '1.1.0', ['mailboxes:read', 'contacts:read']);
    const shown = await act(url, 'preview', { version });
    return { id, url, body: shown.body, form: formOf(shown.body, 'upgrade') ?? {} };
  }

  it('shows what is gained and lost, and changes nothing before it is accepted', async () => {
    const { url, body, form } = await shownUpgrade();
    expect(body).toMatch(/It gets<\/h2><ul><li>It may read contacts and their groups\. /);
    expect(body).toMatch(/It loses<\/h2><ul><li>It may read sending domains, /);
    expect(await installed(url)).toMatchObject({ version: { version: '1.0.0' } });
    expect((await browser.post(url, form)).status).toBe(303);
    expect(await installed(url)).toMatchObject({
      version: { version: '1.1.0' },
      permissions: ['contacts:read', 'mailboxes:read'],
    });
  });

  it('goes to the version that was shown, also if another came meanwhile', async () => {
    const { id, url, form } = await shownUpgrade();
    await publish(id, '1.2.0', ['mailboxes:read', 'contacts:read', 'messages:read']);
    expect((await browser.post(url, form)).status).toBe(303);
    expect(await installed(url)).toMatchObject({ version: { version: '1.1.0' } });
  });

  it.each([
    ['other grants', { grants: '' }],
    ['more grants', { grants: 'permission:contacts:read permission:messages:read' }],
  ])('is refused with %s than those shown', async (_name, change) => {
    const { url, form } = await shownUpgrade();
    expect((await browser.post(url, { ...form, ...change })).status).toBe(409);
    expect(await installed(url)).toMatchObject({ version: { version: '1.0.0' } });
  });

  it('is refused if another upgrade came first', async () => {
    const { id, url, form } = await shownUpgrade();
    await publish(id, '1.0.5', ['mailboxes:read', 'domains:read']);
    const other = await act(url, 'preview', { version: '1.0.5' });
    expect((await browser.post(url, formOf(other.body, 'upgrade') ?? {})).status).toBe(303);
    expect((await browser.post(url, form)).status).toBe(409);
    expect(await installed(url)).toMatchObject({ version: { version: '1.0.5' } });
  });

  it('rolls back to an older version', async () => {
    const { url, form } = await shownUpgrade();
    await browser.post(url, form);
    const back = await act(url, 'preview', { version: '1.0.0' });
    expect((await browser.post(url, formOf(back.body, 'upgrade') ?? {})).status).toBe(303);
    expect(await installed(url)).toMatchObject({ permissions: ['domains:read', 'mailboxes:read'] });
  });

  it('to an unknown version stays on the page of the installation', async () => {
    const { url, body } = await shownUpgrade('9.9.9');
    expect(problemOf(body)).toContain('9.9.9');
    expect(formOf(body, 'rotate')).not.toBeNull();
    expect(await installed(url)).toMatchObject({ version: { version: '1.0.0' } });
  });
});

describe('the list of installations', () => {
  it('has filters', async () => {
    const { id } = await makeExtension();
    await publish(id, '1.0.0', []);
    const url = await install(id);
    await act(url, 'disable');
    const shows = async (query: string) =>
      (await browser.get(`/console/extensions?${query}`)).body.includes(`href="${url}"`);
    expect(await shows('status=disabled')).toBe(true);
    expect(await shows('status=active')).toBe(false);
    expect(await shows(`extensionId=${id}`)).toBe(true);
    expect(await shows(`extensionId=${(await makeExtension()).id}`)).toBe(false);
  });
});
