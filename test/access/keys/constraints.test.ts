// Constraints of keys: the addresses that may use a key, the senders of its mail, and the rule that
// a key never makes or changes a key with looser constraints than its own.
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../daemon/http/routes.ts';
import { createHttpServer } from '../../../daemon/http/server.ts';
import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import { createKey, getKey, rotateKey, updateKey } from '../../../src/access/keys/keys.ts';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import type { ApiKey, CreateKey } from '../../../src/access/keys/schema.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { payload } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

type Constraints = NonNullable<CreateKey['constraints']>;

interface Problem {
  _tag: string;
  message: string;
}

const inside = '203.0.113.7';
const outside = '198.51.100.9';

describe.each(stores)('constraints of a key on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  beforeAll(async () => {
    test = await testApp({ store });
    api = httpApi(test);
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  const make = (
    constraints: Constraints | null,
    more: CreateKey = {},
    by: Caller = test.operator,
  ) =>
    createKey(test.app, by, {
      ...(more.permissions ? {} : { role: 'admin' }),
      ...more,
      constraints,
    });

  async function callerWith(
    constraints: Constraints | null,
    more: CreateKey = {},
  ): Promise<Caller> {
    const { key } = await make(constraints, more);
    const caller = await createAuthenticator(test.app).authenticate(key ?? '');
    if (!caller) throw new Error('the key was refused');
    return caller;
  }

  async function apiWith(constraints: Constraints | null, more: CreateKey = {}): Promise<HttpApi> {
    return api.as((await make(constraints, more)).key ?? '');
  }

  describe('in answers', () => {
    it('are shown in their normal form, each entry once', async () => {
      const made = await make({
        senders: ['Ada@EXAMPLE.com', 'Ada@example.com'],
        domains: ['Example.ORG', 'bücher.example'],
        ipRanges: ['203.0.113.7', '2001:DB8::/32', '::ffff:10.0.0.0/104'],
      });
      const constraints = {
        senders: ['Ada@example.com'],
        domains: ['example.org', 'xn--bcher-kva.example'],
        ipRanges: ['203.0.113.7/32', '2001:db8::/32', '10.0.0.0/8'],
      };
      expect(made.constraints).toEqual(constraints);
      expect((await getKey(test.app, test.caller, made.id)).constraints).toEqual(constraints);
    });

    it('are shown without unused lists, and as null for an unconstrained key', async () => {
      expect((await make({ domains: ['example.com'] })).constraints).toEqual({
        domains: ['example.com'],
      });
      expect((await make(null)).constraints).toBeNull();
    });

    it('are shown over HTTP as given, and kept by rotation', async () => {
      const body = { role: 'sender', constraints: { ipRanges: ['203.0.113.0/24'] } };
      const made = await api.post<{ id: string; constraints: unknown }>('/v1/api-keys', body);
      expect([made.status, made.body.constraints]).toEqual([201, body.constraints]);
      const rotated = await api.post<{ key: string; constraints: unknown }>(
        `/v1/api-keys/${made.body.id}/rotate`,
        undefined,
      );
      expect([rotated.status, rotated.body.constraints]).toEqual([200, body.constraints]);
      const heir = api.as(rotated.body.key);
      expect((await heir.get('/v1/messages', { remoteAddress: outside })).status).toBe(403);
      expect((await heir.get('/v1/messages', { remoteAddress: inside })).status).toBe(200);
    });
  });

  it.each<[string, unknown]>([
    ['constraints', {}],
    ['constraints.senders', { senders: [] }],
    ['constraints.ipRanges', { ipRanges: [] }],
    ['constraints.senders.1', { senders: ['a@example.com', 'example.com'] }],
    ['constraints.domains.0', { domains: ['*.example.com'] }],
    ['constraints.domains.0', { domains: ['a@example.com'] }],
    ['constraints.domains.0', { domains: ['localhost'] }],
    ['constraints.ipRanges.2', { ipRanges: ['10.0.0.0/8', '::1', '10.0.0.0/33'] }],
    ['constraints.ipRanges.0', { ipRanges: ['10.0.0.5/8'] }],
    ['constraints.ipRanges.0', { ipRanges: ['office'] }],
    ['constraints.hosts', { hosts: ['a'], domains: ['a.example'] }],
    ['constraints.ipRanges', { ipRanges: Array.from({ length: 51 }, (_, i) => `10.0.0.${i}`) }],
    ['constraints.senders', { senders: Array.from({ length: 51 }, (_, i) => `a${i}@b.example`) }],
    ['constraints.domains', { domains: Array.from({ length: 51 }, (_, i) => `d${i}.example`) }],
  ])('are refused with a 422 that names the field %s', async (field, constraints) => {
    const answer = await api.post<{ fields: object }>('/v1/api-keys', { constraints });
    expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, [field]]);
  });

  it('hold up to 50 entries in each list', async () => {
    const ipRanges = Array.from({ length: 50 }, (_, i) => `10.0.0.${i}/32`);
    expect((await make({ ipRanges })).constraints).toEqual({ ipRanges });
  });

  it('suggest the aligned range for bits beyond the prefix', async () => {
    const body = { constraints: { ipRanges: ['10.0.0.5/8'] } };
    const answer = await api.post<Problem>('/v1/api-keys', body);
    expect(answer.body.message).toContain('write 10.0.0.0/8');
  });

  describe('on the address of the caller', () => {
    it('answer a foreign address with a 403 that names it and hides the ranges', async () => {
      const limited = await apiWith({ ipRanges: ['203.0.113.0/24', '2001:db8::/32'] });
      const answer = await limited.get<Problem>('/v1/messages', { remoteAddress: outside });
      expect([answer.status, answer.body._tag]).toEqual([403, 'ForbiddenError']);
      expect(answer.body.message).toContain(outside);
      expect(JSON.stringify(answer.body)).not.toMatch(/203\.0\.113|2001:db8/);
    });

    it.each<[string, boolean]>([
      [inside, true],
      [`::ffff:${inside}`, true],
      ['2001:db8::1', true],
      [outside, false],
      [`::ffff:${outside}`, false],
      ['2001:db9::1', false],
      ['127.0.0.1', false],
    ])('admit %s: %s', async (remoteAddress, expected) => {
      const limited = await apiWith({ ipRanges: ['203.0.113.0/24', '2001:db8::/32'] });
      const { status } = await limited.get('/v1/messages', { remoteAddress });
      expect(status).toBe(expected ? 200 : 403);
    });

    it('ignore headers about the address', async () => {
      const limited = await apiWith({ ipRanges: [inside] });
      const headers = {
        'x-forwarded-for': inside,
        'x-real-ip': inside,
        forwarded: `for=${inside}`,
      };
      const answer = await limited.get('/v1/messages', { remoteAddress: outside, headers });
      expect(answer.status).toBe(403);
    });

    it('are checked before the permission, so that a thief learns nothing of it', async () => {
      const limited = await apiWith({ ipRanges: [inside] }, { role: 'viewer' });
      const answers = await Promise.all([
        limited.get('/v1/messages', { remoteAddress: outside }),
        limited.post('/v1/api-keys', {}, { remoteAddress: outside }),
      ]);
      expect(answers[0]?.body).toEqual(answers[1]?.body);
    });

    it('hold for IPv4 on a listener that speaks IPv6 too', async () => {
      const authenticator = createAuthenticator(test.app);
      const http = { ...test.app.config.http, host: '::' };
      const app = { ...test.app, config: { ...test.app.config, http } };
      const server = createHttpServer(app, {
        routes,
        authenticate: (plaintext) => authenticator.authenticate(plaintext),
        isQueueRunning: () => true,
      });
      const { port } = new URL((await server.listen()).url);
      const ask = (key: string) =>
        new Promise<number | undefined>((resolve, reject) => {
          const url = `http://127.0.0.1:${port}/v1/messages`;
          httpRequest(url, { headers: { 'x-api-key': key }, agent: false }, (response) => {
            response.resume();
            resolve(response.statusCode);
          })
            .on('error', reject)
            .end();
        });
      try {
        const here = await make({ ipRanges: ['127.0.0.0/8'] });
        const elsewhere = await make({ ipRanges: ['::/0', '203.0.113.0/24'] });
        expect(await ask(here.key ?? '')).toBe(200);
        expect(await ask(elsewhere.key ?? '')).toBe(403);
      } finally {
        await server.close();
      }
    });
  });

  describe('on the sender', () => {
    beforeAll(async () => {
      for (const domain of ['example.com', 'example.org', 'mail.example.com']) {
        const { id } = await addDomain(test.app, test.operator, { domain, dkim: 'ed25519' });
        await verifyDomain(test.app, test.operator, id, { force: true });
      }
      await createSender(test.app, test.operator, { email: 'hello@example.com', isDefault: true });
    });

    async function sendFrom(limited: HttpApi, email: string | null) {
      const from = email === null ? {} : { from: { email } };
      return limited.post<Message & { _tag?: string; message?: string }>(
        '/v1/messages',
        payload({}, from),
      );
    }

    it.each<[Constraints, string | null, boolean]>([
      [{ senders: ['hello@example.com'] }, 'hello@example.com', true],
      [{ senders: ['hello@example.com'] }, 'HELLO@Example.COM', true],
      [{ senders: ['hello@example.com'] }, null, true],
      [{ senders: ['hello@example.com'] }, 'other@example.com', false],
      [{ senders: ['other@example.com'] }, null, false],
      [{ domains: ['example.com'] }, 'anyone@example.com', true],
      [{ domains: ['example.com'] }, 'anyone@example.org', false],
      [{ domains: ['example.com'] }, 'anyone@mail.example.com', false],
      [{ domains: ['mail.example.com'] }, 'anyone@example.com', false],
      [{ domains: ['example.com'], senders: ['a@example.org'] }, 'a@example.org', true],
      [{ domains: ['example.com'], senders: ['a@example.org'] }, 'b@example.com', true],
      [{ domains: ['example.com'], senders: ['a@example.org'] }, 'b@example.org', false],
      [{ ipRanges: ['127.0.0.1'] }, 'anyone@example.org', true],
    ])('with %j, mail from %s is accepted: %s', async (constraints, email, expected) => {
      const answer = await sendFrom(await apiWith(constraints, { role: 'sender' }), email);
      if (expected) {
        expect(answer.status).toBe(201);
      } else {
        expect([answer.status, answer.body._tag]).toEqual([403, 'ForbiddenError']);
        expect(answer.body.message).toContain(email ?? 'hello@example.com');
      }
    });

    it('refuse one send of a batch and accept its neighbours', async () => {
      const limited = await apiWith({ domains: ['example.com'] });
      const answers = await Promise.all([
        sendFrom(limited, 'a@example.com'),
        sendFrom(limited, 'a@example.org'),
        sendFrom(api, 'a@example.org'),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([201, 403, 201]);
    });

    it('do not make an unverified domain usable', async () => {
      const limited = await apiWith({ domains: ['example.net'] });
      const answer = await sendFrom(limited, 'a@example.net');
      expect([answer.status, answer.body._tag]).toEqual([403, 'ForbiddenError']);
    });
  });

  describe('of a key made or changed by a key', () => {
    it.each<[string, Constraints | null, Constraints | null, boolean]>([
      ['none by none', null, null, true],
      ['any by none', null, { ipRanges: ['10.0.0.0/8'] }, true],
      ['none by any', { ipRanges: ['10.0.0.0/8'] }, null, false],
      ['the same', { ipRanges: ['10.0.0.0/8'] }, { ipRanges: ['10.0.0.0/8'] }, true],
      ['a part', { ipRanges: ['10.0.0.0/8'] }, { ipRanges: ['10.1.0.0/16', '10.2.0.1'] }, true],
      ['a whole', { ipRanges: ['10.0.0.0/8'] }, { ipRanges: ['0.0.0.0/0'] }, false],
      [
        'one in, one out',
        { ipRanges: ['10.0.0.0/8'] },
        { ipRanges: ['10.0.0.1', '11.0.0.1'] },
        false,
      ],
      ['another kind', { ipRanges: ['10.0.0.0/8'] }, { domains: ['example.com'] }, false],
      ['another family', { ipRanges: ['0.0.0.0/0'] }, { ipRanges: ['::/0'] }, false],
      ['a sender of its own', { senders: ['a@b.example'] }, { senders: ['A@B.example'] }, true],
      ['another sender', { senders: ['a@b.example'] }, { senders: ['b@b.example'] }, false],
      ['the domain of its sender', { senders: ['a@b.example'] }, { domains: ['b.example'] }, false],
      ['a sender of its domain', { domains: ['b.example'] }, { senders: ['a@b.example'] }, true],
      ['a subdomain', { domains: ['b.example'] }, { domains: ['a.b.example'] }, false],
      ['an address range alone', { domains: ['b.example'] }, { ipRanges: ['10.0.0.1'] }, false],
      [
        'both of two',
        { domains: ['b.example'], ipRanges: ['10.0.0.0/8'] },
        { domains: ['b.example'], ipRanges: ['10.0.0.1'] },
        true,
      ],
      [
        'one of two',
        { domains: ['b.example'], ipRanges: ['10.0.0.0/8'] },
        { ipRanges: ['10.0.0.1'] },
        false,
      ],
    ])(
      'are never looser than those of the maker: %s, %j makes %j: %s',
      async (_what, own, wanted, expected) => {
        const by = await callerWith(own);
        const making = make(wanted, {}, by);
        if (expected) await expect(making).resolves.toMatchObject({ isActive: true });
        else await expect(making).rejects.toMatchObject({ _tag: 'ForbiddenError' });
      },
    );

    it('are compared at rotation too, which returns a plaintext', async () => {
      const free = await make(null, { role: 'sender' });
      const by = await callerWith({ ipRanges: ['10.0.0.0/8'] });
      await expect(rotateKey(test.app, by, free.id)).rejects.toMatchObject({ status: 403 });
      expect((await getKey(test.app, test.caller, free.id)).isActive).toBe(true);
    });

    it('may be tightened, never loosened', async () => {
      const own = { ipRanges: ['10.0.0.0/8'] };
      const by = await callerWith(own);
      const target = await make({ ipRanges: ['10.0.0.0/9'] }, { role: 'sender' });
      for (const id of [target.id, by.keyId ?? '']) {
        for (const constraints of [null, { ipRanges: ['0.0.0.0/0'] }]) {
          await expect(updateKey(test.app, by, id, { constraints })).rejects.toMatchObject({
            _tag: 'ForbiddenError',
          });
        }
      }
      const tighter = { constraints: { ipRanges: ['10.0.0.1/32'] } };
      expect(await updateKey(test.app, by, target.id, tighter)).toMatchObject(tighter);
    });

    it('cannot be changed by a key that could not have made the target', async () => {
      const by = await callerWith({ ipRanges: ['10.0.0.0/8'] });
      const free = await make(null, { role: 'sender' });
      const change = { constraints: { ipRanges: ['10.0.0.1/32'] } };
      await expect(updateKey(test.app, by, free.id, change)).rejects.toMatchObject({ status: 403 });
      const small = await callerWith(null, { permissions: { keys: ['write'] } });
      await expect(updateKey(test.app, small, free.id, change)).rejects.toMatchObject({
        status: 403,
      });
      expect((await getKey(test.app, test.caller, free.id)).constraints).toBeNull();
    });

    it('are compared with the present constraints of the maker, not earlier ones', async () => {
      const by = await callerWith(null);
      const constraints = { ipRanges: ['10.0.0.0/8'] };
      await updateKey(test.app, test.operator, by.keyId ?? '', { constraints });
      await expect(make(null, {}, by)).rejects.toMatchObject({ _tag: 'ForbiddenError' });
    });
  });

  describe('after a change', () => {
    it('are replaced by new ones and removed by null', async () => {
      const { id } = await make({ ipRanges: ['10.0.0.0/8'], domains: ['example.com'] });
      const url = `/v1/api-keys/${id}`;
      const replaced = await api.request<ApiKey>('PATCH', url, {
        body: { constraints: { senders: ['a@example.com'] } },
      });
      expect(replaced.body.constraints).toEqual({ senders: ['a@example.com'] });
      const renamed = await api.request<ApiKey>('PATCH', url, { body: { name: 'x' } });
      expect(renamed.body.constraints).toEqual({ senders: ['a@example.com'] });
      const freed = await api.request<ApiKey>('PATCH', url, { body: { constraints: null } });
      expect(freed.body).toMatchObject({ name: 'x', constraints: null });
    });

    it('hold in this process from the next request on', async () => {
      const { id, key } = await make(null);
      const limited = api.as(key ?? '');
      expect((await limited.get('/v1/messages')).status).toBe(200);
      await updateKey(test.app, test.operator, id, { constraints: { ipRanges: [inside] } });
      expect((await limited.get('/v1/messages')).status).toBe(403);
    });

    it('hold in every daemon within a second when a command changed them', async () => {
      const { id, key } = await make(null);
      const limited = api.as(key ?? '');
      // The daemon has read all earlier changes.
      await test.clock.advance(1_000);
      expect((await limited.get('/v1/messages')).status).toBe(200);
      const command = await test.another();
      const operator = operatorOf(test.caller.organizationId);
      await updateKey(command, operator, id, { constraints: { ipRanges: [inside] } });
      await test.clock.advance(999);
      expect((await limited.get('/v1/messages')).status).toBe(403);
    });
  });
});
