// Mail of the sandbox stays on this machine, and so does mail with links that only this machine can
// open.
import { describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../../src/core/config/config.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { findSendingDomain } from '../../../src/identity/domains/queries.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import type { TestApp } from '../../support/test-app.ts';

const body = (to: string, more: object = {}) => ({
  channel: 'email',
  to: [{ email: to }],
  email: { subject: 'Hello', text: 'It works.' },
  ...more,
});
const html = { subject: 'Hello', html: '<p><a href="https://example.org/">Read</a></p>' };
const direct: ConfigInput = { delivery: { mode: 'direct' } };
const relayAt = (host: string): ConfigInput => ({ delivery: { mode: 'relay', relay: { host } } });
const routed: ConfigInput = { delivery: { routes: [{ match: 'example.net', via: 'direct' }] } };
const outside = 'ada@example.net';

async function verifiedDomain({ app, operator }: TestApp, domain = 'acme.example'): Promise<void> {
  const { id } = await addDomain(app, operator, { domain, dkim: 'ed25519' });
  await verifyDomain(app, operator, id, { force: true });
}

describe.each(stores)('mail of the sandbox on %s', (store) => {
  describe.each([
    ['direct mode', direct],
    ['relay mode', relayAt('smtp.example.net')],
    ['a route', routed],
  ])('in %s', (_name, config) => {
    const { test, api } = eachApi({ store, config, keepsSandbox: true });

    it('is refused with 403 and the commands for a sender of an own domain', async () => {
      const { status, body: answer } = await api.post('/v1/messages', body(outside));
      expect(status).toBe(403);
      expect(answer).toMatchObject({
        _tag: 'ForbiddenError',
        message: expect.stringMatching(
          /^hello@sandbox\.test may not send to ada@example\.net: .*svc domains add example\.com.*svc senders create --email hello@example\.com --default/,
        ),
      });
    });

    it('is refused with 403 from a hosted mailbox', async () => {
      const sent = await api.post(
        '/v1/messages',
        body(outside, { from: { email: 'inbox@sandbox.test' } }),
      );
      expect(sent.status).toBe(403);
    });

    it('names the verified domain of the organization in its refusal', async () => {
      await verifiedDomain(test);
      const { body: answer } = await api.post('/v1/messages', body(outside));
      expect(answer).toMatchObject({
        message: expect.stringContaining('svc senders create --email hello@acme.example --default'),
      });
    });

    it('is accepted for the simulator', async () => {
      const { status } = await api.post('/v1/messages', body('delivered@simulator.test'));
      expect(status).toBe(201);
    });

    it('is accepted from a verified domain', async () => {
      await verifiedDomain(test);
      const from = { email: 'hello@acme.example' };
      expect((await api.post('/v1/messages', body(outside, { from }))).status).toBe(201);
    });

    it('is accepted once the operator has verified the sandbox by force', async () => {
      const { organizationId } = test.caller;
      const domain = await findSendingDomain(test.app.store.db, organizationId, 'sandbox.test');
      await verifyDomain(test.app, test.operator, domain?.id ?? '', { force: true });
      expect((await api.post('/v1/messages', body(outside))).status).toBe(201);
    });
  });

  describe.each(['127.0.0.1', 'localhost', '::1'])('with a relay at %s', (host) => {
    const { api } = eachApi({ store, config: relayAt(host), keepsSandbox: true });

    it('is accepted, as it stays on this machine', async () => {
      expect((await api.post('/v1/messages', body(outside))).status).toBe(201);
    });

    it('is accepted with tracked links', async () => {
      const email = { ...html, tracking: { clicks: true } };
      expect((await api.post('/v1/messages', body(outside, { email }))).status).toBe(201);
    });
  });

  describe('in capture mode', () => {
    const { api } = eachApi({ store });

    it('is accepted', async () => {
      expect((await api.post('/v1/messages', body(outside))).status).toBe(201);
    });
  });
});

describe.each(stores)('mail with links on %s', (store) => {
  const from = { email: 'hello@acme.example' };
  const tracked = (tracking: object) => body(outside, { from, email: { ...html, tracking } });

  describe('without http.publicUrl', () => {
    const { test, api } = eachApi({ store, config: direct, keepsSandbox: true });

    it.each([{ clicks: true }, { opens: true }])(
      'is refused with 422 on http.publicUrl for tracking %j',
      async (tracking) => {
        await verifiedDomain(test);
        const { status, body: answer } = await api.post('/v1/messages', tracked(tracking));
        expect(status).toBe(422);
        expect(answer).toMatchObject({
          fields: { 'http.publicUrl': [expect.stringContaining('is not set')] },
        });
      },
    );

    it('is refused with 422 on http.publicUrl for an unsubscribe group', async () => {
      await verifiedDomain(test);
      const { id } = await createGroup(test.app, test.caller, { name: 'News' });
      const email = { subject: 'Hello', text: 'Hi', unsubscribeGroupId: id };
      const { status, body: answer } = await api.post(
        '/v1/messages',
        body(outside, { from, email }),
      );
      expect(status).toBe(422);
      expect(answer).toMatchObject({
        fields: { 'http.publicUrl': [expect.stringContaining('is not set')] },
      });
    });

    it('is accepted without any link of ours', async () => {
      await verifiedDomain(test);
      const plain = tracked({ opens: false, clicks: false });
      expect((await api.post('/v1/messages', plain)).status).toBe(201);
    });

    it('is accepted for the simulator', async () => {
      await verifiedDomain(test);
      const sent = await api.post('/v1/messages', {
        ...tracked({ clicks: true }),
        to: [{ email: 'delivered@simulator.test' }],
      });
      expect(sent.status).toBe(201);
    });
  });

  describe.each([
    ['http.publicUrl', { http: { publicUrl: 'https://mail.acme.example' } }],
    ['tracking.publicUrl', { tracking: { publicUrl: 'https://t.acme.example' } }],
  ])('with %s', (_name, config) => {
    const { test, api } = eachApi({ store, config: { ...direct, ...config } });

    it('is accepted', async () => {
      await verifiedDomain(test);
      expect((await api.post('/v1/messages', tracked({ clicks: true }))).status).toBe(201);
    });
  });
});
