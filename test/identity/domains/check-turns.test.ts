// Limits that organizations share when they add and check domains: threads that generate keys, and
// checks.
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import { lookUpTurns } from '../../../src/identity/domains/check-turns.ts';
import { addDomain } from '../../../src/identity/domains/domains.ts';
import { makeKeys } from '../../../src/identity/domains/key-making.ts';
import { checkDueDomains, verifyDomain } from '../../../src/identity/domains/verification.ts';
import { type DkimKeyPair, generateDkimKey } from '../../../src/mail/mime/dkim/dkim-key.ts';
import { CapacityError } from '../../../src/platform/errors.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { startZone, type Zone } from './zone.ts';

const minute = 60_000;

describe.each(stores)('checks of domains on %s', (store) => {
  let test: TestApp;
  let zone: Zone;
  beforeEach(async () => {
    zone = await startZone();
    test = await testApp({
      store,
      config: { delivery: { hostname: 'mail.host.example' }, dns: { servers: [zone.server] } },
    });
  });
  afterEach(async () => {
    zone.release();
    await test.close();
    await zone.close();
  });

  const add = (caller: Caller, domain: string) =>
    addDomain(test.app, caller, { domain, dkim: 'ed25519' });
  const queriedOf = (...names: string[]) =>
    names.filter((name) => zone.asked.some((queried) => queried.endsWith(name)));
  const other = async (name: string) =>
    operatorOf((await createOrganization(test.app, { name, plan: 'free' })).id);

  it('share one result among concurrent requests for a domain', async () => {
    const { id } = await add(test.caller, 'one.example');
    zone.hold();
    const verify = () => verifyDomain(test.app, test.caller, id);
    const first = verify();
    await expect.poll(() => zone.asked.length).toBeGreaterThan(0);
    const others = [verify(), verify(), verify()];
    zone.release();
    const results = await Promise.all([first, ...others]);
    expect(new Set(results.map((checked) => checked.lastCheckedAt)).size).toBe(1);
    const before = zone.asked.length;
    await verify();
    expect(zone.asked.length).toBe(2 * before);
  });

  it('run two at once for an organization, the third when one has ended', async () => {
    const names = ['one.example', 'two.example', 'three.example'];
    const domains = [];
    for (const name of names) domains.push(await add(test.caller, name));
    const acme = await other('acme');
    const foreign = await add(acme, 'four.example');
    zone.hold();
    const checks = domains.map(({ id }) => verifyDomain(test.app, test.caller, id));
    await expect.poll(() => queriedOf(...names)).toHaveLength(2);
    const foreignCheck = verifyDomain(test.app, acme, foreign.id);
    await expect.poll(() => queriedOf('four.example')).toHaveLength(1);
    expect(queriedOf(...names)).toEqual(['one.example', 'two.example']);
    zone.release();
    await Promise.all([...checks, foreignCheck]);
    expect(queriedOf(...names)).toEqual(names);
  });

  it('stay at two at once while they end one after another', async () => {
    const { app, caller } = test;
    const ends: (() => void)[] = [];
    const check = async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
    };
    const checks: Promise<unknown>[] = [];
    const inTurn = lookUpTurns<unknown>();
    const ask = () =>
      checks.push(inTurn(app, caller.organizationId, `dom_${checks.length}`, check));
    for (let at = 0; at < 4; at++) ask();
    for (let ended = 0; ended < 6; ended++) {
      // Every check that may start has started by the next turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      expect([ended, ends.length]).toEqual([ended, Math.min(ended + 2, 6)]);
      ends[ended]?.();
      await checks[ended];
      if (checks.length < 6) ask();
    }
  });

  it('pass their turn on when they fail', async () => {
    const gone = ['dom_gone1', 'dom_gone2', 'dom_gone3'].map((id) =>
      verifyDomain(test.app, test.caller, id),
    );
    const settled = await Promise.allSettled(gone);
    expect(settled.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
    const { id } = await add(test.caller, 'one.example');
    expect((await verifyDomain(test.app, test.caller, id)).status).toBe('pending');
  });

  it('give each organization its share of the schedule', async () => {
    for (let at = 0; at < 25; at += 1) await add(test.caller, `d${at}.example`);
    await test.clock.advance(1_000);
    const acme = await other('acme');
    await add(acme, 'late.example');
    await test.clock.advance(2 * minute);
    expect(await checkDueDomains(test.app)).toBe(10);
    expect(queriedOf('late.example')).toEqual(['late.example']);
    const { rows } = await sql<{ checked: number }>`
      select count(*) as checked from domains where last_checked_at is not null`.execute(
      test.app.store.db,
    );
    expect(Number(rows[0]?.checked)).toBe(10);
  });
});

describe('DKIM keys', () => {
  it('are generated for one domain at a time, and refused with 503 beyond 20 domains of an organization', async () => {
    const test = await testApp();
    const made: (() => void)[] = [];
    let atOnce = 0;
    let most = 0;
    const pair: DkimKeyPair = { privateKeyPem: 'x', publicKey: 'x' };
    const app = {
      ...test.app,
      async generateDkimKey() {
        atOnce += 1;
        most = Math.max(most, atOnce);
        await new Promise<void>((resolve) => made.push(resolve));
        atOnce -= 1;
        return pair;
      },
    };
    const both = ['rsa-sha256', 'ed25519-sha256'] as const;
    const waiting = Array.from({ length: 20 }, () => makeKeys(app, 'org_a', both));
    await expect(makeKeys(app, 'org_a', both)).rejects.toThrow(CapacityError);
    const foreign = makeKeys(app, 'org_b', both);
    for (let done = 0; done < 42; done += 1) {
      await expect.poll(() => made.length).toBe(1);
      made.shift()?.();
    }
    await Promise.all([...waiting, foreign]);
    expect(most).toBe(1);
    const again = makeKeys(app, 'org_a', ['ed25519-sha256']);
    await expect.poll(() => made.length).toBe(1);
    made.shift()?.();
    expect(await again).toEqual([['ed25519-sha256', pair]]);
    await test.close();
  });

  it('of RSA are not generated on the threads that sync the store', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'svc-keys-'));
    const file = await open(join(dir, 'log'), 'w');
    let made = 0;
    const keys = Array.from({ length: 12 }, async () => {
      await generateDkimKey('rsa-sha256');
      made += 1;
    });
    await file.write('frame');
    await file.datasync();
    expect(made).toBeLessThan(3);
    await Promise.all(keys);
    await file.close();
    rmSync(dir, { recursive: true });
  });
});
