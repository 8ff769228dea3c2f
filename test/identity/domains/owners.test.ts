// Two organizations and one name: who may verify it, and what the other one learns.
import { describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { importDkim } from '../../../src/identity/domains/dkim-change.ts';
import { deleteDomain } from '../../../src/identity/domains/domains.ts';
import { checkDueDomains, verifyDomain } from '../../../src/identity/domains/verification.ts';
import { createMailbox } from '../../../src/identity/mailboxes/mailboxes.ts';
import { resolveSender } from '../../../src/identity/senders/resolve.ts';
import { enableTracking } from '../../../src/outbound/tracking/custom/hosts.ts';
import { ConflictError, ForbiddenError } from '../../../src/platform/errors.ts';
import { stores } from '../../support/command.ts';
import { meetInWrites } from '../../support/meeting-writes.ts';
import { dayMs, name, nameWorld } from './name-world.ts';

describe.each(stores)('two organizations with one name, on %s', (store) => {
  const test = nameWorld(store);

  it('verify it one after the other: the second gets a 409 that names nobody', async () => {
    expect((await test.verify(test.caller, test.ours)).status).toBe('verified');
    const refusal = await test.verify(test.second, test.theirs).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(ConflictError);
    const { message } = refusal as Error;
    expect(message).toContain(`${name} is in use`);
    for (const secret of [test.caller.organizationId, test.ours.id, 'default', 'Default']) {
      expect(message).not.toContain(secret);
    }
    expect(await test.statusOf(test.second, test.theirs)).toBe('pending');
    expect((await test.verify(test.caller, test.ours)).status).toBe('verified');
  });

  it('cannot both verify it at once', async () => {
    meetInWrites(test.app.store, 2);
    const both = await Promise.allSettled([
      test.verify(test.caller, test.ours),
      test.verify(test.second, test.theirs),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const statuses = [
      await test.statusOf(test.caller, test.ours),
      await test.statusOf(test.second, test.theirs),
    ];
    expect(statuses.sort()).toEqual(['pending', 'verified']);
  });

  it('are told apart by the operator too', async () => {
    await test.verify(test.caller, test.ours);
    const operator = operatorOf(test.second.organizationId);
    const forced = verifyDomain(test.app, operator, test.theirs.id, { force: true });
    await expect(forced).rejects.toThrow(`${name} is in use`);
  });

  it('hand it over: once the first fails or deletes it, the schedule verifies the second', async () => {
    await test.verify(test.caller, test.ours);
    await expect(test.verify(test.second, test.theirs)).rejects.toThrow(ConflictError);
    test.publish(test.theirs);
    for (let passed = 0; passed < 5 * dayMs; passed += 3_600_000) {
      await test.clock.advance(3_600_000);
      await checkDueDomains(test.app);
    }
    expect(await test.statusOf(test.caller, test.ours)).toBe('failed');
    expect(await test.statusOf(test.second, test.theirs)).toBe('verified');
    await deleteDomain(test.app, test.second, test.theirs.id);
    test.publish(test.ours);
    expect((await test.verify(test.caller, test.ours)).status).toBe('verified');
  });

  it('receive, track and send only where it is verified', async () => {
    await test.verify(test.caller, test.ours);
    const { app } = test;
    const mailbox = { slug: 'hello', address: `hello@${name}` };
    const made = await createMailbox(app, test.caller, mailbox);
    expect(made.primaryAddress).toBe(`hello@${name}`);
    for (const attempt of [
      () => createMailbox(app, test.second, mailbox),
      () => enableTracking(app, test.second, test.theirs.id, { label: 'links' }),
    ]) {
      const refusal = await attempt().catch((error: Error) => error);
      expect(refusal).toBeInstanceOf(ConflictError);
      expect((refusal as Error).message).toContain('not verified');
    }
    const from = { email: `a@${name}` };
    await expect(resolveSender(app.store.db, test.second.organizationId, from)).rejects.toThrow(
      ForbiddenError,
    );
    const resolved = await resolveSender(app.store.db, test.caller.organizationId, from);
    expect(resolved.domainId).toBe(test.ours.id);
  });

  it('may use the same selector for their own keys', async () => {
    const { privateKey } = await import('node:crypto').then(({ generateKeyPairSync }) =>
      generateKeyPairSync('ed25519'),
    );
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    for (const [caller, { id }] of [
      [test.caller, test.ours],
      [test.second, test.theirs],
    ] as const) {
      await importDkim(test.app, caller, id, { selector: 'mail', privateKey: pem });
    }
  });
});
