// Each check of a send alone, at acceptance and when scheduled mail comes due, on both stores.
// Their order is test/http/order-of-checks.test.ts; the texts of refusals are with their areas.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { revokeKey, rotateKey, updateKey } from '../../../src/access/keys/keys.ts';
import { deactivateKey } from '../../../src/access/keys/queries.ts';
import {
  reapplyOnboarding,
  reviewOnboarding,
} from '../../../src/access/organizations/onboarding.ts';
import { pauseOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { deleteDomain } from '../../../src/identity/domains/domains.ts';
import { updateSender } from '../../../src/identity/senders/senders.ts';
import { getMessage, listMessageEvents } from '../../../src/outbound/messages/messages.ts';
import { sendPayload } from '../../../src/outbound/messages/send-schema.ts';
import { sendBatch } from '../../../src/outbound/sending/batch.ts';
import { onPlan, send, usedToday, useToday } from '../../access/admission/fixtures.ts';
import {
  callerOf as callerOfInstallation,
  grant,
  installed,
  type Wanted,
} from '../../access/keys/installation-fixtures.ts';
import { stores } from '../../support/command.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import { heldWrite, payload } from '../messages/fixtures.ts';
import {
  type CheckedWorld,
  checkedWorld,
  closeMailbox,
  foreignMailboxes,
  from,
  hourMs,
  ownMailbox,
} from './checked-world.ts';

describe.each(stores)('the checks of a send on %s', (store) => {
  let world: CheckedWorld;
  beforeEach(async () => {
    world = await checkedWorld(store);
  });
  afterEach(() => world.close());

  const outside = ['ada@example.com'];
  const reject = () => reviewOnboarding(world.test.app, 'default', { verdict: 'rejected' });
  const setConstraints = (id: string, constraints: { senders: string[] } | null) =>
    updateKey(world.test.app, world.test.operator, id, { constraints });

  describe('at acceptance', () => {
    const refusal = (caller: Caller, to: readonly string[], top: Record<string, unknown> = {}) =>
      send(world.test.app, caller, {
        top: { from: { email: from }, to: to.map((email) => ({ email })), ...top },
      });

    it.each<[string, string, (caller: Caller) => Promise<unknown>]>([
      [
        'named',
        'ResourceNotFoundError',
        (caller) => refusal(caller, outside, { conversationId: 'conv_0123456789abcdefghjk' }),
      ],
      [
        'paused',
        'ForbiddenError',
        async (caller) => {
          await pauseOrganization(world.test.app, 'default', {});
          return refusal(caller, outside);
        },
      ],
      [
        'sender',
        'ForbiddenError',
        (caller) => refusal(caller, outside, { from: { email: 'me@stranger.example' } }),
      ],
      [
        'key-constraints',
        'ForbiddenError',
        (caller) => refusal({ ...caller, constraints: { senders: ['a@acme.example'] } }, outside),
      ],
      [
        'test-key',
        'ForbiddenError',
        (caller) => refusal({ ...caller, isTest: true }, [ownMailbox, ...outside]),
      ],
      [
        'onboarding',
        'ForbiddenError',
        async (caller) => {
          await reject();
          return refusal(caller, [ownMailbox, foreignMailboxes[0]]);
        },
      ],
      [
        'quota',
        'PaymentRequiredError',
        async (caller) => {
          await onPlan(world.test, 'free');
          await useToday(world.test, 999);
          return refusal(caller, [...outside, 'ADA@example.com', 'bob@example.com']);
        },
      ],
    ])('refuse a send that fails only the check %s', async (_name, tag, refused) => {
      const { caller } = await world.key();
      expect(await refusal(caller, outside)).toBeNull();
      expect(await refused(caller)).toMatchObject({ _tag: tag });
    });

    it('let a test key and an open onboarding reach local recipients', async () => {
      const { caller } = await world.key({ role: 'sender', mode: 'test' });
      const local = [ownMailbox.toUpperCase(), 'bounced@simulator.test'];
      expect(await refusal(caller, [...local, ...foreignMailboxes])).toBeNull();
      await reject();
      expect(await refusal(caller, local)).toBeNull();
    });

    it('query the store once for a batch of 100', async () => {
      const { app } = world.test;
      const { caller } = await world.key({ role: 'sender', mode: 'test' });
      await reject();
      const entries = Array.from({ length: 100 }, (_, index) => {
        const to = index % 10 === 0 ? outside : [ownMailbox];
        return sendPayload.parse(
          payload({}, { from: { email: from }, to: to.map((email) => ({ email })) }),
        );
      });
      const watched = watchQueries();
      const results = await sendBatch(app, caller, entries, null);
      const ran = watched.take();
      watched.stop();
      expect(results.filter((one) => 'message' in one)).toHaveLength(90);
      const times = (table: string) =>
        ran
          .filter(({ text }) => new RegExp(`from "${table}"`).test(text))
          .reduce((sum, query) => sum + query.times, 0);
      // One query for the test key, one for the onboarding.
      expect(times('mailbox_addresses')).toBe(2);
      // One query for the batch, which locks its quota first, and one for its sends.
      expect(times('organizations')).toBe(2);
      for (const table of ['senders', 'domains', 'blocks'])
        expect([table, times(table)]).toEqual([table, 1]);
    });
  });

  describe('when scheduled mail comes due', () => {
    async function due(id: string): Promise<string> {
      await world.pass(hourMs);
      return world.outcomeOf(id);
    }

    it('send accepted mail of any key and of the operator', async () => {
      const live = await world.key();
      const tester = await world.key({ role: 'sender', mode: 'test' });
      const ids = [
        await world.schedule(live.caller, outside),
        await world.schedule(tester.caller, foreignMailboxes),
        await world.schedule(world.test.operator, outside),
      ];
      await world.pass(hourMs);
      for (const id of ids) expect(await world.outcomeOf(id)).toBe('goes');
    });

    it('cancel mail of a revoked key with the reason, for all recipients, without use of quota', async () => {
      const { app, operator } = world.test;
      const { id: keyId, caller } = await world.key();
      const id = await world.schedule(caller, ['a@b.example', 'c@d.example']);
      await revokeKey(app, operator, keyId);
      expect(await due(id)).toBe('cancelled by key');
      const reason = `The API key ${keyId} that scheduled the message is revoked`;
      const { status, deliveries } = await getMessage(app, operator, id);
      expect(status).toBe('failed');
      expect(deliveries).toHaveLength(2);
      for (const delivery of deliveries) {
        expect(delivery).toMatchObject({
          status: 'failed',
          errorCode: 'cancelled',
          errorMessage: reason,
          attemptCount: 0,
          queuedAt: null,
        });
      }
      const events = await listMessageEvents(app, operator, id);
      expect(events.map(({ eventType, status: after }) => [eventType, after])).toEqual([
        ['scheduled', 'scheduled'],
        ['cancelled', 'failed'],
        ['cancelled', 'failed'],
      ]);
      expect(events[1]?.metadata).toMatchObject({ by: 'service', check: 'key', reason });
      expect(await usedToday(world.test)).toEqual({ emails: 0, messages: 0 });
      const { rows } = await sql<{ failed: number }>`select sum(failed) as failed from counters
        where organization_id = ${caller.organizationId}`.execute(app.store.db);
      expect(Number(rows[0]?.failed)).toBe(2);
    });

    it('leave mail of another key alone when one is revoked', async () => {
      const { app, operator } = world.test;
      const [gone, stays] = [await world.key(), await world.key()];
      const ids = [
        await world.schedule(gone.caller, outside),
        await world.schedule(stays.caller, outside),
      ];
      await revokeKey(app, operator, gone.id);
      await world.pass(hourMs);
      const outcomes = await Promise.all(ids.map((id) => world.outcomeOf(id)));
      expect(outcomes).toEqual(['cancelled by key', 'goes']);
    });

    it.each<[string, Partial<Wanted>, string]>([
      ['its permission', { permissions: ['messages:read'] }, 'This key lacks the permission'],
      ['its send mode', { sendMode: 'none' }, 'This key never sends'],
    ])('cancel mail of an installation that has lost %s', async (_what, lost, words) => {
      const wanted: Wanted = { permissions: ['messages:send'] };
      const made = await installed(world.test, wanted);
      const caller = await callerOfInstallation(world.test, made);
      if (!caller) throw new Error('the key was refused');
      expect(await due(await world.schedule(caller, outside))).toBe('goes');
      const id = await world.schedule(caller, outside);
      await grant(world.test, made, { ...wanted, ...lost });
      expect(await due(id)).toBe('cancelled by key-rights');
      const { deliveries } = await getMessage(world.test.app, world.test.operator, id);
      expect(deliveries).toMatchObject([{ errorMessage: expect.stringContaining(words) }]);
    });

    it('accept mail of a rotated key through its heirs', async () => {
      const { app, operator } = world.test;
      const { id: keyId, caller } = await world.key();
      const id = await world.schedule(caller, outside);
      const heir = await rotateKey(app, operator, keyId);
      await rotateKey(app, operator, heir.id);
      expect(await due(id)).toBe('goes');
    });

    it('apply the constraints and the revocation of the heir to a rotated key', async () => {
      const { app, operator } = world.test;
      const { id: keyId, caller } = await world.key();
      const first = await world.schedule(caller, outside);
      const heir = await rotateKey(app, operator, keyId);
      await setConstraints(heir.id, { senders: ['other@acme.example'] });
      expect(await due(first)).toBe('cancelled by key-constraints');
      await setConstraints(heir.id, null);
      const second = await world.schedule(caller, outside);
      await revokeKey(app, operator, heir.id);
      expect(await due(second)).toBe('cancelled by key');
    });

    it('send mail of an expired key', async () => {
      const expiresAt = new Date(world.test.clock.now() + hourMs / 2).toISOString();
      const { caller } = await world.key({ role: 'sender', expiresAt });
      const id = await world.schedule(caller, outside);
      expect(await due(id)).toBe('goes');
    });

    it('cancel mail under narrowed constraints only when its From is beyond them', async () => {
      const { app, operator } = world.test;
      const { id: keyId, caller } = await world.key();
      const beyond = await world.schedule(caller, outside);
      const within = await world.schedule(caller, outside, { from: { email: 'b@acme.example' } });
      await setConstraints(keyId, { senders: ['B@acme.example'] });
      await world.pass(hourMs);
      expect(await world.outcomeOf(within)).toBe('goes');
      expect(await world.outcomeOf(beyond)).toBe('cancelled by key-constraints');
      const [delivery] = (await getMessage(app, operator, beyond)).deliveries;
      expect(delivery?.errorMessage).toContain(`may not send from ${from}`);
    });

    it('ignore the addresses that a key may be used from', async () => {
      const { id: keyId, caller } = await world.key();
      const id = await world.schedule(caller, outside);
      await updateKey(world.test.app, world.test.operator, keyId, {
        constraints: { ipRanges: ['203.0.113.0/24'] },
      });
      expect(await due(id)).toBe('goes');
    });

    it('cancel mail of a deleted or inactive sender', async () => {
      const { app, operator } = world.test;
      const { caller } = await world.key();
      const inactive = await world.schedule(caller, outside);
      await updateSender(app, operator, world.senderId, { isActive: false });
      expect(await due(inactive)).toBe('cancelled by sender');
      await updateSender(app, operator, world.senderId, { isActive: true });
      const gone = await world.schedule(caller, outside);
      await deleteDomain(app, operator, world.domainId);
      expect(await due(gone)).toBe('cancelled by sender');
      const [delivery] = (await getMessage(app, operator, gone)).deliveries;
      expect(delivery?.errorMessage).toContain(`${from} may not send`);
    });

    it('cancel mail of a test key to a mailbox deleted since', async () => {
      const { caller } = await world.key({ role: 'sender', mode: 'test' });
      const id = await world.schedule(caller, foreignMailboxes);
      await closeMailbox(world.test.app, foreignMailboxes[1]);
      expect(await due(id)).toBe('cancelled by test-key');
    });

    it('cancel foreign mail after a withdrawn onboarding, and send to own mailboxes', async () => {
      const { app, caller: owner } = world.test;
      const { caller } = await world.key();
      const own = await world.schedule(caller, [ownMailbox]);
      const far = await world.schedule(caller, [ownMailbox, ...outside]);
      await reject();
      await world.pass(hourMs);
      expect(await world.outcomeOf(own)).toBe('goes');
      expect(await world.outcomeOf(far)).toBe('cancelled by onboarding');
      await reviewOnboarding(app, 'default', { verdict: 'approved' });
      const again = await world.schedule(caller, outside);
      await reject();
      await reapplyOnboarding(app, owner, { expectedGeneration: 1 });
      expect(await due(again)).toBe('cancelled by onboarding');
    });

    it.runIf(store === 'postgres')('do not wait for a change of the key', async () => {
      const { id: keyId, caller } = await world.key();
      const id = await world.schedule(caller, outside);
      const changing = await heldWrite(await world.test.another(), (trx) =>
        deactivateKey(trx, keyId),
      );
      // This would never end if reading the key locked it.
      expect(await due(id)).toBe('goes');
      await changing.commit();
    });
  });
});
