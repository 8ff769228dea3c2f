// Every route of the API, asked by installations with each single permission, scope and send mode.
// The expected answers follow from the table in installation-rows.ts and from the rules below,
// which are written anew here.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../daemon/http/routes.ts';
import { refusedAtDoor } from '../../src/access/keys/constraints.ts';
import { everyPermission, type Permission } from '../../src/core/api/permission.ts';
import { type Caller, type KeyConstraints, sendModes } from '../../src/core/api/route.ts';
import { createMailbox } from '../../src/identity/mailboxes/mailboxes.ts';
import {
  type Installed,
  installed,
  rightsOf,
  switchTo,
} from '../access/keys/installation-fixtures.ts';
import { type HttpApi, httpApi } from '../support/http-client.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { routesByPermission } from './installation-rows.ts';

const permissions = everyPermission();
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

const needed = new Map(
  Object.entries(routesByPermission).flatMap(([permission, names]) =>
    names.map((name) => [name, permission as Permission]),
  ),
);

const own = '/v1/extension-installations/me';
/** Lists that show an installation with a scope its own mailboxes alone. */
const cutLists = ['GET /v1/mailboxes', 'GET /v1/mailbox-actions'];
const sends = ['messages:send', 'mailboxes:send', 'campaigns:run'];
const refusedBy = { none: sends, approval: ['messages:send', 'campaigns:run'], send: [] };

/** Tells whether no installation passes with this permission, even one that has it. */
const neverHeld = (needs: Permission) =>
  needs === 'mailboxes:configure' || needs.startsWith('members:');

it('each route has a row in the table of installations, and each row a route', () => {
  const names = routes.map(nameOf);
  const missing = names.filter((name) => !needed.has(name));
  const stale = [...needed.keys()].filter((name) => !names.includes(name));
  expect({ missing, stale }).toEqual({ missing: [], stale: [] });
});

describe('an installation', () => {
  let test: TestApp;
  let api: HttpApi;
  let mailbox: string;
  let other: string;
  beforeAll(async () => {
    test = await testApp();
    api = httpApi(test);
    const { app, operator } = test;
    mailbox = (await createMailbox(app, operator, { slug: 'desk' })).id;
    other = (await createMailbox(app, operator, { slug: 'other' })).id;
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  /** Scopes, with the mailbox that stands in the path of a request. */
  const scopes = (): [string, KeyConstraints | null, string][] => [
    ['all mailboxes', null, mailbox],
    ['the mailbox of the path', { mailboxIds: [mailbox] }, mailbox],
    ['another mailbox', { mailboxIds: [other] }, mailbox],
  ];

  it('passes the door of a route exactly with its permission, scope and send mode', () => {
    const { operator } = test;
    const wrong: unknown[] = [];
    let asked = 0;
    for (const granted of permissions) {
      const rights = rightsOf({ permissions: [granted] });
      for (const sendMode of sendModes) {
        for (const [scope, constraints, id] of scopes()) {
          const installation = { id: 'exti_0123456789abcdefghjk', events: [] };
          const keyId = 'key_0123456789abcdefghjk';
          const caller: Caller = {
            ...{ ...operator, by: { kind: 'installation', keyId }, keyId },
            ...{
              roleName: 'installation',
              permissions: rights.permissions,
              owner: 'service',
              constraints,
            },
            ...{ sendMode, installation },
          };
          for (const { method, path } of routes) {
            const needs = needed.get(nameOf({ method, path })) as Permission;
            const isUnder = /^\/v1\/mailboxes\/\{id\}(\/|$)/.test(path);
            const isReached =
              constraints === null ||
              cutLists.includes(nameOf({ method, path })) ||
              (isUnder && constraints.mailboxIds?.includes(id));
            const isAllowed =
              (method === 'GET' && path === own) ||
              (isReached &&
                needs === granted &&
                !neverHeld(needs) &&
                !(refusedBy[sendMode] as string[]).includes(needs));
            const place = { method, path, id: isUnder ? id : undefined };
            const refusal = refusedAtDoor(caller, '127.0.0.1', needs, place);
            asked += 1;
            if (isAllowed !== (refusal === null)) {
              wrong.push({ granted, sendMode, scope, route: nameOf({ method, path }), isAllowed });
            }
          }
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(asked).toBe(permissions.length * 9 * routes.length);
  });

  describe('over HTTP', () => {
    const byPermission = new Map<Permission, HttpApi>();
    const withoutPermission = new Map<Permission, HttpApi>();
    let disabled: Installed;
    beforeAll(async () => {
      for (const permission of permissions) {
        const one = await installed(test, { permissions: [permission] });
        const others = permissions.filter((each) => each !== permission);
        const rest = await installed(test, { permissions: others });
        byPermission.set(permission, api.as(one.plaintext));
        withoutPermission.set(permission, api.as(rest.plaintext));
      }
      disabled = await installed(test, { permissions });
      await switchTo(test, disabled, false);
    });

    /** Asks with a malformed id and body: an admitted request changes nothing. */
    const ask = async (by: HttpApi | undefined, { method, path }: (typeof routes)[number]) => {
      const url = path.replace(/^\/v1\/mailboxes\/\{id\}/, `/v1/mailboxes/${mailbox}`);
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: { nope: 1 } };
      return by?.request<{ _tag?: string }>(method, url.replace(/\{\w+\}/g, 'x'), body);
    };

    it.each(routes.map((route) => ({ name: nameOf(route), route })))(
      '$name answers 401 while disabled, 403 without the permission, and else asks on',
      async ({ name, route }) => {
        const needs = needed.get(name) as Permission;
        const off = await ask(api.as(disabled.plaintext), route);
        expect([off?.status, off?.body._tag]).toEqual([401, 'UnauthorizedError']);
        if (route.path === own) return;
        const without = await ask(withoutPermission.get(needs), route);
        expect([without?.status, without?.body._tag]).toEqual([403, 'ForbiddenError']);
        const admitted = await ask(byPermission.get(needs), route);
        if (neverHeld(needs)) expect(admitted?.status).toBe(403);
        else expect([401, 403]).not.toContain(admitted?.status);
      },
    );
  });
});
