// Callers with limits at every page and action of the console, every route and every tool, as each
// caller signs in and connects. The table in docs/making/door.md, written by hand, has all that the
// door lets in.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages } from '../../../daemon/console/pages/pages.ts';
import { routes } from '../../../daemon/http/routes.ts';
import { allTools, mayUse } from '../../../daemon/mcp/tools.ts';
import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import { createKey } from '../../../src/access/keys/keys.ts';
import { permissionMapOf } from '../../../src/access/keys/roles.ts';
import { everyPermission } from '../../../src/core/api/permission.ts';
import { type Caller, sendModes } from '../../../src/core/api/route.ts';
import { fillPages, findPaths } from '../../console/fixture.ts';
import { consoleWorld, type World } from '../../console/world.ts';
import { makeInstallation } from '../../extensions/fixtures.ts';

/**
 * Reads the table: each page and each action of a page (`/blocks add`), with the callers let in.
 */
function readTable(text: string): Record<string, string> {
  const letIn: Record<string, string> = {};
  for (const [, page = '', seenBy = '', actions = ''] of text.matchAll(
    /^\| `(\/[^`]*)` \| ([\w ]+) \| (.*?) ?\|$/gm,
  )) {
    letIn[page] = seenBy;
    for (const group of actions.split('; ').filter((one) => one !== '')) {
      const [names = '', who = seenBy] = group.split(': ').reverse();
      for (const name of names.split(', ')) letIn[`${page} ${name}`] = who;
    }
  }
  return letIn;
}

const table = readTable(readFileSync('docs/making/door.md', 'utf8'));
const everything = everyPermission().filter((one) => one !== 'mailboxes:configure');

describe('callers with limits', () => {
  let world: World;
  let mailbox: string;
  /** A path of each page, with ids that exist. */
  let paths: ReadonlyMap<string, string>;
  /**
   * Plaintext keys with every permission: one bound to a mailbox, and an installation of each send
   * mode.
   */
  const keys = new Map<string, string>();

  beforeAll(async () => {
    world = await consoleWorld();
    mailbox = await world.firstMailbox();
    const person = await world.operator();
    await fillPages((path, body, key) => world.api('POST', path, body, key), mailbox);
    paths = await findPaths(async (path) => (await person.get(path)).body);
    const { app, operator } = world.test;
    const permissions = permissionMapOf(everything);
    const constraints = { mailboxIds: [mailbox] };
    const { key } = await createKey(app, operator, { name: 'bound', permissions, constraints });
    keys.set('bound', key ?? '');
    for (const sendMode of sendModes) {
      const asked = { permissions: everything, sendModes: [sendMode] };
      const { installed } = await makeInstallation(app, operator, asked, { sendMode });
      keys.set(sendMode, installed.key);
    }
  });
  afterAll(() => world.close());

  /** Sends a mail that can be undone. Returns its id. */
  async function send(): Promise<string> {
    const mail = { to: ['delivered@simulator.test'], subject: 'Hi', text: 'Hi', delaySeconds: 60 };
    return (await world.api('POST', `/v1/mailboxes/${mailbox}/messages`, mail)).messageId ?? '';
  }

  async function callerOf(kind: string): Promise<Caller> {
    const caller = await createAuthenticator(world.test.app).authenticate(keys.get(kind) ?? '');
    if (!caller) throw new Error(`the key of ${kind} is not valid`);
    return caller;
  }

  // Slow: 70 pages and 150 actions, each for four keys.
  it('see and do in the console what the table has, and no more', {
    timeout: 240_000,
  }, async () => {
    const letIn = new Map<string, string[]>();
    const note = (what: string, kind: string, status: number) => {
      if ([401, 403].includes(status)) return;
      letIn.set(what, [...(letIn.get(what) ?? []), kind]);
    };
    const browsers = await Promise.all(
      [...keys].map(async ([kind, key]) => [kind, await world.signIn(key)] as const),
    );
    for (const { path } of pages) {
      for (const [kind, browser] of browsers) {
        note(path || '/', kind, (await browser.get(paths.get(path) ?? '')).status);
      }
    }
    for (const { path, actions = {} } of pages) {
      for (const action of Object.keys(actions)) {
        for (const [kind, browser] of browsers) {
          const messageId = action === 'undo' ? await send() : '';
          const fields = { _action: action, _sure: '1', messageId };
          const { status } = await browser.post(paths.get(path) ?? '', fields);
          note(`${path || '/'} ${action}`, kind, status);
        }
      }
    }
    const found = [...letIn].map(([what, kinds]) => [what, kinds.join(' ')]);
    expect(Object.fromEntries(found)).toEqual(table);
  });

  it('of one mailbox reach over HTTP what is below it, and lists that are cut to it', async () => {
    const cut = ['/v1/mailboxes', '/v1/mailbox-actions'];
    const below = (path: string) => /^\/v1\/mailboxes\/\{id\}(?:\/|$)/.test(path);
    for (const { method, path, permission } of routes) {
      for (const id of [mailbox, 'mbx_000000000000000000000000']) {
        const url = path.replace('/v1/mailboxes/{id}', `/v1/mailboxes/${id}`);
        const answer = await world.http.inject({
          ...{ method, url: url.replaceAll(/\{\w+\}/g, 'x') },
          headers: { 'x-api-key': keys.get('bound') },
        });
        const isCut = method === 'GET' && cut.includes(path);
        const isOwn = below(path) && id === mailbox && permission !== 'mailboxes:configure';
        expect([method, url, answer.statusCode === 403]).toEqual([method, url, !(isCut || isOwn)]);
      }
    }
  });

  it('are offered the tools whose routes let them in, and none by which a person decides', async () => {
    for (const kind of keys.keys()) {
      const caller = await callerOf(kind);
      const offered = allTools().filter((tool) => mayUse(caller, tool));
      expect(offered.length).toBeGreaterThan(20);
      expect(offered.filter(({ route }) => route.decides)).toEqual([]);
      for (const { route } of offered) {
        const path = route.mailboxOf ? route.path.replace('{id}', await send()) : route.path;
        const url = path.replace('/v1/mailboxes/{id}', `/v1/mailboxes/${mailbox}`);
        const answer = await world.http.inject({
          ...{ method: route.method, url: url.replaceAll(/\{\w+\}/g, 'x') },
          headers: { 'x-api-key': keys.get(kind) },
        });
        if (answer.statusCode === 403) console.log(kind, url, answer.body);
        expect([kind, url, answer.statusCode]).not.toEqual([kind, url, 403]);
      }
    }
  });
});
