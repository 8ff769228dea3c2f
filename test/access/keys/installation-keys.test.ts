// The keys of installations: made within the rights of the installing caller, hidden from the keys
// of people, named as the author of what they do, and limited by the send mode whatever they were
// granted.
import { describe, expect, it } from 'vitest';
import { keysChanged } from '../../../src/access/keys/changes.ts';
import {
  changeInstallationKey,
  replaceInstallationKey,
  requireGrantable,
} from '../../../src/access/keys/installation-keys.ts';
import type { CreateKey } from '../../../src/access/keys/schema.ts';
import type { Permission } from '../../../src/core/api/permission.ts';
import type { SendMode } from '../../../src/core/api/route.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { callerOf as callerOfKey } from '../../inbox/approvals/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import {
  callerOf,
  grant,
  installed,
  rightsOf,
  switchTo,
  type Wanted,
} from './installation-fixtures.ts';

interface Problem {
  _tag: string;
  message: string;
}

describe.each(stores)('the key of an installation on %s', (store) => {
  const world = eachApi({ store });
  const { test, api } = world;

  const reader: Wanted = { permissions: ['contacts:read'] };

  it('acts within its permissions, for its organization', async () => {
    const { plaintext } = await installed(test, reader);
    const own = api.as(plaintext);
    expect((await own.get('/v1/contacts')).status).toBe(200);
    expect((await own.get('/v1/messages')).status).toBe(403);
    expect((await own.post('/v1/contacts', { email: 'ada@example.com' })).status).toBe(403);
  });

  it('names the installation and its events to every operation', async () => {
    const made = await installed(test, { ...reader, events: ['contact.created'] });
    expect(await callerOf(test, made)).toMatchObject({
      installation: { id: made.id, events: ['contact.created'] },
      ...{ keyName: 'Triage', owner: 'service', roleName: 'installation' },
    });
  });

  it('is missing among the keys, under its id too', async () => {
    const before = (await api.get<{ pagination: { total: number } }>('/v1/api-keys')).body;
    const { keyId } = await installed(test, reader);
    const { body } = await api.get<typeof before>('/v1/api-keys');
    expect(body).toEqual(before);
    const path = `/v1/api-keys/${keyId}`;
    const answers = await Promise.all([
      api.get(path),
      api.request('PATCH', path, { body: { name: 'Mine' } }),
      api.post(`${path}/rotate`, {}),
      api.delete(path),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });

  it.each<[string, CreateKey, Wanted, RegExp]>([
    ['permissions', { role: 'viewer' }, { permissions: ['contacts:write'] }, /permissions/],
    [
      'freedom of its From',
      { role: 'admin', constraints: { domains: ['example.com'] } },
      { permissions: ['messages:send'] },
      /looser constraints/,
    ],
  ])('cannot have more %s than the key that installs it', async (_what, input, wanted, words) => {
    const by = await callerOfKey(test.app, test.operator, input);
    await expect(installed(test, wanted, by)).rejects.toThrow(words);
    const made = await installed(test, wanted);
    const check = test.app.store.write((trx) =>
      requireGrantable(test.app, trx, by, made.keyId, rightsOf(wanted)),
    );
    await expect(check).rejects.toThrow(words);
  });

  it('is a test key where a test key installs it', async () => {
    const by = await callerOfKey(test.app, test.operator, { role: 'admin', mode: 'test' });
    const made = await installed(test, reader, by);
    expect(made.plaintext).toMatch(/^svc_test_/);
    expect(await callerOf(test, made)).toMatchObject({ isTest: true });
  });

  it('is refused while it is switched off, and is then the same key', async () => {
    const made = await installed(test, reader);
    const own = api.as(made.plaintext);
    await switchTo(test, made, false);
    expect((await own.get('/v1/contacts')).status).toBe(401);
    await switchTo(test, made, true);
    expect((await own.get('/v1/contacts')).status).toBe(200);
  });

  it('ends with its replacement, which has the same rights', async () => {
    const { app, operator } = test;
    const made = await installed(test, {
      ...reader,
      sendMode: 'none',
      events: ['contact.created'],
    });
    const before = await callerOf(test, made);
    const next = await app.store.write((trx) =>
      replaceInstallationKey(app, trx, operator, made.keyId),
    );
    keysChanged(app);
    expect((await api.as(made.plaintext).get('/v1/contacts')).status).toBe(401);
    const after = await callerOf(test, { ...made, plaintext: next.plaintext });
    expect(after).toEqual({
      ...before,
      by: { kind: 'installation', keyId: next.id },
      keyId: next.id,
    });
  });

  it('is refused by another daemon within a second once a right is taken', async () => {
    if (store === 'sqlite') return;
    const other = await test.another();
    const made = await installed(test, reader);
    const seen = () => callerOf({ ...test, app: other }, made);
    expect((await seen())?.permissions).toEqual({ contacts: ['read'] });
    const { organizationId } = test.operator;
    await test.app.store.write((trx) =>
      changeInstallationKey(trx, organizationId, made.keyId, rightsOf({ permissions: [] })),
    );
    await test.clock.advance(1_000);
    expect((await seen())?.permissions).toEqual({});
  });

  it('is the author of its changes in the audit', async () => {
    const made = await installed(test, { permissions: ['brands:write'] });
    const { body } = await api.as(made.plaintext).post<{ id: string }>('/v1/brands', {
      ...{ name: 'Acme', slug: 'acme' },
    });
    const audit = await api.get<{ items: object[] }>(`/v1/audit?resource=${body.id}`);
    expect(audit.body.items).toMatchObject([
      {
        actor: {
          ...{ type: 'installation', keyId: made.keyId, keyName: 'Triage', role: 'installation' },
        },
      },
    ]);
  });

  describe('and its send mode', () => {
    const sends = ['messages:send', 'mailboxes:send', 'campaigns:run'] as const;
    const message = { from: { email: 'a@example.com' }, to: ['b@example.com'] };
    const posts: Readonly<Record<(typeof sends)[number], [string, object]>> = {
      'messages:send': ['/v1/messages', { ...message, channel: 'email' }],
      'mailboxes:send': ['/v1/mailboxes/mbx_0123456789abcdefghjk/messages', {}],
      'campaigns:run': ['/v1/campaigns/camp_0123456789abcdefghjk/runs', {}],
    };
    /** Permissions that each mode refuses, whatever was granted. */
    const refused: Readonly<Record<SendMode, readonly Permission[]>> = {
      none: ['messages:send', 'mailboxes:send', 'campaigns:run'],
      approval: ['messages:send', 'campaigns:run'],
      send: [],
    };

    it.each(Object.entries(refused))('%s refuses these sends: %s', async (mode, those) => {
      const sendMode = mode as SendMode;
      const own = api.as((await installed(test, { permissions: sends, sendMode })).plaintext);
      for (const permission of sends) {
        const [path, body] = posts[permission];
        const answer = await own.post<Problem>(path, body);
        expect([permission, answer.status === 403]).toEqual([
          permission,
          those.includes(permission),
        ]);
        if (answer.status === 403)
          expect(answer.body.message).toContain('needs the send mode send');
      }
    });

    it.each<SendMode>(['none', 'approval'])(
      '%s refuses confirmations, which the service mails',
      async (sendMode) => {
        const { app, operator } = test;
        const { id } = await createContact(app, operator, { email: 'ada@example.com' });
        const group = await createGroup(app, operator, { name: 'News', confirm: true });
        const permissions = ['contacts:write', 'contacts:read'] as const;
        const own = api.as((await installed(test, { permissions, sendMode })).plaintext);
        const path = `/v1/unsubscribe-groups/${group.id}/members`;
        const added = await own.post<Problem>(path, { contactIds: [id] });
        expect([added.status, added.body._tag]).toEqual([403, 'ForbiddenError']);
        const imported = await own.post<Problem>(
          `/v1/contacts/import?requireConfirmation=${group.id}`,
          'email\nbo@example.com\n',
          { headers: { 'content-type': 'text/csv' } },
        );
        expect([imported.status, imported.body._tag]).toEqual([403, 'ForbiddenError']);
        expect((await api.get<{ items: object[] }>(path)).body.items).toEqual([]);
      },
    );
  });

  it('never configures mailboxes, and decides about no proposal', async () => {
    const permissions = [
      ...(['mailboxes:configure', 'mailboxes:write', 'mailboxes:send'] as const),
    ];
    const own = api.as((await installed(test, { permissions })).plaintext);
    const mailbox = '/v1/mailboxes/mbx_0123456789abcdefghjk';
    const paused = await own.post<Problem>(`${mailbox}/pause`, {});
    expect([paused.status, paused.body.message]).toEqual([
      403,
      expect.stringContaining('never have mailboxes:configure'),
    ]);
    for (const verb of ['approve', 'reject']) {
      const path = `${mailbox}/actions/act_0123456789abcdefghjk/${verb}`;
      const answer = await own.post<Problem>(path, {});
      expect([verb, answer.status, answer.body.message]).toEqual([
        verb,
        403,
        expect.stringContaining('Only a person'),
      ]);
    }
  });

  it('loses at once what an upgrade takes', async () => {
    const made = await installed(test, reader);
    const own = api.as(made.plaintext);
    await grant(test, made, { permissions: ['messages:read'] });
    expect((await own.get('/v1/contacts')).status).toBe(403);
    expect((await own.get('/v1/messages')).status).toBe(200);
  });
});
