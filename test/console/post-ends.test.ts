// Ends of every POST of the console over a real service: a redirect, or a page of the table below;
// and a refused POST leaves the store as it was. ends.test.ts has the actions without a service.
// Slow: all rows of the store are read after each of 300 forms.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doors } from '../../daemon/console/doors/doors.ts';
import { pages } from '../../daemon/console/pages/pages.ts';
import { startInvitation } from '../../src/access/members/invitations.ts';
import { createMember } from '../../src/access/members/members.ts';
import { members } from '../../src/access/members/queries.ts';
import { makeMailedLink } from '../../src/access/sessions/mailed-links.ts';
import { makeLink } from '../../src/access/sessions/sessions.ts';
import { fillPages, findPaths } from './fixture.ts';
import { makePerson } from './persons.ts';
import { type Answer, type Browser, consoleWorld, formOf, type World } from './world.ts';

/** POSTs that end with a page of 200, by path and action, and why a reload of it does no harm. */
const pagesOf200: Readonly<Record<string, string>> = {
  '/sign-in/mail': 'the answer is the same for every address; limits count the mails',
  '/sign-in/passkey/options': 'a question for the browser, which is stored only when used',
  '/invitation/:token': 'the link is used up, and the new cookie comes with no redirect',
  '/link/:token': 'the link is used up, and the new cookie comes with no redirect',
  '/asks-again mail': 'says where the link went',
};

describe('a POST', { timeout: 300_000 }, () => {
  let world: World;
  let browser: Browser;
  let paths: ReadonlyMap<string, string>;
  beforeAll(async () => {
    world = await consoleWorld();
    browser = await world.operator();
    await fillPages(
      (path, body, key) => world.api('POST', path, body, key),
      await world.firstMailbox(),
    );
    paths = await findPaths(async (path) => (await browser.get(path)).body);
  });
  afterAll(() => world.close());

  /** Returns all rows of the store, but for times of use, and toasts that the next page takes. */
  async function rows(): Promise<Record<string, string>> {
    const { db } = world.test.app.store;
    const tables = sql<{ name: string }>`select name from sqlite_master where type = 'table'
      and name not like 'sqlite_%' and sql not like 'create virtual%'`;
    const found: Record<string, string> = {};
    for (const { name } of (await tables.execute(db)).rows) {
      const all = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
      const kept = all.rows.map(({ last_used_at: _, last_seen_at: __, toast: ___, ...row }) => row);
      found[name] = JSON.stringify(kept);
    }
    return found;
  }

  interface Ended {
    name: string;
    answer: Answer;
    changed: string[];
  }

  let last: Record<string, string> | null = null;

  /** Posts, and compares the store before and after. */
  async function ended(name: string, post: () => Promise<Answer>): Promise<Ended> {
    const before = last ?? (await rows());
    const answer = await post();
    const after = await rows();
    last = after;
    const changed = Object.keys(after).filter((table) => before[table] !== after[table]);
    return { name, answer, changed };
  }

  const stranger = async (path: string, fields: Record<string, string>) => {
    const page = await world.browser().get('/console/sign-in');
    const [cookie = ''] = String(page.headers['set-cookie'] ?? '').split(';');
    const [, _form = ''] = /name="_form" value="([^"]*)"/.exec(page.body) ?? [];
    const payload = new URLSearchParams({ _form, ...fields }).toString();
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const url = `/console${path}`;
    const answer = await world.http.inject({ method: 'POST', url, headers, payload });
    return { status: answer.statusCode, body: answer.body, headers: answer.headers };
  };

  const isKnown = ({ name, answer }: Ended) =>
    answer.status === 303 || (answer.status === 200 && name in pagesOf200);

  /** Returns the paths and the fields that a door takes once. */
  async function takenOnce(): Promise<
    [door: string, path: string, fields: Record<string, string>][]
  > {
    const { app, operator, apiKey, caller } = world.test;
    const { personId } = await makePerson(world, 'jette@example.com');
    const invited = async (email: string) => {
      const { id } = await createMember(app, operator, { email, role: 'editor', mail: false });
      return app.store.write(async (trx) => {
        const row = await members.get(trx, operator.organizationId, id);
        return startInvitation(app, trx, row, { messageId: null, livesMs: 60_000 });
      });
    };
    const asking = { personId, purpose: 'sign-in', browser: 'b', address: '203.0.113.9' } as const;
    const made = { ...asking, email: 'jette@example.com' };
    const { token } = await app.store.write((trx) => makeMailedLink(app, trx, made, false));
    return [
      ['/sign-in', '/sign-in', { key: apiKey }],
      ['/sign-in/mail', '/sign-in/mail', { email: 'jette@example.com' }],
      ['/invitation/:token', `/invitation/${await invited('mara@example.com')}`, { name: 'Mara' }],
      ['/invitation/:token', `/invitation/${await invited('ben@example.com')}`, { decline: '1' }],
      ['/link/:token', `/link/${token}`, {}],
      ['/open/:token', `/open/${await makeLink(app, caller.organizationId)}`, {}],
    ];
  }

  it('to a door ends in a redirect or a known page, and changes nothing when it comes again', async () => {
    const wrong: unknown[] = [];
    const once = await takenOnce();
    last = null;
    for (const [door, path, fields] of once) {
      const first = await ended(door, () => stranger(path, fields));
      if (!isKnown(first)) wrong.push([door, first.answer.status]);
      if (!door.includes(':')) continue;
      const again = await ended(door, () => stranger(path, fields));
      if (again.answer.status !== 410 || again.changed.length > 0)
        wrong.push([door, 'again', again.answer.status, again.changed]);
    }
    expect(wrong).toEqual([]);
  });

  it('to a door that is refused changes nothing', async () => {
    const wrong: unknown[] = [];
    for (const [method, door] of doors) {
      if (method !== 'POST') continue;
      const path = door.replace(':token', 'A'.repeat(43));
      for (const fields of [{}, { _form: 'x' }, { email: 'no', key: 'no', credential: 'no' }]) {
        const end = await ended(door, () => stranger(path, fields));
        const isLook = end.answer.status === 200 && door in pagesOf200;
        if (end.answer.status < 400 && !isLook) wrong.push([door, end.answer.status]);
        if (end.changed.length > 0) wrong.push([door, end.changed]);
        expect(String(end.answer.headers['set-cookie'] ?? '')).not.toContain('svc_console=');
      }
    }
    expect(wrong).toEqual([]);
    // The page of a domain for a colleague takes GET alone.
    expect((await world.http.inject({ method: 'POST', url: '/domains/x' })).statusCode).toBe(404);
  });

  it('of an action ends in a redirect or a known page, and changes nothing if it is refused', async () => {
    const wrong: unknown[] = [];
    const counts = { done: 0, refused: 0 };
    for (const { path, actions = {} } of pages) {
      const url = paths.get(path) ?? '';
      for (const action of Object.keys(actions)) {
        const drawn = formOf((await browser.get(url)).body, action) ?? { _action: action };
        const { _form, ...fields } = drawn;
        const name = `${path} ${action}`;
        for (const given of [{ _action: action }, { ...fields, _sure: '' }]) {
          const end = await ended(name, () => browser.post(url, given));
          const { status } = end.answer;
          counts[status < 400 ? 'done' : 'refused'] += 1;
          const isLook = status === 200 && end.changed.length === 0;
          if (status < 400 && !isKnown(end) && !isLook) wrong.push([name, status, end.changed]);
          if (status >= 400 && end.changed.length > 0) wrong.push([name, status, end.changed]);
          if (status >= 500) wrong.push([name, status]);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(counts.refused).toBeGreaterThan(40);
    expect(counts.done).toBeGreaterThan(40);
  });

  it.each(['/switch', '/seen', '/passkey-question', '/sign-out'])(
    'to %s ends in a redirect, or is refused and changes nothing',
    async (path) => {
      const own = await world.operator();
      last = null;
      const end = await ended(path, () => own.post(`/console${path}`, {}));
      if (end.answer.status >= 400) expect(end.changed).toEqual([]);
      else expect(end.answer.status).toBe(303);
    },
  );
});
