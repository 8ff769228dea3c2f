// A name that changes hands: its mail, its addresses, its senders and its tracking host, before and
// after.
import { beforeEach, describe, expect, it } from 'vitest';
import { identityChecks } from '../../../src/doctor/identity.ts';
import { listAudit } from '../../../src/history/audit/audit.ts';
import { listLog } from '../../../src/history/events/log.ts';
import { deleteDomain, getDomain } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { enableCatchAll } from '../../../src/identity/mailboxes/catch-all.ts';
import {
  addAddress,
  createMailbox,
  getMailbox,
} from '../../../src/identity/mailboxes/mailboxes.ts';
import { isLocalAddress } from '../../../src/identity/mailboxes/receivers.ts';
import type { Mailbox } from '../../../src/identity/mailboxes/schema.ts';
import { senders } from '../../../src/identity/senders/queries.ts';
import { resolveSender } from '../../../src/identity/senders/resolve.ts';
import { createSender, getSender } from '../../../src/identity/senders/senders.ts';
import { resolveAddressee } from '../../../src/inbox/receiving/resolve.ts';
import {
  proveByPage,
  resendProof,
  verifySender,
} from '../../../src/outbound/sending/sender-proof/prove.ts';
import { enableTracking, getTracking } from '../../../src/outbound/tracking/custom/hosts.ts';
import { hashOfToken } from '../../../src/platform/runtime/tokens.ts';
import { stores } from '../../support/command.ts';
import { dayMs, name, nameWorld } from './name-world.ts';

describe.each(stores)('a name that changes hands, on %s', (store) => {
  const test = nameWorld(store);
  let desk: Mailbox;
  /** The first mailbox of the organization that runs the service: it gets mail for postmaster. */
  let operators: string;
  beforeEach(async () => {
    const { app, operator, ours } = test;
    const postmaster = await resolveAddressee(app, 'postmaster@sandbox.test');
    operators = postmaster.kind === 'mailbox' ? postmaster.mailboxId : '';
    await test.verify(operator, ours);
    desk = await createMailbox(app, operator, { slug: 'desk', domain: name });
    await enableCatchAll(app, operator, { domainId: ours.id, mailboxId: desk.id });
    await enableTracking(app, operator, ours.id, { label: 'links' });
  });

  /** Answers RCPT for an address: the id of the mailbox, or the code of the refusal. */
  async function answer(localPart: string): Promise<string | number> {
    const found = await resolveAddressee(test.app, `${localPart}@${name}`);
    if (found.kind === 'refused') return found.code;
    return found.kind === 'mailbox' ? found.mailboxId : found.kind;
  }
  const answers = () => Promise.all(['desk', 'desk+x', 'nobody', 'postmaster'].map(answer));
  const maySend = (organizationId: string, localPart: string) =>
    resolveSender(test.app.store.db, organizationId, { email: `${localPart}@${name}` }).then(
      () => true,
      () => false,
    );
  /** Lets the second organization verify the name after the first one lost it. */
  async function handOver() {
    await test.fail();
    test.publish(test.theirs);
    await test.verify(test.second, test.theirs);
  }
  const finding = async () => {
    const check = identityChecks.find((one) => one.name === 'domains');
    return (await check?.look({ app: test.app } as never))?.found;
  };

  it('belongs to the organization that has verified it', async () => {
    expect(await answers()).toEqual([desk.id, desk.id, desk.id, desk.id]);
    expect(await maySend(test.operator.organizationId, 'desk')).toBe(true);
  });

  describe('with nobody verified', () => {
    it('leaves the mail to its last owner while nobody else has registered it', async () => {
      await deleteDomain(test.app, test.second, test.theirs.id);
      await test.fail();
      expect(await test.statusOf(test.operator, test.ours)).toBe('failed');
      expect(await answers()).toEqual([desk.id, desk.id, desk.id, desk.id]);
      expect(await maySend(test.operator.organizationId, 'desk')).toBe(false);
      expect(await finding()).toContain(`${name} (failed, still receives mail)`);
    });

    it('defers all of its mail while another organization has registered it too', async () => {
      await test.fail();
      expect(await answers()).toEqual([450, 450, 450, 450]);
      expect(await isLocalAddress(test.app.store.db, `desk@${name}`)).toBe(true);
      expect(await finding()).toContain(`${name} (failed, its mail is deferred)`);
    });

    it('has no mail without a last owner among its organizations', async () => {
      await deleteDomain(test.app, test.operator, test.ours.id);
      expect(await answers()).toEqual([550, 550, 550, 550]);
    });
  });

  describe('verified by another organization', () => {
    it('has its mailboxes and its catch-all alone', async () => {
      await handOver();
      const { app, second, theirs } = test;
      expect(await answers()).toEqual([550, 550, 550, operators]);
      const made = await createMailbox(app, second, { slug: 'desk', domain: name });
      expect(await answers()).toEqual([made.id, made.id, 550, made.id]);
      await enableCatchAll(app, second, { domainId: theirs.id, mailboxId: made.id });
      expect(await answer('nobody')).toBe(made.id);
      await enableTracking(app, second, theirs.id, { label: 'links' });
      expect(await getTracking(app, second, theirs.id)).toMatchObject({ enabled: true });
    });

    it('is lost to its former owner at that instant, with a record of each loss', async () => {
      await handOver();
      const { app, operator, ours } = test;
      const lost = await getMailbox(app, operator, desk.id);
      expect(lost).toMatchObject({ addresses: [], primaryAddress: `desk@${name}` });
      const domain = await getDomain(app, operator, ours.id);
      expect(domain).toMatchObject({ status: 'failed', verifiedAt: null });
      expect(domain.catchAll).toEqual({ enabled: false, mailboxId: null });
      expect(await getTracking(app, operator, ours.id)).toMatchObject({ enabled: false });
      const { items } = await listAudit(app, operator, { limit: 20 });
      const done = items
        .map(({ action }) => action)
        .filter((one) => !/created|added|enabled/.test(one));
      expect(done.sort()).toEqual([
        'domain.catch-all-disabled',
        'mailbox.updated',
        'tracking.disabled',
      ]);
      const log = await listLog(app, operator, { limit: 20, order: 'desc', subject: desk.id });
      expect(log.items.map(({ type }) => type)).toContain('mailbox.updated');
    });

    it('takes the addresses away before their rows are deleted', async () => {
      const { app } = test;
      const { nameReleases } = app.hooks;
      Object.assign(app, { hooks: { ...app.hooks, nameReleases: [] } });
      await handOver();
      expect(await answers()).toEqual([550, 550, 550, operators]);
      await deleteDomain(app, test.second, test.theirs.id);
      expect(await answers()).toEqual([550, 550, 550, 550]);
      Object.assign(app, { hooks: { ...app.hooks, nameReleases } });
    });

    it('deletes what an earlier check left behind', async () => {
      const { app } = test;
      const { nameReleases } = app.hooks;
      Object.assign(app, { hooks: { ...app.hooks, nameReleases: [] } });
      await handOver();
      Object.assign(app, { hooks: { ...app.hooks, nameReleases } });
      const again = () => createMailbox(app, test.second, { slug: 'desk', domain: name });
      await expect(again()).rejects.toMatchObject({ _tag: 'ConflictError' });
      await test.verify(test.second, test.theirs);
      const { id } = await again();
      expect(await answer('desk')).toBe(id);
    });

    it('leaves other addresses of a mailbox, the oldest as its primary one', async () => {
      const { app, operator } = test;
      await addAddress(app, operator, desk.id, { address: 'desk@sandbox.test' });
      await handOver();
      const left = await getMailbox(app, operator, desk.id);
      expect(left.primaryAddress).toBe('desk@sandbox.test');
      expect(left.addresses).toMatchObject([{ address: 'desk@sandbox.test' }]);
    });

    it('gives a mailbox without addresses its next address as primary one', async () => {
      await handOver();
      const { app, operator } = test;
      const next = await addAddress(app, operator, desk.id, { address: 'desk@sandbox.test' });
      expect(next.primaryAddress).toBe('desk@sandbox.test');
    });

    it('is not given back when that organization leaves', async () => {
      await handOver();
      await deleteDomain(test.app, test.second, test.theirs.id);
      expect(await answers()).toEqual([550, 550, 550, 550]);
    });

    it('goes to the organization for which the operator verifies it by force', async () => {
      await test.fail();
      await verifyDomain(test.app, test.second, test.theirs.id, { force: true });
      const made = await createMailbox(test.app, test.second, { slug: 'desk', domain: name });
      expect(await answers()).toEqual([made.id, made.id, 550, made.id]);
    });
  });

  describe('with a sender that was proven by token', () => {
    const prove = async (organizationId: string, id: string) =>
      test.app.store.write((trx) => senders.update(trx, organizationId, id, { verified_at: 1 }));

    it('ends the proof for good', async () => {
      const { app, operator } = test;
      const sender = await createSender(app, operator, { email: `ceo@${name}` });
      await prove(operator.organizationId, sender.id);
      await test.fail();
      expect(await maySend(operator.organizationId, 'ceo')).toBe(true);
      test.publish(test.theirs);
      await test.verify(test.second, test.theirs);
      expect(await maySend(operator.organizationId, 'ceo')).toBe(false);
      expect(await getSender(app, operator, sender.id)).toMatchObject({
        verificationStatus: 'pending',
      });
      await deleteDomain(app, test.second, test.theirs.id);
      expect(await maySend(operator.organizationId, 'ceo')).toBe(false);
    });

    it('lets the owner alone send, even before the proof is deleted', async () => {
      const { app, operator } = test;
      await handOver();
      const sender = await createSender(app, operator, { email: `ceo@${name}` });
      await prove(operator.organizationId, sender.id);
      expect(await maySend(operator.organizationId, 'ceo')).toBe(false);
      expect(await maySend(test.second.organizationId, 'ceo')).toBe(true);
    });

    it('takes no token that was mailed before', async () => {
      const { app, operator } = test;
      await test.fail();
      const { id } = await createSender(app, operator, { email: `ceo@${name}` });
      const token = 'A'.repeat(43);
      await app.store.write((trx) =>
        senders.update(trx, operator.organizationId, id, {
          verification_token_hash: hashOfToken(token),
          proof_expires_at: app.clock.now() + dayMs,
        }),
      );
      test.publish(test.theirs);
      await test.verify(test.second, test.theirs);
      const conflict = { _tag: 'ConflictError', resource: 'sender' };
      await expect(verifySender(app, operator, id, token)).rejects.toMatchObject(conflict);
      expect(await proveByPage(app, token)).toMatchObject({ state: 'void' });
      expect(await getSender(app, operator, id)).toMatchObject({ verificationStatus: 'pending' });
    });

    it('mails no new token', async () => {
      const { app, operator } = test;
      await handOver();
      const sender = await createSender(app, operator, { email: `ceo@${name}` });
      await expect(resendProof(app, operator, sender.id)).rejects.toMatchObject({
        _tag: 'ConflictError',
        resource: 'sender',
      });
    });
  });
});
