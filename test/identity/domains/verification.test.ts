import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { rotateDkim } from '../../../src/identity/domains/dkim-change.ts';
import { addDomain, deleteDomain, getDomain } from '../../../src/identity/domains/domains.ts';
import { setReceiving } from '../../../src/identity/domains/queries.ts';
import { type Domain, domainOutput } from '../../../src/identity/domains/schema.ts';
import { signingKeysOf } from '../../../src/identity/domains/signing-keys.ts';
import { checkDueDomains, verifyDomain } from '../../../src/identity/domains/verification.ts';
import { resolveSender } from '../../../src/identity/senders/resolve.ts';
import { fromJson } from '../../../src/platform/store/db.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { startZone, type Zone } from './zone.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describe.each(stores)('the verification of domains on %s', (store) => {
  let test: TestApp;
  let zone: Zone;
  let domain: Domain;
  beforeEach(async () => {
    zone = await startZone();
    test = await testApp({
      store,
      config: { delivery: { hostname: 'mail.host.example' }, dns: { servers: [zone.server] } },
    });
    domain = await addDomain(test.app, test.caller, { domain: 'acme.example' });
  });
  afterEach(async () => {
    await test.close();
    await zone.close();
  });

  /** Puts matching records into DNS as the domain lists them. */
  function publish(
    { dnsRecords }: Domain,
    isPublished: (record: Domain['dnsRecords'][number]) => boolean,
  ) {
    for (const { type, name, value } of dnsRecords.filter(isPublished)) {
      zone.records.set(`${type} ${name}`, [value]);
    }
  }
  const publishAll = () => publish(domain, () => true);
  const publishRequired = () => publish(domain, ({ required }) => required);
  const verify = () => verifyDomain(test.app, test.caller, domain.id);
  const statuses = ({ dnsRecords }: Domain) =>
    dnsRecords.map(({ purpose, status }) => `${purpose} ${status}`);
  const selectors = async () =>
    (await signingKeysOf(test.app, domain.id)).map(({ selector }) => selector);

  /** Lets time pass, and runs the schedule like the daemon does each minute. */
  async function passTime(ms: number, stepMs = minute) {
    let checks = 0;
    for (let passed = 0; passed < ms; passed += stepMs) {
      await test.clock.advance(Math.min(stepMs, ms - passed));
      checks += await checkDueDomains(test.app);
    }
    return checks;
  }

  it('reports the state of each record', async () => {
    await test.app.store.write((trx) =>
      setReceiving(trx, domain.id, {
        receivesMail: true,
        catchAllMailboxId: null,
      }),
    );
    const unpublished = await verify();
    expect(unpublished.status).toBe('pending');
    expect(statuses(unpublished)).toEqual([
      'dkim missing',
      'dkim missing',
      'return-path missing',
      'return-path missing',
      'spf missing',
      'dmarc missing',
      'mx missing',
    ]);
    publishAll();
    zone.records.set('MX acme.example', ['5 mx.elsewhere.example']);
    const published = await verify();
    expect(published).toMatchObject({
      status: 'verified',
      verifiedAt: '2026-01-05T12:00:00.000Z',
      lastCheckedAt: '2026-01-05T12:00:00.000Z',
    });
    expect(published.dnsRecords.map(({ status }) => status)).toEqual([
      ...Array(6).fill('valid'),
      'invalid',
    ]);
    expect(published.dnsRecords.at(-1)).toMatchObject({
      found: ['5 mx.elsewhere.example'],
      error: 'mail goes to other hosts than mail.host.example',
    });
    expect(await getDomain(test.app, test.caller, domain.id)).toEqual(published);
  });

  it('needs only the DKIM and return-path records, and enables only published keys', async () => {
    publishRequired();
    expect(await verify()).toMatchObject({
      status: 'verified',
      dkimKeys: [
        { selector: 'svc1rsa', published: true },
        { selector: 'svc1ed', published: false },
      ],
    });
    expect(await selectors()).toEqual(['svc1rsa']);
    publishAll();
    await verify();
    expect(await selectors()).toEqual(['svc1rsa', 'svc1ed']);
  });

  it.each(['dkim', 'return-path'])('fails without the required record of %s', async (purpose) => {
    publish(domain, (record) => record.purpose !== purpose);
    expect((await verify()).status).toBe('pending');
  });

  it('fails for a foreign DKIM key', async () => {
    publishAll();
    zone.records.set('TXT svc1rsa._domainkey.acme.example', ['v=DKIM1; k=rsa; p=theirs']);
    const checked = await verify();
    expect(checked.status).toBe('pending');
    expect(checked.dnsRecords[0]).toMatchObject({
      status: 'invalid',
      error: 'the record publishes another key',
    });
  });

  it('accepts the DMARC record of the organizational domain for a subdomain', async () => {
    const sub = await addDomain(test.app, test.caller, { domain: 'news.acme.example' });
    publish(sub, ({ purpose }) => purpose !== 'dmarc');
    zone.records.set('TXT _dmarc.acme.example', ['v=DMARC1; p=reject']);
    const checked = await verifyDomain(test.app, test.caller, sub.id);
    expect(checked.dnsRecords.find(({ purpose }) => purpose === 'dmarc')).toMatchObject({
      status: 'valid',
      found: ['v=DMARC1; p=reject'],
    });
  });

  it('is a temporary failure while DNS does not answer, and recovers', async () => {
    publishAll();
    zone.down.add('bounce.acme.example');
    const unanswered = await verify();
    expect(unanswered.status).toBe('temporary-failure');
    expect(unanswered.dnsRecords[2]).toMatchObject({
      purpose: 'return-path',
      status: 'pending',
      error: expect.stringMatching(/./),
    });
    zone.down.clear();
    zone.records.delete('MX bounce.acme.example');
    expect((await verify()).status).toBe('pending');
    publishAll();
    expect((await verify()).status).toBe('verified');
  });

  it('stays pending for a missing record beside an unanswered one', async () => {
    publish(domain, ({ purpose }) => purpose !== 'dkim');
    zone.down.add('bounce.acme.example');
    expect((await verify()).status).toBe('pending');
  });

  describe('by schedule', () => {
    it('checks soon after the domain is added, then less often, down to once a day', async () => {
      expect(await passTime(2 * minute)).toBeGreaterThan(0);
      expect(await passTime(hour)).toBeLessThanOrEqual(7);
      await passTime(2 * day, hour);
      expect(await passTime(10 * day, hour)).toBeLessThanOrEqual(11);
      expect((await getDomain(test.app, test.caller, domain.id)).status).toBe('pending');
      publishAll();
      await passTime(1.2 * day, hour);
      expect((await getDomain(test.app, test.caller, domain.id)).status).toBe('verified');
    });

    it('fails a verified domain after three days without its records', async () => {
      publishAll();
      await verify();
      zone.records.clear();
      const status = async () => (await getDomain(test.app, test.caller, domain.id)).status;
      await passTime(1.2 * day, hour);
      expect(await status()).toBe('verified');
      await passTime(2 * day, hour);
      expect(await status()).toBe('verified');
      await passTime(1.2 * day, hour);
      expect(await status()).toBe('failed');
      publishAll();
      await passTime(1.2 * day, hour);
      expect(await status()).toBe('verified');
    });

    it('keeps a domain whose records return within three days', async () => {
      publishAll();
      await verify();
      zone.records.clear();
      await passTime(3 * day, hour);
      publishAll();
      await passTime(2 * hour, hour);
      zone.records.clear();
      await passTime(3 * day, hour);
      expect((await getDomain(test.app, test.caller, domain.id)).status).toBe('verified');
    });

    it('counts the three days through an unanswered check', async () => {
      publishAll();
      await verify();
      zone.records.clear();
      expect((await verify()).status).toBe('verified');
      await test.clock.advance(2 * day);
      zone.down.add('*');
      expect((await verify()).status).toBe('verified');
      zone.down.clear();
      await test.clock.advance(day - 1);
      expect((await verify()).status).toBe('verified');
      await test.clock.advance(1);
      expect((await verify()).status).toBe('failed');
    });

    it('never fails a domain while DNS does not answer', async () => {
      publishAll();
      await verify();
      zone.down.add('*');
      await passTime(10 * day, 6 * hour);
      expect((await getDomain(test.app, test.caller, domain.id)).status).toBe('verified');
      expect(await selectors()).toEqual(['svc1rsa', 'svc1ed']);
    });

    it('checks each due domain once among daemons', async () => {
      const other = await test.another();
      await test.clock.advance(2 * minute);
      const [mine, theirs] = await Promise.all([checkDueDomains(test.app), checkDueDomains(other)]);
      expect(mine + theirs).toBe(1);
    });

    it('skips domains verified by force and deleted domains', async () => {
      await verifyDomain(test.app, test.operator, domain.id, { force: true });
      expect(await passTime(4 * day, 6 * hour)).toBe(0);
      expect((await getDomain(test.app, test.caller, domain.id)).status).toBe('verified');
      await deleteDomain(test.app, test.caller, domain.id);
      expect(await passTime(day, 6 * hour)).toBe(0);
    });
  });

  it('publishes each change of status once, and a failing domain once a day', async () => {
    const published = async () => {
      const query = sql<{ event_type: string; subject: string; data: string }>`
        select event_type, subject, data from resource_events
        where event_type like 'domain.%' order by id`;
      return (await query.execute(test.app.store.db)).rows.map((row) => {
        expect(row.subject).toBe(domain.id);
        const data = domainOutput.parse(fromJson(row.data));
        return [row.event_type, data.status];
      });
    };
    await verify();
    expect(await published()).toEqual([]);
    publishAll();
    await verify();
    await verify();
    const verified = ['domain.verified', 'verified'];
    expect(await published()).toEqual([verified]);
    zone.records.clear();
    await verify();
    await verify();
    const failing = ['domain.failing', 'verified'];
    expect(await published()).toEqual([verified, failing]);
    await passTime(4 * day, hour);
    const failed = ['domain.failed', 'failed'];
    const days = [failing, failing, failing];
    expect(await published()).toEqual([verified, ...days, failed]);
    await verifyDomain(test.app, operatorOf(test.caller.organizationId), domain.id, {
      force: true,
    });
    expect(await published()).toEqual([verified, ...days, failed, verified]);
  });

  it('switches to new DKIM keys without a gap when they are found', async () => {
    publishAll();
    await verify();
    const rotated = await rotateDkim(test.app, test.caller, domain.id);
    expect((await verify()).status).toBe('verified');
    expect(await selectors()).toEqual(['svc1rsa', 'svc1ed']);
    publish(rotated, ({ name }) => name.startsWith('svc2rsa'));
    await verify();
    expect(await selectors()).toEqual(['svc2rsa', 'svc1ed']);
    publish(rotated, ({ name }) => name.startsWith('svc2ed'));
    const done = await verify();
    expect(await selectors()).toEqual(['svc2rsa', 'svc2ed']);
    expect(done).toMatchObject({ status: 'verified', dkim: { selector: 'svc2rsa' } });
    expect(done.dkimKeys).toHaveLength(2);
  });

  it('signs with only the newer of two published keys of an algorithm', async () => {
    publishAll();
    await verify();
    await rotateDkim(test.app, test.caller, domain.id);
    await test.app.store.write((trx) =>
      sql`update domain_keys set is_published = 1 where domain_id = ${domain.id}`.execute(trx),
    );
    await test.clock.advance(1_000);
    expect(await selectors()).toEqual(['svc2rsa', 'svc2ed']);
  });

  it('needs no DNS for the sandbox', async () => {
    const sandbox = await verifyDomain(test.app, test.caller, await sandboxId());
    expect(sandbox).toMatchObject({ status: 'verified', lastCheckedAt: null });
  });

  async function sandboxId(): Promise<string> {
    const { organizationId } = test.caller;
    const { domainId } = await resolveSender(test.app.store.db, organizationId, undefined);
    return domainId ?? '';
  }
});
