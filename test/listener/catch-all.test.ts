// The mailbox that takes a mail at RCPT: the owner of the address first, then the catch-all of the
// domain. A paused mailbox defers mail, a deleted one refuses it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addDomain, getDomain, listDnsRecords } from '../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { disableCatchAll, enableCatchAll } from '../../src/identity/mailboxes/catch-all.ts';
import {
  createMailbox,
  deleteMailbox,
  pauseMailbox,
  resumeMailbox,
} from '../../src/identity/mailboxes/mailboxes.ts';
import { resolveAddressee } from '../../src/inbox/receiving/resolve.ts';
import { watchQueries } from '../support/watched-queries.ts';
import { envelope, type SmtpService, smtpService } from './smtp-service.ts';

const taken = '250 2.1.5 Accepted';
const unknown = '550 5.1.1 No mailbox here has this address';
const putOff = '450 4.2.1 This mailbox accepts no mail at the moment';

describe('receiving for a domain', () => {
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

  it('takes mail for unknown addresses while the catch-all is on', async () => {
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

  it('shows the catch-all with the domain, and records for mail while the domain takes any', async () => {
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

  it('defers mail for a paused mailbox and refuses it for a deleted one', async () => {
    const { app, operator } = service;
    expect(await asked('desk+news@acme.example')).toBe(taken);
    await pauseMailbox(app, operator, mailboxId);
    expect(await asked('desk@acme.example')).toBe(putOff);
    await resumeMailbox(app, operator, mailboxId);
    expect(await asked('desk@acme.example')).toBe(taken);
    await deleteMailbox(app, operator, mailboxId);
    expect(await asked('desk@acme.example')).toBe(unknown);
  });

  it('leaves a known address to its own mailbox, even a paused one', async () => {
    const { app, operator } = service;
    const all = await createMailbox(app, operator, { slug: 'all', domain: 'acme.example' });
    await enableCatchAll(app, operator, { domainId, mailboxId: all.id });
    await pauseMailbox(app, operator, mailboxId);
    expect(await asked('desk@acme.example')).toBe(putOff);
    expect(await asked('other@acme.example')).toBe(taken);
  });

  it('looks addresses up in one query for concurrent clients, each with its own reply', async () => {
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

  describe('the look-up at RCPT', () => {
    let watch: ReturnType<typeof watchQueries>;
    beforeEach(() => {
      watch = watchQueries();
    });
    afterEach(() => watch.stop());

    it('costs one statement for each address, known or not, with a catch-all or without', async () => {
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
      // A process looks up the existence of the organization and the like once.
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
