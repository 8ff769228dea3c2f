// Two organizations and one name: who may verify it, and what the other one learns.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { importDkim } from '../../../src/identity/domains/dkim-change.ts';
import { addDomain, deleteDomain, getDomain } from '../../../src/identity/domains/domains.ts';
import type { Domain } from '../../../src/identity/domains/schema.ts';
import { checkDueDomains, verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { resolveSender } from '../../../src/identity/senders/resolve.ts';
import { enableTracking } from '../../../src/outbound/tracking/custom/hosts.ts';
import { ConflictError, ForbiddenError } from '../../../src/platform/errors.ts';
import { stores } from '../../support/command.ts';
import { meetInWrites } from '../../support/meeting-writes.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { startZone, type Zone } from './zone.ts';

const name = 'acme.example';
const day = 86_400_000;

describe.each(stores)('two organizations with one name, on %s', (store) => {
  let test: TestApp;
  let zone: Zone;
  let second: Caller;
  let ours: Domain;
  let theirs: Domain;
  beforeEach(async () => {
    zone = await startZone();
    test = await testApp({
      store,
      config: { delivery: { hostname: 'mail.host.example' }, dns: { servers: [zone.server] } },
    });
    const { id } = await createOrganization(test.app, { name: 'Second GmbH', plan: 'free' });
    second = { ...test.caller, organizationId: id };
    ours = await addDomain(test.app, test.caller, { domain: name });
    theirs = await addDomain(test.app, second, { domain: name });
    publish(ours, theirs);
  });
  afterEach(async () => {
    await test.close();
    await zone.close();
  });

  /** Publishes the records of these domains beside each other. */
  function publish(...some: readonly Domain[]) {
    zone.records.clear();
    for (const { type, name: at, value } of some.flatMap(({ dnsRecords }) => dnsRecords)) {
      const key = `${type} ${at}`;
      const before = zone.records.get(key) ?? [];
      zone.records.set(key, [...before.filter((one) => one !== value), value]);
    }
  }
  const verify = (caller: Caller, { id }: Domain) => verifyDomain(test.app, caller, id);
  const statusOf = async (caller: Caller, { id }: Domain) =>
    (await getDomain(test.app, caller, id)).status;

  it('verify it one after the other: the second gets a 409 that names nobody', async () => {
    expect((await verify(test.caller, ours)).status).toBe('verified');
    const refusal = await verify(second, theirs).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(ConflictError);
    const { message } = refusal as Error;
    expect(message).toContain(`${name} is in use`);
    for (const secret of [test.caller.organizationId, ours.id, 'default', 'Default']) {
      expect(message).not.toContain(secret);
    }
    expect(await statusOf(second, theirs)).toBe('pending');
    expect((await verify(test.caller, ours)).status).toBe('verified');
  });

  it('cannot both verify it at once', async () => {
    meetInWrites(test.app.store, 2);
    const both = await Promise.allSettled([verify(test.caller, ours), verify(second, theirs)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const statuses = [await statusOf(test.caller, ours), await statusOf(second, theirs)];
    expect(statuses.sort()).toEqual(['pending', 'verified']);
  });

  it('are told apart by the operator too', async () => {
    await verify(test.caller, ours);
    const operator = operatorOf(second.organizationId);
    const forced = verifyDomain(test.app, operator, theirs.id, { force: true });
    await expect(forced).rejects.toThrow(`${name} is in use`);
  });

  it('hand it over: once the first fails or deletes it, the schedule verifies the second', async () => {
    await verify(test.caller, ours);
    await expect(verify(second, theirs)).rejects.toThrow(ConflictError);
    publish(theirs);
    for (let passed = 0; passed < 5 * day; passed += 3_600_000) {
      await test.clock.advance(3_600_000);
      await checkDueDomains(test.app);
    }
    expect(await statusOf(test.caller, ours)).toBe('failed');
    expect(await statusOf(second, theirs)).toBe('verified');
    await deleteDomain(test.app, second, theirs.id);
    publish(ours);
    expect((await verify(test.caller, ours)).status).toBe('verified');
  });

  it('receive, track and send only where it is verified', async () => {
    await verify(test.caller, ours);
    const { app } = test;
    const mailbox = { slug: 'hello', address: `hello@${name}` };
    const made = await createMailbox(app, test.caller, mailbox);
    expect(made.primaryAddress).toBe(`hello@${name}`);
    for (const attempt of [
      () => createMailbox(app, second, mailbox),
      () => enableTracking(app, second, theirs.id, { label: 'links' }),
    ]) {
      const refusal = await attempt().catch((error: Error) => error);
      expect(refusal).toBeInstanceOf(ConflictError);
      expect((refusal as Error).message).toContain('not verified');
    }
    const from = { email: `a@${name}` };
    await expect(resolveSender(app.store.db, second.organizationId, from)).rejects.toThrow(
      ForbiddenError,
    );
    const resolved = await resolveSender(app.store.db, test.caller.organizationId, from);
    expect(resolved.domainId).toBe(ours.id);
  });

  it('may use the same selector for their own keys', async () => {
    const { privateKey } = await import('node:crypto').then(({ generateKeyPairSync }) =>
      generateKeyPairSync('ed25519'),
    );
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    for (const [caller, { id }] of [
      [test.caller, ours],
      [second, theirs],
    ] as const) {
      await importDkim(test.app, caller, id, { selector: 'mail', privateKey: pem });
    }
  });
});
