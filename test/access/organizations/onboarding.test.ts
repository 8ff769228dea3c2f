// The onboarding review (specification 4.8, 5.6): its states, the roles that may reapply, the
// generation that guards against a stale view, and the mail of an unapproved organization.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { getPlanState } from '../../../src/access/admission/plan-state.ts';
import { createKey } from '../../../src/access/keys/keys.ts';
import {
  reapplyOnboarding,
  reviewOnboarding,
} from '../../../src/access/organizations/onboarding.ts';
import {
  createOrganization,
  getOrganization,
} from '../../../src/access/organizations/organizations.ts';
import type { Organization } from '../../../src/access/organizations/schema.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { createSender } from '../../../src/identity/senders/senders.ts';
import { otherOrganization, payload } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

type Status = Organization['onboarding']['status'];

describe.each(stores)('onboarding on %s', (store) => {
  let test: TestApp;
  let face: HttpApi;
  /** The organization of one test, its operator, and its API with the key of an admin. */
  let name: string;
  let caller: Caller;
  let api: HttpApi;
  let organizations = 0;
  beforeAll(async () => {
    test = await testApp({ store });
    face = httpApi(test);
  });
  beforeEach(async () => {
    name = `acme-${organizations++}`;
    const made = await otherOrganization(test.app, name);
    caller = made.caller;
    api = face.as(made.apiKey);
  });
  afterAll(async () => {
    await face.close();
    await test.close();
  });

  const path = '/v1/organizations/onboarding/reapply';
  const current = async () => (await getOrganization(test.app, name)).onboarding;

  /** Brings the organization to a state of generation 1 (pending: of 2). */
  async function bring(status: Status): Promise<number> {
    if (status !== 'approved') {
      await reviewOnboarding(test.app, name, { verdict: 'rejected' });
    }
    if (status === 'pending') {
      await reapplyOnboarding(test.app, caller, { expectedGeneration: 1 });
    }
    return (await current()).generation;
  }

  const steps = {
    approve: () => reviewOnboarding(test.app, name, { verdict: 'approved' }),
    reject: () => reviewOnboarding(test.app, name, { verdict: 'rejected' }),
    reapply: async () =>
      reapplyOnboarding(test.app, caller, {
        expectedGeneration: (await current()).generation,
      }),
  };

  it.each([
    ['approved', 'approve', null],
    ['approved', 'reject', ['rejected', 1]],
    ['approved', 'reapply', null],
    ['pending', 'approve', ['approved', 2]],
    ['pending', 'reject', ['rejected', 2]],
    ['pending', 'reapply', null],
    ['rejected', 'approve', ['approved', 1]],
    ['rejected', 'reject', null],
    ['rejected', 'reapply', ['pending', 2]],
  ] as const)('from %s by %s becomes %j', async (from, step, to) => {
    await bring(from);
    const before = await current();
    if (to === null) {
      const conflict = { _tag: 'ConflictError', resource: 'organization' };
      await expect(steps[step]()).rejects.toMatchObject(conflict);
      expect(await current()).toEqual(before);
    } else {
      const [status, generation] = to;
      expect((await steps[step]()).onboarding).toEqual({ status, generation });
      expect(await current()).toEqual({ status, generation });
    }
  });

  it('refuses another generation than the present one', async () => {
    const generation = await bring('rejected');
    for (const expectedGeneration of [generation - 1, generation + 1]) {
      if (expectedGeneration < 1) continue;
      const conflict = { _tag: 'ConflictError', message: expect.stringContaining('generation 1') };
      const reapplied = reapplyOnboarding(test.app, caller, { expectedGeneration });
      await expect(reapplied).rejects.toMatchObject(conflict);
      const verdict = { verdict: 'approved', expectedGeneration } as const;
      await expect(reviewOnboarding(test.app, name, verdict)).rejects.toMatchObject(conflict);
    }
    await reapplyOnboarding(test.app, caller, { expectedGeneration: generation });
    // A verdict on an earlier application.
    const stale = { verdict: 'rejected', expectedGeneration: generation } as const;
    await expect(reviewOnboarding(test.app, name, stale)).rejects.toMatchObject({
      message: 'The onboarding is at generation 2 (pending), not 1: read it again',
    });
    expect(await current()).toEqual({ status: 'pending', generation: 2 });
  });

  it('takes one of several concurrent applications', async () => {
    await bring('rejected');
    const another = await test.another();
    const tries = await Promise.allSettled(
      [test.app, another, test.app, another].map((app) =>
        reapplyOnboarding(app, caller, { expectedGeneration: 1 }),
      ),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await current()).toEqual({ status: 'pending', generation: 2 });
  });

  it('begins pending for an organization created so', async () => {
    const input = { name: 'newcomer', plan: 'free', onboarding: 'pending' } as const;
    expect((await createOrganization(test.app, input)).onboarding).toEqual({
      status: 'pending',
      generation: 1,
    });
  });

  describe('over HTTP', () => {
    it.each([
      ['owner', 200, null],
      ['admin', 200, null],
      ['developer', 403, 'This key lacks the permission organization:write'],
      ['sender', 403, 'This key lacks the permission organization:write'],
      ['viewer', 403, 'This key lacks the permission organization:write'],
      ['custom', 403, 'Only an owner or admin of the organization reapplies for its review'],
    ] as const)('answers reapplying as %s with %d', async (role, status, message) => {
      await bring('rejected');
      const permissions = { organization: ['read', 'write'] };
      const { key } = await createKey(
        test.app,
        caller,
        role === 'custom' ? { permissions } : { role },
      );
      const body = { expectedGeneration: 1 };
      const answer = await api.as(key ?? '').post<Record<string, unknown>>(path, body);
      expect(answer.status).toBe(status);
      if (message === null) {
        expect(answer.body.onboarding).toEqual({ status: 'pending', generation: 2 });
      } else {
        expect(answer.body).toEqual({ _tag: 'ForbiddenError', message });
      }
      expect((await current()).status).toBe(message === null ? 'pending' : 'rejected');
    });

    it('answers a wrong generation or state with 409', async () => {
      expect(await api.post(path, { expectedGeneration: 1 })).toMatchObject({
        status: 409,
        body: {
          _tag: 'ConflictError',
          resource: 'organization',
          message: 'The onboarding is approved: only a rejected organization reapplies',
        },
      });
      await bring('rejected');
      expect(await api.post(path, { expectedGeneration: 2 })).toMatchObject({
        status: 409,
        body: { message: 'The onboarding is at generation 1 (rejected), not 2: read it again' },
      });
    });

    it.each([
      [{}, 'expectedGeneration'],
      [{ expectedGeneration: '1' }, 'expectedGeneration'],
      [{ expectedGeneration: 0 }, 'expectedGeneration'],
      [{ expectedGeneration: 1.5 }, 'expectedGeneration'],
      [{ expectedGeneration: 1, note: 'two\nlines' }, 'note'],
      [{ expectedGeneration: 1, status: 'approved' }, 'status'],
    ])('answers %j with a 422 that names %s', async (body, field) => {
      const answer = await api.post<{ fields?: object }>(path, body);
      expect([answer.status, Object.keys(answer.body.fields ?? {})]).toEqual([422, [field]]);
    });

    it('changes the organization of the key alone', async () => {
      const other = await otherOrganization(test.app, `other-${name}`);
      const { organizationId } = other.caller;
      for (const id of [name, organizationId]) {
        await reviewOnboarding(test.app, id, { verdict: 'rejected' });
      }
      expect((await api.as(other.apiKey).post(path, { expectedGeneration: 1 })).status).toBe(200);
      expect(await current()).toEqual({ status: 'rejected', generation: 1 });
      const { body } = await api.as(other.apiKey).get<Organization>('/v1/organizations/current');
      expect(body).toEqual(await getOrganization(test.app, organizationId));
      expect(body.onboarding).toEqual({ status: 'pending', generation: 2 });
    });
  });

  describe('the mail of an organization', () => {
    let own: string;
    let domain: string;
    let sender: HttpApi;
    beforeEach(async () => {
      await bring('pending');
      domain = `${name}.example`;
      own = `${name}@${domain}`;
      const { id } = await addDomain(test.app, caller, { domain, dkim: 'ed25519' });
      await verifyDomain(test.app, caller, id, { force: true });
      await createSender(test.app, caller, { email: `hello@${domain}` });
      const mailbox = { slug: 'office', displayName: null, address: own };
      await createMailbox(test.app, caller, mailbox);
      const { key } = await createKey(test.app, caller, { role: 'sender' });
      sender = api.as(key ?? '');
    });

    const sendTo = (to: string, more: Record<string, unknown> = {}) =>
      sender.post<Record<string, unknown>>(
        '/v1/messages',
        payload({}, { to: [{ email: to }], ...more }),
      );

    const pendingText =
      'The onboarding review of this organization is pending: until it is approved it sends only to its own mailboxes and @simulator.test, not to';
    const rejectedText =
      'The onboarding review rejected this organization: it sends only to its own mailboxes and @simulator.test, not to';

    it('reaches its own mailboxes and the simulator alone while pending', async () => {
      for (const to of [own.toUpperCase(), 'delivered@simulator.test']) {
        expect((await sendTo(to)).status).toBe(201);
      }
      // The second is a mailbox here, of another organization.
      for (const to of ['ada@example.com', 'inbox@sandbox.test', `nobody@${domain}`]) {
        const { status, body } = await sendTo(to);
        expect([status, body]).toEqual([
          403,
          { _tag: 'ForbiddenError', message: `${pendingText} ${to}` },
        ]);
      }
      for (const kind of ['cc', 'bcc']) {
        const { status, body } = await sendTo(own, { [kind]: [{ email: 'ada@example.com' }] });
        expect([status, body.message]).toEqual([403, `${pendingText} ada@example.com`]);
      }
    });

    it('is refused after a rejection with the generation for reapplying', async () => {
      await reviewOnboarding(test.app, name, { verdict: 'rejected' });
      expect((await sendTo(own)).status).toBe(201);
      const { status, body } = await sendTo('ada@example.com');
      const words = `${rejectedText} ada@example.com. An owner or admin reapplies with POST ${path} `;
      expect([status, body.message]).toEqual([403, `${words}{"expectedGeneration":2}`]);
    });

    it('reaches everybody after an approval, and its earlier reach after the next rejection', async () => {
      await reviewOnboarding(test.app, name, { verdict: 'approved' });
      expect((await sendTo('ada@example.com')).status).toBe(201);
      await reviewOnboarding(test.app, name, { verdict: 'rejected' });
      expect((await sendTo('ada@example.com')).status).toBe(403);
      await reapplyOnboarding(test.app, caller, { expectedGeneration: 2 });
      expect((await sendTo('ada@example.com')).body.message).toContain('is pending');
    });

    it('is described in the plan with the binding rule and the command that lifts it', async () => {
      expect(await getPlanState(test.app, name)).toMatchObject({
        binds:
          'The onboarding is pending: mail goes only to its own mailboxes and @simulator.test.',
        liftedBy: `svc orgs review ${name} --approve`,
      });
    });
  });
});
