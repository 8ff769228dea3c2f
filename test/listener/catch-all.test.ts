// Which mailbox takes mail at RCPT: its own address first, then the catch-all of the domain; a paused one
// puts mail off, a deleted one refuses it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addDomain, getDomain, listDnsRecords } from '../../src/domains/domains.ts';
import { verifyDomain } from '../../src/domains/verification.ts';
import { resolveAddressee } from '../../src/inbound/resolve.ts';
import { disableCatchAll, enableCatchAll } from '../../src/mailboxes/catch-all.ts';
import {
  createMailbox,
  deleteMailbox,
  pauseMailbox,
  resumeMailbox,
} from '../../src/mailboxes/mailboxes.ts';
import { watchQueries } from '../support/watched-queries.ts';
import { envelope, type SmtpService, smtpService } from './smtp-service.ts';

const taken = '250 2.1.5 Accepted';
const unknown = '550 5.1.1 No mailbox here has this address';
const putOff = '450 4.2.1 This mailbox accepts no mail at the moment';

describe('the mailboxes of a domain', () => {
  let service: SmtpService;
  let domainId: string;
  let mailboxId: string;
  beforeEach(async () => {
    service = await smtpService();
    const { app, operator } = service;
    const domain = await addDomain(app, operator, { domain: 'acme.example', dkim: 'ed25519' });
    domainId = domain.id;
    await verifyDomain(app, operator, domainId, { force: true });
    const made = await createMailbox(app, operator, { slug: 'desk', domain: 'acme.example' });
    mailboxId = made.id;
  });
  afterEach(() => service.close());

  const asked = async (address: string) => (await envelope(await service.session(), address))[0];

  it('take mail for unknown addresses while the catch-all is on', async () => {
    const { app, operator } = service;
    expect(await asked('misspelt@acme.example')).toBe(unknown);
    await enableCatchAll(app, operator, { domainId, mailboxId });
    expect(await asked('misspelt@acme.example')).toBe(taken);
    expect(await asked('misspelt@other.example')).toBe(unknown);
    await pauseMailbox(app, operator, mailboxId);
    expect(await asked('misspelt@acme.example')).toBe(putOff);
    await resumeMailbox(app, operator, mailboxId);
    await disableCatchAll(app, operator, { domainId });
    expect(await asked('misspelt@acme.example')).toBe(unknown);
  });

  it('the domain shows its catch-all, and records for mail as long as it takes any', async () => {
    const { app, operator } = service;
    const standing = async () => {
      const { catchAll } = await getDomain(app, operator, domainId);
      const { items } = await listDnsRecords(app, operator, domainId);
      return { catchAll, records: items.map(({ purpose, type }) => `${purpose} ${type}`) };
    };
    const taking = await standing();
    await deleteMailbox(app, operator, mailboxId);
    const without = await standing();
    expect(without.catchAll).toEqual({ enabled: false, mailboxId: null });
    expect(without.records.length).toBeLessThan(taking.records.length);
    const far = await createMailbox(app, operator, { slug: 'far', domain: 'sandbox.test' });
    await enableCatchAll(app, operator, { domainId, mailboxId: far.id });
    expect(await standing()).toEqual({
      catchAll: { enabled: true, mailboxId: far.id },
      records: taking.records,
    });
    await disableCatchAll(app, operator, { domainId });
    expect(await standing()).toEqual(without);
  });

  it('put mail off while paused, refuse it once deleted', async () => {
    const { app, operator } = service;
    expect(await asked('desk+news@acme.example')).toBe(taken);
    await pauseMailbox(app, operator, mailboxId);
    expect(await asked('desk@acme.example')).toBe(putOff);
    await resumeMailbox(app, operator, mailboxId);
    expect(await asked('desk@acme.example')).toBe(taken);
    await deleteMailbox(app, operator, mailboxId);
    expect(await asked('desk@acme.example')).toBe(unknown);
  });

  it('leave an address of its own to its mailbox, though that is paused', async () => {
    const { app, operator } = service;
    const all = await createMailbox(app, operator, { slug: 'all', domain: 'acme.example' });
    await enableCatchAll(app, operator, { domainId, mailboxId: all.id });
    await pauseMailbox(app, operator, mailboxId);
    expect(await asked('desk@acme.example')).toBe(putOff);
    expect(await asked('other@acme.example')).toBe(taken);
  });

  it('are looked up together for clients that ask at once, and each is told its own', async () => {
    const { app, operator } = service;
    const all = await createMailbox(app, operator, { slug: 'all', domain: 'acme.example' });
    await enableCatchAll(app, operator, { domainId, mailboxId: all.id });
    const watch = watchQueries();
    const found = await Promise.all(
      ['Desk@acme.example', 'other@acme.example', 'desk+x@acme.example', 'x@b.example', 'no']
        .concat('all@acme.example')
        .map((address) => resolveAddressee(app, address)),
    );
    const asked = watch.take();
    watch.stop();
    expect(found.map((one) => (one.kind === 'mailbox' ? one.mailboxId : one.kind))).toEqual([
      ...[mailboxId, all.id, mailboxId, 'refused', 'refused'],
      all.id,
    ]);
    const lookups = asked.filter(({ text }) => /mailbox_addresses/.test(text));
    expect(lookups.map(({ times }) => times)).toEqual([1]);
  });

  describe('asked for at RCPT', () => {
    let watch: ReturnType<typeof watchQueries>;
    beforeEach(() => {
      watch = watchQueries();
    });
    afterEach(() => watch.stop());

    it('cost one look-up each, known or not, with a catch-all or without', async () => {
      const { app, operator } = service;
      const unknowns = Array.from({ length: 40 }, (_, index) => `nobody${index}@acme.example`);
      const statementsFor = async (addresses: readonly string[]) => {
        const session = await service.session();
        await session.say('MAIL FROM:<ada@example.com>');
        watch.take();
        const replies: string[] = [];
        for (const one of addresses) replies.push(await session.say(`RCPT TO:<${one}>`));
        const asked = watch.take();
        expect(asked.map(({ text }) => /mailbox_addresses/.test(text))).toEqual([true]);
        await session.say('QUIT');
        return { replies: new Set(replies), statements: asked[0]?.times };
      };
      // Whether the organization exists, and the like, is asked once in a process.
      await asked('desk@acme.example');
      expect(await statementsFor(unknowns.slice(0, 8))).toEqual({
        replies: new Set([unknown]),
        statements: 8,
      });
      await enableCatchAll(app, operator, { domainId, mailboxId });
      expect(await statementsFor(unknowns)).toEqual({ replies: new Set([taken]), statements: 40 });
      expect(await statementsFor(['desk@acme.example', 'desk+x@acme.example'])).toEqual({
        replies: new Set([taken]),
        statements: 2,
      });
    });
  });
});
