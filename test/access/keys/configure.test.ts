// `mailboxes:configure`: whose mail a mailbox takes, under which name it speaks, whether it is open
// at all. A key of single mailboxes and a key that only proposes never have it, whatever else they
// may.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keysChanged } from '../../../src/access/keys/changes.ts';
import { createKey, updateKey } from '../../../src/access/keys/keys.ts';
import { keyChanges } from '../../../src/access/keys/queries.ts';
import type { CreateKey } from '../../../src/access/keys/schema.ts';
import type { Method } from '../../../src/core/api/route.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createMailbox, getMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import type { Mailbox } from '../../../src/identity/mailboxes/schema.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

interface Problem {
  _tag: string;
  message: string;
  fields: Record<string, string[]>;
}

describe.each(stores)('the configuration of a mailbox on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  let desk: Mailbox;
  let domainId: string;
  beforeAll(async () => {
    test = await testApp({ store });
    api = httpApi(test);
    const { app, operator } = test;
    domainId = (await addDomain(app, operator, { domain: 'corp.example', dkim: 'ed25519' })).id;
    await verifyDomain(app, operator, domainId, { force: true });
    desk = await createMailbox(app, operator, { slug: 'desk', domain: 'corp.example' });
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  const path = () => `/v1/mailboxes/${desk.id}`;

  async function keyOf(input: CreateKey): Promise<HttpApi> {
    return api.as((await createKey(test.app, test.operator, input)).key ?? '');
  }

  /** Each step of an attack, in the order in which it would be made. */
  function steps(): [Method, string, object | undefined][] {
    return [
      ['POST', `${path()}/addresses`, { address: 'ceo@corp.example' }],
      ['PATCH', path(), { defaultFrom: { address: 'ceo@corp.example' } }],
      ['PATCH', path(), { displayName: 'The chief' }],
      ['PATCH', path(), { defaultFrom: null }],
      ['PATCH', path(), { filters: { block: ['example.com'] } }],
      ['DELETE', `${path()}/addresses/${desk.addresses[0]?.id}`, undefined],
      ['POST', `${path()}/pause`, undefined],
      ['POST', `${path()}/resume`, undefined],
      ['DELETE', path(), undefined],
    ];
  }

  const bound = {
    'a key of one mailbox': () => ({ mailboxIds: [desk.id] }),
    'a key of a namespace': () => ({ namespaceId: desk.namespaceId }),
  };
  const modes = ['send', 'approval'] as const;
  const agents = (Object.keys(bound) as (keyof typeof bound)[]).flatMap((name) =>
    modes.map((sendMode) => ({ name, sendMode })),
  );

  it.each(agents)('is refused to $name with sendMode $sendMode', async ({ name, sendMode }) => {
    const role = sendMode === 'send' ? 'owner' : 'developer';
    const agent = await keyOf({ role, constraints: bound[name](), sendMode });
    for (const [method, url, body] of steps()) {
      const answer = await agent.request<Problem>(method, url, { body });
      const what = [method, url, body];
      expect([...what, answer.status, answer.body._tag]).toEqual([...what, 403, 'ForbiddenError']);
      expect(answer.body.message).toContain('mailboxes:configure');
    }
    expect(await getMailbox(test.app, test.operator, desk.id)).toEqual(desk);
  });

  it('leaves description and metadata to mailboxes:write, for a bound key too', async () => {
    const agent = await keyOf({
      permissions: { mailboxes: ['write'] },
      constraints: { mailboxIds: [desk.id] },
    });
    const body = { description: 'Questions', metadata: { team: 'one' } };
    const answer = await agent.request<Mailbox>('PATCH', path(), { body });
    expect([answer.status, answer.body.metadata]).toEqual([200, { team: 'one' }]);
    await api.request('PATCH', path(), { body: { description: null, metadata: null } });
    desk = await getMailbox(test.app, test.operator, desk.id);
  });

  it('is refused to an unbound key without the permission', async () => {
    const writer = await keyOf({ permissions: { mailboxes: ['read', 'write', 'delete'] } });
    const catchAll = '/v1/email/catch-all';
    const more: ReturnType<typeof steps> = [
      ['POST', '/v1/mailboxes', { slug: 'ceo', address: 'ceo@corp.example' }],
      ['POST', `${catchAll}/enable`, { domainId, mailboxId: desk.id }],
      ['POST', `${catchAll}/disable`, { domainId }],
    ];
    for (const [method, url, body] of [...steps(), ...more]) {
      const answer = await writer.request<Problem>(method, url, { body });
      expect([method, url, answer.status, answer.body.message]).toEqual([
        method,
        url,
        403,
        'This key lacks the permission mailboxes:configure',
      ]);
    }
  });

  it.each(['owner', 'admin', 'developer'] as const)('is allowed to an unbound %s', async (role) => {
    const { app, operator } = test;
    const { id } = await createMailbox(app, operator, { slug: role, domain: 'corp.example' });
    const own = `/v1/mailboxes/${id}`;
    const key = await keyOf({ role });
    const asked: [Method, string, object | undefined, number][] = [
      ['POST', '/v1/mailboxes', { slug: `${role}3`, domain: 'corp.example' }, 201],
      ['POST', `${own}/addresses`, { address: `${role}2@corp.example` }, 201],
      ['PATCH', own, { defaultFrom: { address: `${role}2@corp.example` } }, 200],
      ['PATCH', own, { filters: { block: ['example.com'] }, displayName: 'x' }, 200],
      ['POST', '/v1/email/catch-all/enable', { domainId, mailboxId: id }, 200],
      ['POST', '/v1/email/catch-all/disable', { domainId }, 200],
      ['POST', `${own}/pause`, undefined, 200],
      ['DELETE', own, undefined, 200],
    ];
    for (const [method, url, body, status] of asked) {
      const answer = await key.request(method, url, { body });
      expect([method, url, answer.status]).toEqual([method, url, status]);
    }
  });

  const grants = [
    { mailboxes: ['configure'] },
    { mailboxes: ['read', '*'] },
    { '*': ['configure'] },
    { '*': ['*'] },
  ];

  it.each(grants)(
    'cannot be granted to a bound key: %j answers 422 with the reason',
    async (permissions) => {
      for (const sendMode of modes) {
        const constraints = { mailboxIds: [desk.id] };
        const body = { permissions, constraints, sendMode };
        const answer = await api.post<Problem>('/v1/api-keys', body);
        expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, ['permissions']]);
        expect(answer.body.fields.permissions?.[0]).toContain('mailboxes:configure');
      }
      const { app, operator } = test;
      const unbound = await createKey(app, operator, { permissions });
      const changed = updateKey(app, operator, unbound.id, {
        constraints: { mailboxIds: [desk.id] },
      });
      await expect(changed).rejects.toMatchObject({ _tag: 'ValidationError' });
    },
  );

  it('is refused to a bound key with a stored permission from an earlier version', async () => {
    const { app, operator } = test;
    const constraints = { mailboxIds: [desk.id] };
    const { id, key } = await createKey(app, operator, {
      permissions: { mailboxes: ['read'] },
      constraints,
    });
    await app.store.write(async (trx) => {
      const permissions = JSON.stringify({ '*': ['*'], mailboxes: ['configure'] });
      await sql`update api_keys set permissions = ${permissions} where id = ${id}`.execute(trx);
      keyChanges.note(trx);
    });
    keysChanged(app);
    const old = api.as(key ?? '');
    for (const [method, url, body] of steps()) {
      expect((await old.request(method, url, { body })).status).toBe(403);
    }
  });
});
