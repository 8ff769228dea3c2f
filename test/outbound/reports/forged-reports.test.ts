// Forged reports as attacks: a recipient of a copy may report on that copy alone, everybody else on
// none. Beside the attacks stand the honest reports that they imitate.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import {
  createOrganization,
  getOrganization,
} from '../../../src/access/organizations/organizations.ts';
import { rotateDkim } from '../../../src/identity/domains/dkim-change.ts';
import { addDomain, listDomains } from '../../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../../src/identity/domains/verification.ts';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import { listMessageEvents } from '../../../src/outbound/messages/messages.ts';
import { scheduledPayload } from '../../../src/outbound/messages/send-schema.ts';
import { scheduleMessage } from '../../../src/outbound/sending/schedule/schedule.ts';
import { deleteBlock, listBlocks } from '../../../src/people/blocks/blocks.ts';
import { stores } from '../../support/command.ts';
import { burstOverMs, firstDelivery, send, timeline } from '../../support/delivery.ts';
import { leap } from '../../support/virtual-clock.ts';
import {
  arf,
  arrives as arrivesAt,
  type Copy,
  dsn,
  fbl,
  fieldsOf,
  jmrp,
  type ReportWorld,
  startReportWorld,
  without,
} from './report-fixture.ts';

const dayMs = 86_400_000;
const minuteMs = 60_000;
const [ada, bob, carl, eve] = ['ada@a.test', 'bob@a.test', 'carl@b.test', 'eve@a.test'];
const tokenField = 'X-Service-Token';

describe.each(stores)('forged reports on %s', (store) => {
  let shared: ReportWorld;
  let world: ReportWorld;

  beforeAll(async () => {
    shared = await startReportWorld({ store });
  });
  beforeEach(() => {
    world = shared;
  });
  afterEach(async () => {
    const { items } = await listBlocks(shared.app, shared.caller, { page: 1, limit: 100 });
    for (const { id } of items) await deleteBlock(shared.app, shared.caller, id);
  });
  afterAll(() => shared.close());

  /**
   * Runs tests that leave traces in a world of their own: a pause, a set clock, another
   * organization.
   */
  function inWorldOfTheirOwn(tests: () => void): void {
    describe('in their own world', () => {
      beforeEach(async () => {
        world = await startReportWorld({ store });
      });
      afterEach(() => world.close());
      tests();
    });
  }

  const arrives = (address: string, raw: Buffer, mailFrom?: string) =>
    arrivesAt(world.app, address, raw, mailFrom);
  const complains = (raw: Buffer) => arrives(fbl, raw);

  /** Ada and Bob share a transaction; Carl is at another domain, Eve has a blind copy. */
  const sendToAll = () => world.sent([ada, bob, carl], { bcc: [{ email: eve }] });
  const allSent = [ada, bob, carl, eve].map((email) => `${email} sent`);

  /** Lists the complaints of a timeline: the status after each, its recipient, and its proof. */
  async function complaintsOf(id: string): Promise<string[]> {
    const events = await listMessageEvents(world.app, world.caller, id);
    return events
      .filter(({ eventType }) => eventType === 'complained')
      .map(({ status, metadata }) => {
        const { recipient = 'somebody', unproven } = metadata;
        return `${status} ${recipient}${unproven ? ' unproven' : ''}`;
      });
  }

  const proofless = (copy: Buffer | string) => without(without(copy, tokenField), 'DKIM-Signature');

  describe('bounces', () => {
    it('name any recipient of their transaction', async () => {
      const { id, copyOf } = await sendToAll();
      const { returnPath } = copyOf(ada);
      expect(copyOf(bob).returnPath).toBe(returnPath);
      await arrives(returnPath, dsn(returnPath, bob));
      expect(await world.statuses(id)).toEqual([
        `${ada} sent`,
        `${bob} bounced`,
        `${carl} sent`,
        `${eve} sent`,
      ]);
      expect(await world.blocked()).toEqual([`${bob} bounce`]);
    });

    it.each([
      ['a sibling at another domain', ada, carl],
      ['a blind copy', ada, eve],
      ['a sibling, by a blind copy', eve, ada],
      ['all siblings, by the one at another domain', carl, ada],
    ])('that name %s have no effect', async (_what, attacker, victim) => {
      const { id, copyOf } = await sendToAll();
      const { returnPath } = copyOf(attacker);
      expect(await arrives(returnPath, dsn(returnPath, victim))).toBe('stored');
      expect(await world.statuses(id)).toEqual(allSent);
      expect(await world.blocked()).toEqual([]);
    });

    it('of a blind copy, another domain or an alias end that copy', async () => {
      const { id, copyOf } = await sendToAll();
      await arrives(copyOf(eve).returnPath, dsn(copyOf(eve).returnPath, eve));
      await arrives(copyOf(carl).returnPath, dsn(copyOf(carl).returnPath, 'cc@elsewhere.test'));
      expect((await world.statuses(id)).slice(2)).toEqual([`${carl} bounced`, `${eve} bounced`]);
    });

    it('that name a sibling of another transaction at their own domain have no effect', async () => {
      world.sink.on({ verb: 'RCPT', match: /bob@/, times: 1 }, '451 4.7.1 greylisted');
      const { id, copyOf } = await world.sent([ada, bob]);
      await world.clock.advance(10 * minuteMs);
      await world.pipeline.idle();
      const [first, later] = [copyOf(ada).returnPath, copyOf(bob).returnPath];
      expect(later).not.toBe(first);
      await arrives(first, dsn(first, bob));
      await arrives(later, dsn(later, ada));
      expect(await world.statuses(id)).toEqual([`${ada} sent`, `${bob} sent`]);
      await arrives(later, dsn(later, bob));
      expect(await world.statuses(id)).toEqual([`${ada} sent`, `${bob} bounced`]);
    });

    it('of a later transaction do not name recipients of the earlier one', async () => {
      world.sink.on({ verb: 'RCPT', match: /ada@/, times: 1 }, '451 4.7.1 greylisted');
      const { id, copyOf } = await world.sent([ada, bob]);
      const earlier = copyOf(bob).returnPath;
      await world.clock.advance(10 * minuteMs);
      await world.pipeline.idle();
      const later = copyOf(ada).returnPath;
      expect(later).toMatch(/^bounce\+dlv_[0-9a-z]{25}-[0-9a-z]{26}@/);
      expect(later.lastIndexOf('@')).toBeLessThanOrEqual(64);
      await arrives(later, dsn(later, bob));
      expect(await world.statuses(id)).toEqual([`${ada} sent`, `${bob} sent`]);
      await arrives(earlier, dsn(earlier, bob));
      expect(await world.statuses(id)).toEqual([`${ada} sent`, `${bob} bounced`]);
    });

    it('inside a bounce or under a forged envelope prove no more than their token', async () => {
      const { id, copyOf } = await sendToAll();
      const { returnPath } = copyOf(ada);
      const nested = dsn(returnPath, carl).toString('latin1');
      const outer = dsn(returnPath, 'mailer-daemon@mx.example.com').toString('latin1');
      const bounceOfBounce = outer.replace(
        '\r\n--b--',
        `\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n${nested}\r\n--b--`,
      );
      await arrives(returnPath, Buffer.from(bounceOfBounce));
      for (const mailFrom of ['', carl, copyOf(carl).returnPath, 'mailer-daemon@b.test']) {
        await arrives(returnPath, dsn(returnPath, carl), mailFrom);
      }
      expect(await world.statuses(id)).toEqual(allSent);
      expect(await world.blocked()).toEqual([]);
    });

    it('in a mail loop are refused', async () => {
      const { copyOf } = await world.sent(ada);
      const { returnPath } = copyOf(ada);
      const hops = 'Received: from loop.test by loop.test; Mon, 05 Jan 2026 12:00:00 +0000\r\n';
      const looped = Buffer.concat([Buffer.from(hops.repeat(51)), dsn(returnPath, ada)]);
      expect(await arrives(returnPath, looped)).toBe('refused');
      expect(await world.blocked()).toEqual([]);
    });

    inWorldOfTheirOwn(() => {
      it('with a foreign token or a header field as token are refused', async () => {
        const { id, copyOf } = await world.sent(ada);
        const { returnPath, raw } = copyOf(ada);
        const [local = ''] = returnPath.split('@');
        const [token = ''] = fieldsOf(raw, tokenField);
        const { id: otherId } = await createOrganization(world.app, {
          name: 'other',
          plan: 'free',
        });
        const other = operatorOf(otherId);
        const domain = await addDomain(world.app, other, {
          domain: 'other.example',
          dkim: 'ed25519',
        });
        await verifyDomain(world.app, other, domain.id, { force: true });
        for (const address of [
          `${local}@bounce.other.example`,
          `bounce+${token}@bounce.sandbox.test`,
        ]) {
          expect(await arrives(address, dsn(address, ada))).toBe('550 5.1.1');
        }
        expect(await world.statuses(id)).toEqual([`${ada} sent`]);
      });

      it('that return a copy with the Message-ID of another organization have no effect there', async () => {
        const { app } = world;
        const { id, copyOf } = await world.sent([ada, bob]);
        const { id: otherId } = await createOrganization(app, { name: 'other', plan: 'free' });
        const other = operatorOf(otherId);
        const domain = await addDomain(app, other, { domain: 'other.example', dkim: 'ed25519' });
        await verifyDomain(app, other, domain.id, { force: true });
        const from = { email: 'me@other.example' };
        const own = await send(app, other, [carl, eve], { from });
        await world.clock.advance(burstOverMs);
        await world.pipeline.idle();
        const { returnPath } = copyOf(carl);
        expect(returnPath).toMatch(/@bounce\.other\.example$/);
        expect(await arrives(returnPath, dsn(returnPath, ada, { copy: copyOf(ada).raw }))).toBe(
          'stored',
        );
        expect(await world.statuses(id)).toEqual([`${ada} sent`, `${bob} sent`]);
        expect(await world.blocked()).toEqual([]);
        // The owner of the path may still report on its own recipient.
        await arrives(returnPath, dsn(returnPath, carl, { copy: copyOf(ada).raw }));
        const { status } = await firstDelivery(app, other, own.id);
        expect(status).toBe('bounced');
        expect(await world.statuses(id)).toEqual([`${ada} sent`, `${bob} sent`]);
      });

      it('count until their token expires and are refused afterwards', async () => {
        const { id, copyOf } = await world.sent([ada, carl]);
        const { returnPath } = copyOf(ada);
        const lifeMs = (world.app.config.delivery.retry.maxAgeHours * dayMs) / 24 + 14 * dayMs;
        await leap(world, lifeMs);
        expect(await arrives(returnPath, dsn(returnPath, ada))).toBe('stored');
        expect((await world.statuses(id))[0]).toBe(`${ada} bounced`);
        // The mail of the other recipient counts as delivered by now.
        await world.pipeline.idle();
        world.clock.set(world.clock.now() + 1);
        for (const one of [returnPath, copyOf(carl).returnPath]) {
          expect(await arrives(one, dsn(one, carl))).toBe('550 5.1.1');
        }
        expect((await world.statuses(id))[1]).toBe(`${carl} delivered`);
      });

      it('on scheduled mail count for two weeks from its time', async () => {
        const { app, caller, clock } = world;
        const scheduledFor = new Date(clock.now() + 100 * dayMs).toISOString();
        const email = { subject: 'Later', text: 'It works.\n' };
        const to = [{ email: ada }];
        const body = scheduledPayload.parse({ channel: 'email', to, email, scheduledFor });
        const { id } = await scheduleMessage(app, caller, body);
        await leap(world, 100 * dayMs);
        await clock.advance(minuteMs);
        await world.pipeline.idle();
        const { returnPath } = world.copyOf(ada);
        await leap(world, 10 * dayMs);
        expect(await arrives(returnPath, dsn(returnPath, ada))).toBe('stored');
        expect(await world.statuses(id)).toEqual([`${ada} bounced`]);
      });
    });
  });

  describe('complaints with proof', () => {
    const cases: [string, (copy: Copy) => Buffer][] = [
      ['with the whole original', ({ raw }) => arf(raw, { recipient: ada })],
      ['with its header alone', ({ raw }) => arf(raw, { recipient: ada, headersOnly: true })],
      ['that hide the recipient', ({ raw }) => arf(raw)],
      ['as a forward (JMRP)', ({ raw }) => jmrp(raw, ada)],
      ['by our signature alone', ({ raw }) => arf(without(raw, tokenField), { recipient: ada })],
      [
        'by one of our two signatures, in another folding, the body cut',
        ({ raw }) => {
          const header = without(raw, tokenField).replace(/^DKIM-Signature: v=1; a=rsa/m, 'X: a');
          const unfolded = header
            .slice(0, header.indexOf('\r\n\r\n'))
            .replace(/\r\n\s+/g, '\r\n\t ');
          return arf(`${unfolded}\r\n\r\ncut`, { recipient: ada });
        },
      ],
      [
        'by the token alone, all else redacted',
        ({ raw }) => {
          const [token] = fieldsOf(raw, tokenField);
          return arf(`To: redacted@provider.example\r\n${tokenField}: ${token}\r\n\r\n`);
        },
      ],
      [
        'by the return path that the provider saw',
        ({ raw, returnPath }) =>
          arf(proofless(raw), { fields: [`Original-Mail-From: <${returnPath}>`] }),
      ],
    ];
    it.each(cases)('%s end the delivery and block the address', async (_what, report) => {
      const { id, copyOf } = await world.sent(ada);
      await complains(report(copyOf(ada)));
      expect(await world.statuses(id)).toEqual([`${ada} complained`]);
      expect(await complaintsOf(id)).toEqual([`complained ${ada}`]);
      expect(await world.blocked()).toEqual([`${ada} complaint`]);
    });

    it('by a retired key still count', async () => {
      const { id, copyOf } = await world.sent(ada);
      const { items } = await listDomains(world.app, world.operator, { page: 1, limit: 1 });
      await rotateDkim(world.app, world.operator, items[0]?.id ?? '');
      await complains(arf(without(copyOf(ada).raw, tokenField), { recipient: ada }));
      expect(await world.statuses(id)).toEqual([`${ada} complained`]);
    });

    it('concern the named recipient of a shared copy', async () => {
      const { id, copyOf } = await sendToAll();
      await complains(arf(copyOf(ada).raw, { recipient: bob }));
      await complains(arf(copyOf(eve).raw, { recipient: eve }));
      expect(await world.statuses(id)).toEqual([
        `${ada} sent`,
        `${bob} complained`,
        `${carl} sent`,
        `${eve} complained`,
      ]);
    });

    it('have a proof both from this thread and from a worker', async () => {
      const many = Array.from({ length: 8 }, (_, at) => `r${at}@a.test`);
      const sends = await Promise.all(many.map((to) => send(world.app, world.caller, to)));
      await world.pipeline.idle();
      for (const [at, email] of many.entries()) {
        const { raw } = world.copyOf(email);
        expect(raw.toString('latin1')).toMatch(
          /^DKIM-Signature: [\s\S]*\r\nX-Service-Token: [^\r]{55}\r\nFrom: /,
        );
        const copy = at % 2 === 0 ? raw : without(raw, tokenField);
        await complains(arf(copy, { recipient: email }));
        expect(await world.statuses(sends[at]?.id ?? '')).toEqual([`${email} complained`]);
      }
    });

    it('count once, even after the block was lifted', async () => {
      const { id, copyOf } = await world.sent(ada);
      const report = arf(copyOf(ada).raw, { recipient: ada });
      await complains(report);
      const { items } = await listBlocks(world.app, world.caller, { page: 1, limit: 1 });
      await deleteBlock(world.app, world.caller, items[0]?.id ?? '');
      await complains(report);
      await complains(jmrp(copyOf(ada).raw, ada));
      expect(await complaintsOf(id)).toEqual([`complained ${ada}`]);
      expect(await world.blocked()).toEqual([]);
    });

    it('of the type not-spam have no effect', async () => {
      const { id, copyOf } = await world.sent(ada);
      await complains(arf(copyOf(ada).raw, { recipient: ada, feedbackType: 'not-spam' }));
      expect(await world.statuses(id)).toEqual([`${ada} sent`]);
      expect(await complaintsOf(id)).toEqual([]);
    });
  });

  describe('complaints without proof', () => {
    const forgeries: [string, (copy: Copy) => Buffer][] = [
      ['without signature and token', ({ raw }) => arf(proofless(raw), { recipient: ada })],
      [
        'with a signed field altered',
        ({ raw }) =>
          arf(without(raw, tokenField).replace('Subject: Hello', 'Subject: hello'), {
            recipient: ada,
          }),
      ],
      [
        'with the signature of another domain',
        ({ raw }) =>
          arf(without(raw, tokenField).replaceAll('d=sandbox.test', 'd=evil.test'), {
            recipient: ada,
          }),
      ],
      [
        'with a signature that leaves out the Message-ID',
        ({ raw }) =>
          arf(without(raw, tokenField).replaceAll(':Message-ID', ''), { recipient: ada }),
      ],
      [
        'with a forged token',
        ({ raw }) => {
          const [token = ''] = fieldsOf(raw, tokenField);
          const forged = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
          const [id] = fieldsOf(raw, 'Message-ID');
          return arf(`${tokenField}: ${forged}\r\nMessage-ID: ${id}\r\n\r\n`, { recipient: ada });
        },
      ],
      [
        'with the token of the return path in place of the field’s',
        ({ raw, returnPath }) => {
          const token = returnPath.slice('bounce+'.length, returnPath.indexOf('@'));
          const [id] = fieldsOf(raw, 'Message-ID');
          return arf(`${tokenField}: ${token}\r\nMessage-ID: ${id}\r\n\r\n`, { recipient: ada });
        },
      ],
    ];
    it.each(forgeries)('%s are shown without further effect', async (_what, report) => {
      const { id, copyOf } = await world.sent(ada);
      await complains(report(copyOf(ada)));
      expect(await world.statuses(id)).toEqual([`${ada} sent`]);
      expect(await complaintsOf(id)).toEqual([`sent ${ada} unproven`]);
      expect(await world.blocked()).toEqual([]);
    });

    it('are marked in the timeline, and leave the explanation unchanged', async () => {
      const { app, caller } = world;
      const { id, copyOf } = await world.sent(ada);
      const before = await explainMessage(app, caller, id);
      await complains(arf(proofless(copyOf(ada).raw), { recipient: ada }));
      const event = (await listMessageEvents(app, caller, id)).at(-1);
      expect(event).toMatchObject({ eventType: 'complained', status: 'sent' });
      expect(event?.metadata).toEqual({
        recipient: ada,
        deliveryId: (await firstDelivery(app, caller, id)).id,
        feedbackType: 'abuse',
        unproven: true,
        reason:
          'The report shows neither our signature nor our token: it changes no status, blocks nobody and counts toward no pause.',
      });
      expect(await explainMessage(app, caller, id)).toEqual(before);
    });

    it('from a recipient of a copy do not concern other recipients', async () => {
      const { id, copyOf } = await sendToAll();
      const attacks = [
        // Their own token: for another domain, for a blind copy, from one.
        arf(copyOf(ada).raw, { recipient: carl }),
        arf(copyOf(ada).raw, { recipient: eve }),
        arf(copyOf(eve).raw, { recipient: ada }),
        // The signature covers every copy.
        arf(without(copyOf(ada).raw, tokenField), { recipient: carl }),
        arf(without(copyOf(carl).raw, tokenField), { recipient: eve }),
      ];
      for (const attack of attacks) await complains(attack);
      expect(await world.statuses(id)).toEqual(allSent);
      expect(await world.blocked()).toEqual([]);
      expect(await complaintsOf(id)).toEqual(
        [carl, eve, ada, carl, eve].map((email) => `sent ${email} unproven`),
      );
    });

    it('with another Message-ID in front of a signed copy prove nothing', async () => {
      const mine = await world.sent(carl);
      const theirs = await world.sent(ada);
      const [victimId] = fieldsOf(theirs.copyOf(ada).raw, 'Message-ID');
      const own = without(mine.copyOf(carl).raw, tokenField);
      await complains(arf(`Message-ID: ${victimId}\r\n${own}`, { recipient: ada }));
      expect(await world.statuses(theirs.id)).toEqual([`${ada} sent`]);
      expect(await complaintsOf(theirs.id)).toEqual([`sent ${ada} unproven`]);
      expect(await world.blocked()).toEqual([]);
    });

    it('are bounded in the timeline', async () => {
      const { id, copyOf } = await world.sent(ada);
      for (let count = 0; count < 12; count++) await complains(arf(proofless(copyOf(ada).raw)));
      expect(await complaintsOf(id)).toHaveLength(10);
    });

    inWorldOfTheirOwn(() => {
      it('on a message of another organization have no effect and are hidden from it', async () => {
        const { app } = world;
        const { id: otherId } = await createOrganization(app, { name: 'other', plan: 'free' });
        const other = operatorOf(otherId);
        const domain = await addDomain(app, other, { domain: 'other.example', dkim: 'ed25519' });
        await verifyDomain(app, other, domain.id, { force: true });
        const { id, copyOf } = await world.sent(ada);
        const address = 'fbl@bounce.other.example';
        const { raw, returnPath } = copyOf(ada);
        for (const copy of [raw, without(raw, tokenField), proofless(raw)]) {
          const fields = [`Original-Mail-From: <${returnPath}>`];
          expect(await arrives(address, arf(copy, { recipient: ada, fields }))).toBe('stored');
        }
        expect(await world.statuses(id)).toEqual([`${ada} sent`]);
        expect(await complaintsOf(id)).toEqual([]);
        expect(await world.blocked()).toEqual([]);
      });

      it('with an expired token or signature have no effect', async () => {
        const { app, caller } = world;
        const { id, copyOf } = await world.sent(ada);
        await leap(world, 18 * dayMs);
        // No report came until now, and the next look of the queue assumes delivery.
        await world.clock.advance(60_000);
        await expect.poll(() => world.statuses(id)).toEqual([`${ada} delivered`]);
        await complains(arf(copyOf(ada).raw, { recipient: ada }));
        await complains(arf(without(copyOf(ada).raw, tokenField), { recipient: ada }));
        expect(await complaintsOf(id)).toEqual(Array(2).fill(`delivered ${ada} unproven`));
        expect((await timeline(app, caller, id)).at(-1)).toBe('complained:delivered');
        expect(await world.blocked()).toEqual([]);
      });

      it('pause no organization, unlike as many with proof', async () => {
        const { app, caller } = world;
        const to = Array.from({ length: 100 }, (_, at) => `r${at}@a.test`);
        await Promise.all(to.map((one) => send(app, caller, one)));
        await world.clock.advance(burstOverMs);
        await world.pipeline.idle();
        expect(world.sink.received).toBe(100);
        const sendingStatus = async () =>
          (await getOrganization(app, caller.organizationId)).sendingStatus;
        const loud = to.slice(0, 6);
        for (const email of loud) {
          await complains(arf(proofless(world.copyOf(email).raw), { recipient: email }));
        }
        expect([await sendingStatus(), await world.blocked()]).toEqual(['enabled', []]);
        for (const email of loud) {
          await complains(arf(world.copyOf(email).raw, { recipient: email }));
        }
        expect(await sendingStatus()).toBe('paused');
        expect(await world.blocked()).toHaveLength(6);
      });
    });
  });
});
