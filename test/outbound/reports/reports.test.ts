// Bounces and complaints by mail on our own sends: from the return path on the wire to the status,
// the timeline and the block.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import { nextReportAt } from '../../../src/outbound/reports/queries.ts';
import { createReportReader } from '../../../src/outbound/reports/reports.ts';
import { stores } from '../../support/command.ts';
import { firstDelivery, send, timeline } from '../../support/delivery.ts';
import { holdParser } from '../../support/held-parser.ts';
import {
  arf,
  arrives as arrivesAt,
  dsn,
  fbl,
  lines,
  type ReportWorld,
  startReportWorld,
  without,
} from './report-fixture.ts';

const minuteMs = 60_000;

describe.each(stores)('reports on our own sends, on %s', (store) => {
  let service: ReportWorld;

  beforeEach(async () => {
    service = await startReportWorld({ store });
  });
  afterEach(() => service.close());

  /** Sends to the addresses of one domain; returns the message and its copy on the wire. */
  async function sent(...to: [string, ...string[]]) {
    const { id, copyOf } = await service.sent(to);
    return { id, ...copyOf(to[0]) };
  }

  const arrives = (address: string, raw: Buffer) => arrivesAt(service.app, address, raw);
  const statusOf = async (id: string) => (await getMessage(service.app, service.caller, id)).status;
  const blocked = () => service.blocked();

  it('come to a signed return path at the domain’s host', async () => {
    const { returnPath } = await sent('ada@example.com');
    expect(returnPath).toMatch(
      /^bounce\+dlv_[0-9a-hjkmnp-tv-z]{24}-[0-9a-z]{26}@bounce\.sandbox\.test$/,
    );
  });

  it('of a hard bounce end the delivery with the reason and block the address', async () => {
    const { app, caller } = service;
    const { id, returnPath } = await sent('ada@example.com');
    expect(await arrives(returnPath, dsn(returnPath, 'ada@example.com'))).toBe('stored');
    expect(await statusOf(id)).toBe('bounced');
    expect(await firstDelivery(app, caller, id)).toMatchObject({
      errorCode: 'invalid-recipient',
      errorDetails: { code: 550, enhancedCode: '5.1.1', verb: 'DSN' },
    });
    expect((await timeline(app, caller, id)).at(-1)).toBe('bounced:bounced');
    expect(await blocked()).toEqual(['ada@example.com bounce']);
  });

  it('of a bounce for another reason block no address', async () => {
    const { id, returnPath } = await sent('ada@example.com');
    const full = { status: '5.2.2', words: '552 5.2.2 mailbox full' };
    await arrives(returnPath, dsn(returnPath, 'ada@example.com', full));
    expect(await statusOf(id)).toBe('bounced');
    expect(await blocked()).toEqual([]);
  });

  it('of a bounce end the named one of two recipients', async () => {
    const { id, returnPath } = await sent('ada@example.com', 'bob@example.com');
    await arrives(returnPath, dsn(returnPath, 'bob@example.com'));
    const { recipients } = await getMessage(service.app, service.caller, id);
    expect(recipients.map(({ email, status }) => `${email} ${status}`)).toEqual([
      'ada@example.com sent',
      'bob@example.com bounced',
    ]);
  });

  it('of a bounce that name neither of two recipients have no effect', async () => {
    const { id, returnPath } = await sent('ada@example.com', 'bob@example.com');
    await arrives(returnPath, dsn(returnPath, 'carol@elsewhere.example'));
    expect(await statusOf(id)).toBe('sent');
  });

  it('of a delay have no effect, and of a success deliver', async () => {
    const { id, returnPath } = await sent('ada@example.com');
    const delayed = { action: 'delayed', status: '4.4.1', words: '451 4.4.1 timeout' };
    await arrives(returnPath, dsn(returnPath, 'ada@example.com', delayed));
    expect(await statusOf(id)).toBe('sent');
    const delivered = { action: 'delivered', status: '2.0.0', words: '250 2.0.0 ok' };
    await arrives(returnPath, dsn(returnPath, 'ada@example.com', delivered));
    expect(await statusOf(id)).toBe('delivered');
  });

  it('of a relayed or expanded mail (RFC 3464 2.3.3) are not bounces', async () => {
    const { id, returnPath } = await sent('ada@example.com');
    for (const action of ['relayed', 'expanded']) {
      const passedOn = { action, status: '2.0.0', words: '250 2.0.0 ok' };
      const raw = dsn(returnPath, 'ada@example.com', passedOn);
      expect(await arrives(returnPath, raw)).toBe('stored');
      expect([action, await statusOf(id), await blocked()]).toEqual([action, 'sent', []]);
    }
  });

  it('with a 4.x status that quote 550 5.1.1 are not hard bounces', async () => {
    const { id, returnPath } = await sent('ada@example.com');
    const expired = { status: '4.4.7', words: '550 5.1.1 no such user' };
    await arrives(returnPath, dsn(returnPath, 'ada@example.com', expired));
    expect(await statusOf(id)).toBe('bounced');
    expect(await blocked()).toEqual([]);
  });

  it('of a success after a bounce have no effect', async () => {
    const { app, caller } = service;
    const { id, returnPath } = await sent('ada@example.com');
    await arrives(returnPath, dsn(returnPath, 'ada@example.com'));
    const delivered = { action: 'delivered', status: '2.0.0', words: '250 2.0.0 ok' };
    expect(await arrives(returnPath, dsn(returnPath, 'ada@example.com', delivered))).toBe('stored');
    expect(await statusOf(id)).toBe('bounced');
    expect((await timeline(app, caller, id)).at(-1)).toBe('bounced:bounced');
    expect(await blocked()).toEqual(['ada@example.com bounce']);
  });

  it('of the same bounce count and block once', async () => {
    const { app, caller } = service;
    const { id, returnPath } = await sent('ada@example.com');
    await arrives(returnPath, dsn(returnPath, 'ada@example.com'));
    await arrives(returnPath, dsn(returnPath, 'ada@example.com'));
    const bounced = (await timeline(app, caller, id)).filter((one) => one.startsWith('bounced'));
    expect(bounced).toHaveLength(1);
    expect(await blocked()).toHaveLength(1);
  });

  it('to a forged or foreign return path are refused without effect', async () => {
    const { id, returnPath } = await sent('ada@example.com');
    const [local = '', host = ''] = returnPath.split('@');
    const last = local.at(-1) === '0' ? '1' : '0';
    const forged = [
      `${local.slice(0, -1)}${last}@${host}`,
      `${local}@elsewhere.example`,
      `bounce+${id}@${host}`,
      `bounce@${host}`,
      `anything@${host}`,
    ];
    for (const address of forged) {
      expect(await arrives(address, dsn(address, 'ada@example.com'))).toBe('550 5.1.1');
    }
    expect(await statusOf(id)).toBe('sent');
  });

  it('are not recognized in an automatic reply', async () => {
    const { id, returnPath } = await sent('ada@example.com');
    const reply = lines(
      'From: ada@example.com',
      `To: ${returnPath}`,
      'Subject: Out of office',
      'Auto-Submitted: auto-replied',
      '',
      'I am away. Your mail could not be delivered to my attention.',
      '',
    );
    expect(await arrives(returnPath, reply)).toBe('stored');
    expect(await statusOf(id)).toBe('sent');
  });

  it('of a complaint mark the delivery and block the address', async () => {
    const { app, caller } = service;
    const { id, raw } = await sent('ada@example.com');
    expect(await arrives(fbl, arf(raw, { recipient: 'ada@example.com' }))).toBe('stored');
    expect(await statusOf(id)).toBe('complained');
    expect((await timeline(app, caller, id)).at(-1)).toBe('complained:complained');
    expect(await blocked()).toEqual(['ada@example.com complaint']);
  });

  it('wait while the parser has no room, without limit', async () => {
    const { app, clock } = service;
    const { raw } = await sent('ada@example.com');
    await app.mime.close();
    await arrives(fbl, arf(raw));
    for (let tries = 2; tries <= 7; tries++) {
      await clock.advance(minuteMs);
      expect(await createReportReader(app).readDue()).toBe(1);
    }
    expect(await nextReportAt(app.store.db)).toBe(clock.now() + minuteMs);
  });

  it('that stay unreadable are given up after five tries', async () => {
    const { app, clock } = service;
    const { id, raw } = await sent('ada@example.com');
    // The first try finds the parser closed.
    await app.mime.close();
    await arrives(fbl, arf(raw));
    await app.store.write((trx) =>
      sql`update inbound_reports set kind = 'unheard-of'`.execute(trx),
    );
    for (let tries = 2; tries <= 5; tries++) {
      expect(await nextReportAt(app.store.db), `before try ${tries}`).toBe(clock.now() + minuteMs);
      await clock.advance(minuteMs);
      expect(await createReportReader(app).readDue()).toBe(1);
    }
    expect(await nextReportAt(app.store.db)).toBeNull();
    expect(await statusOf(id)).toBe('sent');
  });

  it('read by two daemons count once', async () => {
    const { app, clock, another, caller } = service;
    const { id, raw } = await sent('ada@example.com');
    const other = await another();
    const parser = holdParser(app);
    const first = arrives(fbl, arf(without(without(raw, 'X-Service-Token'), 'DKIM-Signature')));
    while (parser.calls === 0) await nextTurn();
    clock.set(clock.now() + minuteMs);
    expect(await createReportReader(other).readDue()).toBe(1);
    parser.release();
    await first;
    const shown = (await timeline(app, caller, id)).filter((one) => one.startsWith('complained'));
    expect(shown).toEqual(['complained:sent']);
  });

  it('of a hard refusal on the wire block the address, simulated ones do not', async () => {
    const { app, caller, sink, pipeline } = service;
    sink.on({ verb: 'RCPT', match: /dead@/ }, '550 5.1.1 no such user');
    await send(app, caller, 'dead@example.com');
    await send(app, caller, 'bounced@simulator.test');
    await pipeline.idle();
    expect(await blocked()).toEqual(['dead@example.com bounce']);
    const again = await send(app, caller, 'dead@example.com');
    expect(await firstDelivery(app, caller, again.id)).toMatchObject({
      status: 'failed',
      errorCode: 'suppressed',
      attemptCount: 0,
    });
  });
});
